/**
 * Measures what reads of histories and lists cost: a year of hourly observations by day against
 * bun:sqlite, a page of a toplist against one of the plain list, and what the list of all channels costs
 * other requests and memory. No response is cached.
 */
import { Database } from "bun:sqlite";
import { listSortedGains } from "../../../core/growth.ts";
import { encodeListCursor, type ListPosition } from "../../../core/lists.ts";
import type { SortName } from "../../../core/list-sorts.ts";
import { DAY_MS } from "../../../core/time.ts";
import { toColumnName } from "../../../server/store/tables/entity-tables.ts";
import {
  atLeast,
  atMost,
  createMemoryRows,
  withServers,
  type BenchContext,
} from "../bench-context.ts";
import type { FreshPaths, LoadResult, LoadTarget } from "../load-generator.ts";
import { createRatioRow, type ReportRow } from "../report.ts";
import { measureInRounds, pickRates, warmUp, type RoundPlan } from "../rounds.ts";
import { addPlainRows, seedChannels, seedShorts } from "../seed.ts";
import {
  assertSameAnswer,
  copyBenchDatabase,
  createBenchDatabase,
  fetchAnswer,
  startBaseline,
  startServiceProcess,
  type BenchDatabase,
} from "../service-process.ts";
import { measureItemLists, SHORTS } from "./item-lists.ts";
import { CHANNELS, measureDuringLists, measureSlowReaders } from "./whole-list.ts";
import type { BenchServer } from "../workspace.ts";

const PART = "history";
const PLAN: RoundPlan = { connections: 64, rounds: 5, seconds: 2 };

/** Channels with a history. */
const HISTORIES = 200;

/** Pages of a list that are read, at equal distances over all of its entities. */
const LIST_PAGES = 200;

/** The columns of the sorts that have another name. */
const SORT_COLUMNS: Partial<Record<SortName<"channel">, string>> = {
  views: "view_count",
  videos: "video_count",
};

const TOPLISTS = listSortedGains("channel");

/** Measures histories and lists. */
export async function measureHistory(context: BenchContext): Promise<ReportRow[]> {
  const { workspace, logProgress } = context;
  logProgress(`history: filling a database with ${CHANNELS} channels`);
  const store = await createBenchDatabase(workspace, "history");
  // The last midnight, so that every day is complete.
  const end = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  await seedChannels(workspace, store, CHANNELS, HISTORIES, end);
  const copy = await copyBenchDatabase(store, "history-copy");
  await addPlainRows(workspace, copy);
  await seedShorts(workspace, store, CHANNELS, SHORTS, end);
  const service = await startServiceProcess(workspace, store);
  const rows = await withServers({ service }, async () => [
    await measureYear(context, service, copy, end - 365 * DAY_MS),
    await measureToplist(context, service, copy),
    ...(await measureItemLists(context, service, store, {
      plain: listPlainPages(copy.file),
      newest: end,
    })),
    ...(await measureDuringLists(context, service, store.key)),
    ...createMemoryRows(PART, "the service", service),
  ]);
  return [...rows, ...(await measureSlowReaders(context, store))];
}

/** The variants of bun:sqlite: how SQL finds the newest row of a day, and who formats the JSON. */
const VARIANTS = {
  "GROUP BY, rows": ["group", "rows"],
  "GROUP BY, JSON of SQLite": ["group", "json"],
  "row_number(), rows": ["window", "rows"],
  "row_number(), JSON of SQLite": ["window", "json"],
} as const;

