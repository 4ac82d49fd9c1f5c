/** Creates tests that compare a store's reads of owners and posts with the store in memory. */
import type { ComparisonRequest } from "../batch.ts";
import { COLUMNS } from "../columns.ts";
import { HISTORY_INTERVALS } from "../buckets.ts";
import { DomainError } from "../errors.ts";
import { parseHistoryRequest, type HistoryRequest } from "../histories.ts";
import { parseItemComparisonRequest, type ItemComparisonRequest } from "../item-comparison.ts";
import { ENTITY_FIELDS, type EntityKind, type ItemKind, type OwnerKind } from "../kinds.ts";
import { LIST_ORDERS, parseListRequest, type ListRequest, type TableRequest } from "../lists.ts";
import { SORTS } from "../list-sorts.ts";
import { type ListFilters } from "../list-filters.ts";
import type { QueryParameters } from "../parameters.ts";
import type { MicroblogStore, ObservationStore, VideoStore } from "../stores.ts";
import { DAY_MS } from "../time.ts";
import {
  assertEqual,
  createTests,
  observe,
  type ConformanceTest,
  type WithStore,
} from "./conformance.ts";
import { createMemoryStore } from "./memory-store.ts";
import { createObservations, NAMES, NOW } from "./random.ts";

type Reads = VideoStore & MicroblogStore;

/** The arguments of a read. The sorts and counts of channels and users are one type here. */
type ReadArguments<Name extends keyof Reads> = Name extends `${OwnerKind}Page`
  ? [ListRequest]
  : Name extends `${EntityKind}Table`
    ? [TableRequest]
    : Name extends `${ItemKind}Comparison`
      ? [ItemComparisonRequest]
      : Name extends `${OwnerKind}Comparison`
        ? [ComparisonRequest]
        : Parameters<Reads[Name]>;

/** Asserts that both stores answer a read alike. Returns the cursor of the next page, if any. */
type CompareRead = <Name extends keyof Reads>(
  name: Name,
  ...request: ReadArguments<Name>
) => Promise<string | undefined>;

/** Tests of reads, by name. Each runs on empty stores, and again when they have observations. */
type ReadTests = Readonly<
  Record<string, (compare: CompareRead, names: readonly string[]) => Promise<void>>
>;

/** The owners of a suite, and how they are listed. */
interface TestedOwners {
  /** The kind of the owners, and the kind of their posts. */
  readonly kinds: readonly [owner: OwnerKind, post: ItemKind];
  /** Names of owners, and names that no owner has. */
  readonly names: readonly string[];
  readonly sorts: readonly [string, ...string[]];
  readonly filters: readonly (ListFilters & Pick<ListRequest, "names">)[];
  /** An owner of some posts. */
  readonly owner: string;
  /** The count that is compared. */
  readonly count: Pick<ComparisonRequest, "count" | "countIndex">;
  /** Observations of edge cases, besides the random observations. */
  readonly edges: readonly object[];
  /** The tests of reads that only one kind of owner has. */
  readonly tests: ReadTests;
}

/** Creates the tests of a suite. */
export function createReadTests<Store extends ObservationStore & Partial<Reads>>(
  withStore: WithStore<Store>,
  owners: TestedOwners,
): ConformanceTest[] {
  const runTwice = (test: ReadTests[string]) => async (store: Store) => {
    const reference = createMemoryStore(() => NOW);
    const compare: CompareRead = async (name, ...request) => {
      const expected = await readBody(reference, name, request);
      const shown = request.map((part) => (typeof part === "string" ? part : JSON.stringify(part)));
      const actual = await readBody(store, name, request);
      assertEqual(actual, expected, [`${name}()`, ...shown].join(" "));
      return readNextCursor(expected);
    };
    await test(compare, owners.names);
    const lines = [...createObservations(1, 400, owners.kinds), ...owners.edges];
    for (const observed of [store, reference]) await observe(observed, lines);
    await test(compare, owners.names);
  };
  const all = Object.entries({
    ...createOwnerTests(owners),
    ...createTableTests(owners),
    ...owners.tests,
  });
  return createTests(
    withStore,
    Object.fromEntries(all.map(([name, test]) => [name, runTwice(test)])),
  );
}

/** The reads that all kinds of owner have. */
function createOwnerTests({ kinds, names, sorts, filters, owner, count }: TestedOwners): ReadTests {
  const [kind, post] = kinds;
  return {
    async [`${kind}() and ${kind}Batch() find ${kind}s by any name`](compare) {
      for (const name of names) await compare(kind, name);
      await compare(`${kind}Batch`, [...names, ...names.toReversed()]);
    },

    async [`${kind}Page() lists ${kind}s by every figure, in pages of any size`](compare) {
      for (const sort of sorts) {
        for (const order of LIST_ORDERS) {
          for (const limit of [1, 3, 50]) {
            await walkPages({ sort, order }, (query) =>
              compare(`${kind}Page`, { ...parseListRequest(kind, query), limit }),
            );
          }
        }
      }
      const [sort] = sorts;
      for (const filter of filters) {
        await compare(`${kind}Page`, { kind, sort, order: "desc", limit: 9, ...filter });
      }
    },

    async [`${post}() and ${post}History() find a ${post} with its ${kind} only`](compare) {
      for (const name of names) {
        for (const id of [...NAMES.posts, "p0"]) await compare(post, name, id);
      }
      for (const id of NAMES.posts) {
        await walkHistories((request) => compare(`${post}History`, owner, id, request));
      }
    },

    async [`${kind}Metrics() and ${post}Metrics() compute all metrics`](compare) {
      for (const name of names) {
        await compare(`${kind}Metrics`, name);
        for (const id of [...NAMES.posts, "p0"]) await compare(`${post}Metrics`, name, id);
      }
    },

    async [`${kind}History() and ${kind}Comparison() group points by every interval`](compare) {
      for (const name of names) {
        await walkHistories((request) => compare(`${kind}History`, name, request));
      }
      const compared = { names: [owner, "nobody", ...names.slice(0, 4), owner], ...count };
      await walkHistories((request) => compare(`${kind}Comparison`, { ...request, ...compared }));
    },
  };
}

