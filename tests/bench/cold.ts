/**
 * Measures uncached pages of histories against bun:sqlite on a copy of the same file, which also has the
 * histories as plain rows; batches of details against single ones; and one cached page against a fixed
 * body of its size.
 */
import { BATCH_MAX_NAMES } from "../../core/limits.ts";
import { addPlainRows, seedDatabase, createFreshPaths, countObservations } from "./seed.ts";
import type { LoadTarget } from "./load-generator.ts";
import { atLeast, createMemoryRows, withServers, type BenchContext } from "./bench-context.ts";
import { createRatioRow, type ReportRow } from "./report.ts";
import { measureInRounds, pickRates, warmUp, type RoundPlan } from "./rounds.ts";
import {
  fetchAnswer,
  copyBenchDatabase,
  assertSameAnswer,
  createBenchDatabase,
  startServiceProcess,
  startBaseline,
} from "./service-process.ts";
import type { BenchServer } from "./workspace.ts";

const PART = "cold";
const PLAN: RoundPlan = { connections: 64, rounds: 5, seconds: 2 };

/** For targets so fast that one second is enough. */
const SHORT_PLAN: RoundPlan = { ...PLAN, seconds: 1 };

/** The pages of tweets of these users have 75 MB in total. */
const USERS = 640;

const PAGES = {
  tweets: { name: "page of 50 tweets x 24 observations", plan: PLAN },
  followers: { name: "page of 50 of 336 follower counts", plan: SHORT_PLAN },
} as const;

type Page = keyof typeof PAGES;

/** The servers that read a database. */
type ReaderServers = Readonly<Record<"service" | "json" | "rows", BenchServer>>;

/** Measures uncached and cached pages. */
export async function measureColdReads(context: BenchContext): Promise<ReportRow[]> {
  const { workspace, logProgress } = context;
  logProgress(`cold: filling a database with ${countObservations(USERS)} observations`);
  const store = await createBenchDatabase(workspace, "cold");
  await seedDatabase(workspace, store, USERS);
  const copy = await copyBenchDatabase(store, "cold-copy");
  await addPlainRows(workspace, copy);
  const readers: ReaderServers = {
    service: await startServiceProcess(workspace, store),
    json: await startBaseline(workspace, "sqlite-server", ["json", copy.file]),
    rows: await startBaseline(workspace, "sqlite-server", ["rows", copy.file]),
  };
  return withServers(readers, async () => {
    await assertSamePages(readers, store.key);
    return [
      await measurePage(context, readers, store.key, "tweets"),
      await measurePage(context, readers, store.key, "followers"),
      await measureBatch(context, readers.service, store.key),
      await measureCached(context, readers.service, store.key),
      ...createMemoryRows(PART, "the service", readers.service),
      ...createMemoryRows(PART, "bun:sqlite, JSON of SQLite", readers.json),
      ...createMemoryRows(PART, "bun:sqlite, rows", readers.rows),
    ];
  });
}

/** Checks that all servers return the same bodies, for the first, a middle and the last user. */
async function assertSamePages({ service, json, rows }: ReaderServers, key: string): Promise<void> {
  for (const page of ["tweets", "followers"] as const) {
    for (const user of [0, Math.floor(USERS / 2), USERS - 1]) {
      const { before, after } = createFreshPaths(USERS)[page];
      const path = `${before}${user}${after}0`;
      const body = await fetchAnswer(service, path, key);
      assertSameAnswer("bun:sqlite with SQLite's JSON", body, await fetchAnswer(json, path, key));
      assertSameAnswer("bun:sqlite with rows", body, await fetchAnswer(rows, path, key));
    }
  }
}

/** Compares the service with the variant of bun:sqlite that was faster in the warm-up. */
async function measurePage(
  { load, logProgress }: BenchContext,
  readers: ReaderServers,
  key: string,
  page: Page,
): Promise<ReportRow> {
  const { name: pageName, plan } = PAGES[page];
  logProgress(`cold: ${pageName}`);
  const target = (name: string, server: BenchServer): LoadTarget => ({
    name: `cold ${page}, ${name}`,
    server,
    key,
    paths: [createFreshPaths(USERS)[page]],
  });
  const service = target("service", readers.service);
  const variants = { json: target("json", readers.json), rows: target("rows", readers.rows) };
  const warm = await warmUp(load, { service, ...variants }, plan.connections);
  const faster = warm.json.rate > warm.rows.rate ? "json" : "rows";
  const results = await measureInRounds(load, { service, sqlite: variants[faster] }, plan);
  const variant = faster === "json" ? "JSON of SQLite" : "rows";
  return createRatioRow({
    part: PART,
    what: `${pageName} / bun:sqlite, ${variant}`,
    unit: "responses/s",
    ours: pickRates(results.service),
    theirs: pickRates(results.sqlite),
    target: atLeast(0.8),
  });
}

/** Compares the names a second of batches with those of single reads; neither is cached. */
async function measureBatch(
  { load, logProgress }: BenchContext,
  server: BenchServer,
  key: string,
): Promise<ReportRow> {
  logProgress("cold: batches of 100 users");
  const usernames = Array.from({ length: BATCH_MAX_NAMES }, (_, index) => `creator${index * 6}`);
  const targets = {
    batch: {
      name: "batches",
      server,
      key,
      paths: "/api/microblog/details",
      body: JSON.stringify({ usernames }),
    },
    single: { name: "cold details", server, key, paths: [createFreshPaths(USERS).details] },
  };
  await warmUp(load, targets, PLAN.connections);
  const results = await measureInRounds(load, targets, PLAN);
  return createRatioRow({
    part: PART,
    what: `users in batches of ${BATCH_MAX_NAMES} / in single reads`,
    unit: "users/s",
    ours: pickRates(results.batch).map((rate) => rate * BATCH_MAX_NAMES),
    theirs: pickRates(results.single),
    target: atLeast(10),
  });
}

async function measureCached(
  { workspace, load, logProgress }: BenchContext,
  service: BenchServer,
  key: string,
): Promise<ReportRow> {
  logProgress("cold: the same cached page of tweets");
  const path = "/api/microblog/creator0/tweets?days=14&limit=50";
  const body = await fetchAnswer(service, path, key);
  const bare = await startBaseline(
    workspace,
    "elysia-server",
    ["/api/microblog/:username/tweets"],
    body,
  );
  return withServers({ bare }, async () => {
    assertSameAnswer("bare Elysia", body, await fetchAnswer(bare, path, key));
    const targets = {
      service: { name: "cached tweets, service", server: service, key, paths: path },
      bare: { name: "cached tweets, bare Elysia", server: bare, key, paths: path },
    };
    await warmUp(load, targets, SHORT_PLAN.connections);
    const results = await measureInRounds(load, targets, SHORT_PLAN);
    return createRatioRow({
      part: PART,
      what: `cached page of tweets, ${Math.round(body.length / 1000)} kB / bare Elysia`,
      unit: "responses/s",
      ours: pickRates(results.service),
      theirs: pickRates(results.bare),
      target: atLeast(0.7),
    });
  });
}