/** Compares the service with the variant of bun:sqlite that is the fastest in the warm-up. */
async function measureYear(
  { workspace, load, logProgress }: BenchContext,
  service: BenchServer,
  { file, key }: BenchDatabase,
  from: number,
): Promise<ReportRow> {
  logProgress("history: a year by day");
  const after = `/history?interval=day&from=${new Date(from).toISOString()}&_n=`;
  const paths = [{ before: "/api/video/channel", after, users: HISTORIES }];
  const variants: Record<string, BenchServer> = {};
  for (const [name, variant] of Object.entries(VARIANTS)) {
    variants[name] = await startBaseline(workspace, "sqlite-history-server", [...variant, file]);
  }
  const target = (name: string, server: BenchServer): LoadTarget => {
    return { name: `a year by day, ${name}`, server, key, paths };
  };
  return withServers(variants, async () => {
    await assertSameYears(service, variants, key, after);
    let fastest = { name: "", rate: 0 };
    for (const [name, server] of Object.entries(variants)) {
      const { rate } = await load(target(name, server), PLAN.connections, PLAN.seconds);
      if (rate > fastest.rate) fastest = { name, rate };
    }
    const theirs = variants[fastest.name];
    if (theirs === undefined) throw new Error("No variant of bun:sqlite responded");
    const targets = { ours: target("service", service), theirs: target(fastest.name, theirs) };
    await warmUp(load, targets, PLAN.connections);
    const results = await measureInRounds(load, targets, PLAN);
    return createRatioRow({
      part: PART,
      what: `8,760 observations by day / bun:sqlite, ${fastest.name}`,
      unit: "responses/s",
      ours: pickRates(results.ours),
      theirs: pickRates(results.theirs),
      target: atLeast(1),
    });
  });
}

/** Checks that all servers return the same bodies, for the first and the last channel. */
async function assertSameYears(
  service: BenchServer,
  variants: Readonly<Record<string, BenchServer>>,
  key: string,
  after: string,
): Promise<void> {
  for (const channel of [0, HISTORIES - 1]) {
    const path = `/api/video/channel${channel}${after}0`;
    const body = await fetchAnswer(service, path, key);
    for (const [name, server] of Object.entries(variants)) {
      assertSameAnswer(name, body, await fetchAnswer(server, path, key));
    }
  }
}

/** Compares pages of the toplists with pages of the plain list, all over the lists. */
async function measureToplist(
  { load, logProgress }: BenchContext,
  service: BenchServer,
  { file, key }: BenchDatabase,
): Promise<ReportRow> {
  logProgress("history: pages of lists");
  const database = new Database(file, { readonly: true });
  const target = (name: string, sorts: readonly SortName<"channel">[]): LoadTarget => ({
    name: `pages of ${name}`,
    server: service,
    key,
    paths: sorts.flatMap((sort) => listPagePaths(database, sort)),
  });
  const targets = {
    ours: target("toplists", TOPLISTS),
    theirs: target("the plain list", ["subscribers"]),
  };
  database.close();
  await warmUp(load, targets, PLAN.connections);
  const results = await measureInRounds(load, targets, PLAN);
  const times = (loads: readonly LoadResult[]) => loads.map(({ medianMs }) => medianMs);
  return createRatioRow({
    part: PART,
    what: "page of 100 of 100,000, toplists / plain list",
    unit: "ms",
    ours: times(results.ours),
    theirs: times(results.theirs),
    target: atMost(1.5),
  });
}

/** Lists the paths of pages of the plain list, all over it. */
function listPlainPages(file: string): FreshPaths[] {
  const database = new Database(file, { readonly: true });
  const paths = listPagePaths(database, "subscribers");
  database.close();
  return paths;
}

/** Lists the paths of some pages of a list, each after the cursor that a walk would have there. */
function listPagePaths(database: Database, sort: SortName<"channel">): FreshPaths[] {
  const figure = SORT_COLUMNS[sort] ?? toColumnName(sort);
  const positions = database.query<ListPosition, []>(
    `SELECT ${figure} AS figure, id FROM channels ORDER BY ${figure} DESC NULLS LAST, id`,
  );
  const step = CHANNELS / LIST_PAGES;
  return positions
    .all()
    .filter((_, index) => index % step === step / 2)
    .map((position) => {
      const cursor = encodeListCursor(position, { kind: "channel", sort, order: "desc" });
      const before = `/api/video/channels?limit=100&sort=${sort}&cursor=${cursor}&_n=`;
      return { before, after: "-", users: 1 };
    });
}
