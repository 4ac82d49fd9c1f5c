/** Holds the pages of lists with columns to the store in memory, whose reads look at everything. */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { COLUMNS } from "../../../../core/columns.ts";
import { ENTITY_KINDS, type EntityKind } from "../../../../core/kinds.ts";
import { LIST_ORDERS, parseItemListRequest, parseListRequest } from "../../../../core/lists.ts";
import { SORTS } from "../../../../core/list-sorts.ts";
import { parseObservation } from "../../../../core/observations.ts";
import type { CursorPagination } from "../../../../core/resources/generated/types.ts";
import type { MicroblogStore, VideoStore } from "../../../../core/stores.ts";
import { createMemoryStore } from "../../../../core/testing/memory-store.ts";
import { createObservations, NAMES, NOW } from "../../../../core/testing/random.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../../core/time.ts";
import type { Database } from "../../../../server/store/database/database.ts";
import { createMicroblogReads } from "../../../../server/store/reads/microblog.ts";
import { createVideoReads } from "../../../../server/store/reads/video.ts";
import { withDatabase } from "../../../support/store/database.ts";
import { refreshAllFigures } from "../../../support/store/figures.ts";
import { writeObservations } from "../../../support/store/observations.ts";

type Reads = VideoStore & MicroblogStore;

/** Random observations of all kinds, and items with enough earlier ones to be compared. */
function listObservations(seed: number): object[] {
  const items = Array.from({ length: 12 }, (_, index) => {
    const published = NOW - (20 - index) * DAY_MS;
    return [0, 2, 5, 30, 60].flatMap((hours) => {
      const observedAt = formatInstant(published + hours * HOUR_MS);
      const views = 7 * seed + hours * (index + 1);
      return [
        {
          kind: "short",
          id: `s${index}`,
          channel: "UC1",
          observedAt,
          publishedAt: formatInstant(published),
          views,
        },
        {
          kind: "tweet",
          id: `t${index}`,
          username: "esa",
          observedAt,
          created_at: formatInstant(published),
          impressions: views,
        },
      ];
    });
  });
  return [...createObservations(seed, 600, ENTITY_KINDS), ...items.flat()];
}

/** Reads the same observations from a database and from memory. */
async function withStores(
  seed: number,
  work: (stores: { database: Database; reads: Reads; memory: Reads }) => Promise<void>,
): Promise<void> {
  const lines = listObservations(seed);
  const memory = createMemoryStore(() => NOW);
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  await memory.importObservations(new TextEncoder().encode(text));
  await withDatabase(async (database) => {
    await writeObservations(
      database,
      lines.map((line) => parseObservation(line, NOW)),
    );
    await refreshAllFigures(database);
    const reads = { ...createVideoReads(database), ...createMicroblogReads(database) };
    await work({ database, reads, memory });
  });
}

/** Reads a page of rows; its list has the name that the body gives it. */
async function readPage(reads: Reads, kind: EntityKind, query: URLSearchParams) {
  const read = {
    channel: () => reads.channelTable(withFields(parseListRequest("channel", query))),
    user: () => reads.userTable(withFields(parseListRequest("user", query))),
    short: () => reads.shortTable(parseItemListRequest("short", query)),
    tweet: () => reads.tweetTable(parseItemListRequest("tweet", query)),
  };
  const { body } = await read[kind]();
  const { pagination, ...lists } = body as { pagination: CursorPagination };
  return { rows: Object.values(lists).flat() as object[], pagination };
}

const withFields = <Request extends { readonly fields?: readonly string[] }>(request: Request) => ({
  ...request,
  fields: request.fields ?? [],
});

/** Reads a list page by page. */
async function walkList(reads: Reads, kind: EntityKind, parameters: Record<string, string>) {
  const rows: object[] = [];
  const query = new URLSearchParams(parameters);
  for (;;) {
    const page = await readPage(reads, kind, query);
    rows.push(...page.rows);
    if (page.pagination.nextCursor === null) return rows;
    query.set("cursor", page.pagination.nextCursor);
  }
}

const instants = fc.integer({ min: 0, max: 46 }).map((days) => formatInstant(NOW - days * DAY_MS));
const floors = fc.constantFrom("0", "1", "9", "10", "200", "9007199254740991");
const ownerNames = (names: readonly string[]) =>
  fc
    .array(fc.constantFrom(...names, "nobody", "__proto__"), { minLength: 1, maxLength: 4 })
    .map((list) => list.join());

/** The filters of each kind. */
const FILTERS: Readonly<Record<EntityKind, fc.Arbitrary<object>>> = {
  channel: fc.record(
    {
      country: fc.constantFrom("a", "é", "soup "),
      search: fc.constantFrom("so", "oup", "é", "wi", "%"),
      minSubscribers: floors,
    },
    { requiredKeys: [] },
  ),
  user: fc.record(
    { search: fc.constantFrom("na", "esa", "as", "é"), minFollowers: floors },
    { requiredKeys: [] },
  ),
  short: fc.record(
    { channels: ownerNames([...NAMES.channels, "TWIN"]), from: instants, to: instants },
    { requiredKeys: [] },
  ),
  tweet: fc.record(
    { usernames: ownerNames(NAMES.users), from: instants, to: instants },
    { requiredKeys: [] },
  ),
};

/** A query: any filters, sort, order and limit, with a choice of columns in any order. */
const createQueries = (kind: EntityKind): fc.Arbitrary<Record<string, string>> =>
  fc
    .tuple(
      FILTERS[kind],
      fc.record({
        sort: fc.constantFrom(...SORTS[kind]),
        order: fc.constantFrom(...LIST_ORDERS),
        limit: fc.constantFrom("1", "2", "3", "7", "100"),
        fields: fc
          .shuffledSubarray([...COLUMNS[kind]], { minLength: 1 })
          .map((columns) => columns.join()),
      }),
    )
    .map(([filters, list]) => Object.assign({}, filters, list))
    .filter((query) => {
      const { from = "", to = "9999" } = query as { from?: string; to?: string };
      return from < to;
    });

test.each(["channel", "user", "short", "tweet"] as const)(
  "the pages of %s rows have the order, the filters and the columns of core, with any limit",
  async (kind) => {
    for (const seed of [1, 2, 3]) {
      await withStores(seed, async ({ reads, memory }) => {
        await fc.assert(
          fc.asyncProperty(createQueries(kind), async (query) => {
            const rows = await walkList(reads, kind, query);
            const expected = await walkList(memory, kind, query);
            expect(JSON.stringify(rows)).toBe(JSON.stringify(expected));
          }),
          { numRuns: 150 },
        );
      });
    }
  },
  60_000,
);