/** The reads of rows with chosen columns, and of items by identifier. */
function createTableTests({ kinds, names, filters }: TestedOwners): ReadTests {
  const [kind, post] = kinds;
  return {
    async [`${kind}Table() and ${post}Table() list chosen columns, sorted by every figure`](
      compare,
    ) {
      for (const listed of kinds) {
        const fields = COLUMNS[listed];
        for (const sort of SORTS[listed]) {
          for (const order of LIST_ORDERS) {
            await walkPages({ sort, order }, (query) =>
              compare(`${listed}Table`, { ...parseListRequest(listed, query), limit: 5, fields }),
            );
          }
        }
        const list = { kind: listed, sort: SORTS[listed][0], order: "desc", limit: 5 } as const;
        for (const filter of listed === kind ? filters : listItemFilters(names)) {
          await compare(`${listed}Table`, { ...list, ...filter, fields: fields.toReversed() });
        }
      }
    },

    async [`${post}Batch() and ${post}Comparison() find ${post}s of any ${kind}`](compare) {
      const ids = [...NAMES.posts, "p0", ...NAMES.posts.slice(0, 3)];
      await compare(`${post}Batch`, ids);
      const countIndex = ENTITY_FIELDS[post].counts.findIndex((name) => name === "likes");
      const compared = { ids, count: "likes", countIndex } as const;
      for (const step of [1, 6, 24]) {
        await walkPages({ ids: "a", by: "age", step: String(step), limit: "7" }, (query) =>
          compare(`${post}Comparison`, {
            ...parseItemComparisonRequest(post, query, NOW),
            ...compared,
          }),
        );
      }
      await walkHistories((request) =>
        compare(`${post}Comparison`, { ...request, ...compared, by: "date" }),
      );
    },
  };
}

/** Filters of items: by owners, and by the instant of publication. */
const listItemFilters = (names: readonly string[]): ListFilters[] => [
  { names },
  { names: names.slice(0, 2), from: NOW - 30 * DAY_MS },
  { from: NOW - 20 * DAY_MS, to: NOW - 5 * DAY_MS },
  { names: ["nobody"], to: NOW },
];

/** Calls a read, and returns its body or error. A result's other fields are the store's own. */
async function readBody(
  store: Partial<Reads>,
  name: keyof Reads,
  request: readonly unknown[],
): Promise<unknown> {
  try {
    const read = store[name];
    if (read === undefined) throw new Error(`The store has no ${name}()`);
    const result: unknown = await Reflect.apply(read, store, request);
    const body = isObject(result) && "body" in result ? result["body"] : result;
    // Tweets are listed by the order of fields, which `assertEqual()` ignores.
    const tweets = isObject(body) ? body["tweets"] : undefined;
    return isObject(tweets) ? { body, order: Object.keys(tweets) } : body;
  } catch (error) {
    return error instanceof DomainError ? error : new Error(String(error));
  }
}

function readNextCursor(body: unknown): string | undefined {
  const pagination = isObject(body) ? body["pagination"] : undefined;
  const cursor = isObject(pagination) ? pagination["nextCursor"] : undefined;
  return typeof cursor === "string" ? cursor : undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Reads page after page, each by its query, until a page fails or has no next cursor. */
export async function walkPages(
  parameters: Readonly<Record<string, string>>,
  read: (query: QueryParameters) => Promise<string | undefined>,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const query = new Map(Object.entries({ ...parameters, cursor }));
    cursor = await read({ getAll: (name) => [query.get(name) ?? []].flat() });
  } while (cursor !== undefined);
}

/** The clocks are changed by half an hour within the range. */
const ZONES: readonly Readonly<Record<string, string>>[] = [{}, { zone: "Australia/Lord_Howe" }];

/** Reads a history page after page, by every interval, in UTC and in a time zone. */
async function walkHistories(
  read: (request: HistoryRequest) => Promise<string | undefined>,
): Promise<void> {
  const range = { from: NOW - 40 * DAY_MS, to: NOW - DAY_MS, limit: 11 };
  for (const interval of HISTORY_INTERVALS) {
    for (const zone of ZONES) {
      await walkPages({ interval, ...zone }, (query) =>
        read({ ...parseHistoryRequest(query, NOW), ...range }),
      );
    }
  }
}
