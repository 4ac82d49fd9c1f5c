/** Measures page reads, database size and memory with a growing number of observations. */
import { stat } from "node:fs/promises";
import { seedDatabase, createFreshPaths, countObservations, countUsersFor } from "./seed.ts";
import type { LoadTarget } from "./load-generator.ts";
import {
  atMost,
  createMemoryRows,
  lessThan,
  withServers,
  type BenchContext,
} from "./bench-context.ts";
import { median, createRatioRow, createValueRow, type ReportRow } from "./report.ts";
import { measureInRounds, warmUp, type RoundPlan } from "./rounds.ts";
import { createBenchDatabase, startServiceProcess, type BenchDatabase } from "./service-process.ts";
import type { BenchServer } from "./workspace.ts";

const PART = "growth";
const PLAN: RoundPlan = { connections: 4, rounds: 5, seconds: 1 };
const MANY_CONNECTIONS = 256;
const MANY_WARM_UP_S = 3;

/** The memory counts as constant if its last third is at most this multiple of its first third. */
const FLAT_RATIO_MAX = 1.1;

const SIZES = {
  small: { name: "100 thousand", users: countUsersFor(100_000) },
  middle: { name: "1 million", users: countUsersFor(1_000_000) },
  large: { name: "10 million", users: countUsersFor(10_000_000) },
} as const;

type Size = keyof typeof SIZES;

type PerSize<Value> = Readonly<Record<Size, Value>>;

/** Measures databases of three sizes. */
export async function measureGrowth(context: BenchContext): Promise<ReportRow[]> {
  const { workspace } = context;
  const stores = await makePerSize((size) => createSeededDatabase(context, size));
  const perObservation = (await readFileSize(stores.large)) / countObservations(SIZES.large.users);
  const servers = await makePerSize((size) => startServiceProcess(workspace, stores[size]));
  return withServers(servers, async () => {
    const tweets = await measurePage(context, servers, stores, "tweets");
    const followers = await measurePage(context, servers, stores, "followers");
    const pages = (["small", "middle", "large"] as const).flatMap((size) =>
      createMemoryRows(PART, `page reads, ${SIZES[size].name}`, servers[size]),
    );
    const bytes = createValueRow({
      part: PART,
      what: "database per observation, 10 million",
      unit: "bytes",
      value: perObservation,
      target: atMost(26),
    });
    const memory = await measureMemoryUnderLoad(context, servers.large, stores.large.key);
    return [...tweets, ...followers, bytes, ...pages, ...memory];
  });
}

/** Fills the databases one after the other, from the smallest. */
async function makePerSize<Value>(make: (size: Size) => Promise<Value>): Promise<PerSize<Value>> {
  return {
    small: await make("small"),
    middle: await make("middle"),
    large: await make("large"),
  };
}

async function createSeededDatabase(
  { workspace, logProgress }: BenchContext,
  size: Size,
): Promise<BenchDatabase> {
  const { name, users } = SIZES[size];
  logProgress(`growth: filling a database with ${name} observations`);
  const store = await createBenchDatabase(workspace, `growth-${size}`);
  await seedDatabase(workspace, store, users);
  return store;
}

async function readFileSize({ file }: BenchDatabase): Promise<number> {
  return (await stat(file)).size;
}

/** Measures the median time of uncached pages, for each size. */
async function measurePage(
  { load, logProgress }: BenchContext,
  servers: PerSize<BenchServer>,
  stores: PerSize<BenchDatabase>,
  page: "tweets" | "followers",
): Promise<ReportRow[]> {
  logProgress(`growth: pages of ${page}`);
  const target = (size: Size): LoadTarget => ({
    name: `${page} of ${SIZES[size].name} observations`,
    origin: servers[size].origin,
    key: stores[size].key,
    paths: [createFreshPaths(SIZES[size].users)[page]],
  });
  const targets = { small: target("small"), middle: target("middle"), large: target("large") };
  await warmUp(load, targets, PLAN.connections);
  const results = await measureInRounds(load, targets, PLAN);
  const times = (size: Size) => results[size].map(({ medianMs }) => medianMs);
  const compare = (size: Size) => ({
    part: PART,
    what: `page of ${page}, ${SIZES[size].name} / 100 thousand`,
    unit: "ms",
    ours: times(size),
    theirs: times("small"),
  });
  return [
    createRatioRow(compare("middle")),
    createRatioRow({ ...compare("large"), target: atMost(1.3) }),
  ];
}

/** Measures the memory of the service while many connections read pages and details. */
async function measureMemoryUnderLoad(
  { load, logProgress, memorySeconds }: BenchContext,
  side: BenchServer,
  key: string,
): Promise<ReportRow[]> {
  logProgress(`growth: memory with ${MANY_CONNECTIONS} connections, ${memorySeconds} seconds`);
  const { tweets, followers, details } = createFreshPaths(SIZES.large.users);
  const target: LoadTarget = {
    name: "all reads of 10 million observations",
    origin: side.origin,
    key,
    paths: [tweets, followers, details],
  };
  await load(target, MANY_CONNECTIONS, MANY_WARM_UP_S);
  const before = side.memory.samplesMib.length;
  const { rate } = await load(target, MANY_CONNECTIONS, memorySeconds);
  const samples = side.memory.samplesMib.slice(before);
  const what = `${MANY_CONNECTIONS} connections, 10 million`;
  const answers = createValueRow({ part: PART, what, unit: "responses/s", value: rate });
  const third = Math.floor(samples.length / 3);
  if (third === 0) return [answers];
  const highest = Math.max(...samples);
  return [
    answers,
    createValueRow({
      part: PART,
      what: `memory, ${what}, highest`,
      unit: "MiB",
      value: highest,
      target: lessThan(250),
    }),
    createValueRow({
      part: PART,
      what: `memory, ${what}, last third / first third`,
      unit: "times",
      value: median(samples.slice(-third)) / median(samples.slice(0, third)),
      target: atMost(FLAT_RATIO_MAX),
    }),
  ];
}
