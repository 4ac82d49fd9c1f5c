/** Measures reads, database size and memory with a growing number of observations. */
import { stat } from "node:fs/promises";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import {
  countObservations,
  countUsersFor,
  createFreshPaths,
  HISTORY_HOURS,
  seedChannels,
  seedDatabase,
} from "./seed.ts";
import type { FreshPaths, LoadTarget } from "./load-generator.ts";
import {
  atMost,
  createCpuRows,
  createMemoryRows,
  lessThan,
  withServers,
  type BenchContext,
} from "./bench-context.ts";
import { median, createValueRow, type ReportRow } from "./report.ts";
import { measureInRounds, pickCpuTimes, warmUp, type RoundPlan } from "./rounds.ts";
import { createBenchDatabase, startServiceProcess, type BenchDatabase } from "./service-process.ts";
import type { BenchServer } from "./workspace.ts";

const PART = "growth";

/** Many rounds: on a machine that others used too, single ones gave ratios from 1.04 to 1.51. */
const PLAN: RoundPlan = { connections: 4, rounds: 11, seconds: 1 };
const MANY_CONNECTIONS = 256;
const MANY_WARM_UP_S = 3;
const MEMORY_S = 15;
const LONG_MEMORY_S = 60;

/** The memory counts as constant if its last third is at most this multiple of its first third. */
const FLAT_RATIO_MAX = 1.1;

/** The part of the observations that are those of channels with a year of them. */
const CHANNEL_PART = 0.2;

/** The contents of a database. */
interface DatabaseSize {
  readonly name: string;
  readonly users: number;
  readonly channels: number;
}

/** A database, what is in it, and the service that reads it. */
interface SeededServer {
  readonly size: DatabaseSize;
  readonly store: BenchDatabase;
  readonly server: BenchServer;
}

/** The paths of a read, never the same one, for a database of a size. */
type ReadPaths = (size: DatabaseSize) => FreshPaths;

/** Measures a small and a large database. */
export async function measureGrowth(context: BenchContext): Promise<ReportRow[]> {
  const { workspace, isLong } = context;
  const smallSize = createSize("100 thousand", 100_000);
  const largeSize = isLong ? createSize("10 million", 1e7) : createSize("1 million", 1e6);
  const smallStore = await createSeededDatabase(context, smallSize);
  const largeStore = await createSeededDatabase(context, largeSize);
  const perObservation = (await stat(largeStore.file)).size / countAll(largeSize);
  const servers = {
    small: await startServiceProcess(workspace, smallStore),
    large: await startServiceProcess(workspace, largeStore),
  };
  return withServers(servers, async () => {
    const small = { size: smallSize, store: smallStore, server: servers.small };
    const large = { size: largeSize, store: largeStore, server: servers.large };
    const rows: ReportRow[] = [];
    for (const [what, paths] of Object.entries(READS)) {
      rows.push(...(await measureRead(context, small, large, what, paths)));
    }
    const bytes = createValueRow({
      part: PART,
      what: `database per observation, ${largeSize.name}`,
      unit: "bytes",
      value: perObservation,
      target: atMost(26),
    });
    const pages = [small, large].flatMap(({ size, server }) =>
      createMemoryRows(PART, `page reads, ${size.name}`, server),
    );
    return [...rows, bytes, ...pages, ...(await measureMemoryUnderLoad(context, large))];
  });
}

function createSize(name: string, observations: number): DatabaseSize {
  return {
    name,
    users: countUsersFor(observations * (1 - CHANNEL_PART)),
    channels: Math.ceil((observations * CHANNEL_PART) / HISTORY_HOURS),
  };
}

function countAll({ users, channels }: DatabaseSize): number {
  return countObservations(users) + channels * HISTORY_HOURS;
}

async function createSeededDatabase(
  { workspace, logProgress }: BenchContext,
  size: DatabaseSize,
): Promise<BenchDatabase> {
  logProgress(`growth: filling a database with ${size.name} observations`);
  const store = await createBenchDatabase(workspace, `growth-${size.users}`);
  await seedDatabase(workspace, store, size.users);
  await seedChannels(workspace, store, size.channels, size.channels, END);
  return store;
}

/** The end of the histories: before the service reads them. */
const END = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;

const YEAR_START = new Date(END - 365 * DAY_MS).toISOString();

/** The reads of which each is measured in both databases. */
const READS: Readonly<Record<string, ReadPaths>> = {
  "page of tweets": ({ users }) => createFreshPaths(users).tweets,
  "page of followers": ({ users }) => createFreshPaths(users).followers,
  "a year by day": ({ channels }) => ({
    before: "/api/video/channel",
    after: `/history?interval=day&from=${YEAR_START}&_n=`,
    users: channels,
  }),
  "50 users by a gain": () => ({
    before: "/api/microblog/users?limit=50&sort=dailyFollowerGain&_n=",
    after: "-",
    users: 1,
  }),
};

/** Compares the CPU time of a read that is not cached. */
async function measureRead(
  { load, logProgress }: BenchContext,
  small: SeededServer,
  large: SeededServer,
  what: string,
  paths: ReadPaths,
): Promise<ReportRow[]> {
  logProgress(`growth: ${what}`);
  const target = ({ size, store, server }: SeededServer): LoadTarget => ({
    name: `${what} of ${size.name} observations`,
    server,
    key: store.key,
    paths: [paths(size)],
  });
  const targets = { small: target(small), large: target(large) };
  await warmUp(load, targets, PLAN.connections);
  const results = await measureInRounds(load, targets, PLAN);
  return createCpuRows({
    part: PART,
    what: `${what}, ${large.size.name} / ${small.size.name}`,
    unit: "µs of CPU a read",
    ours: pickCpuTimes(results.large),
    theirs: pickCpuTimes(results.small),
    target: atMost(1.25),
  });
}

/** Measures the memory of the service while many connections read pages and details. */
async function measureMemoryUnderLoad(
  { load, logProgress, isLong }: BenchContext,
  { size, store, server }: SeededServer,
): Promise<ReportRow[]> {
  const memorySeconds = isLong ? LONG_MEMORY_S : MEMORY_S;
  logProgress(`growth: memory with ${MANY_CONNECTIONS} connections, ${memorySeconds} seconds`);
  const { tweets, followers, details } = createFreshPaths(size.users);
  const target: LoadTarget = {
    name: `all reads of ${size.name} observations`,
    server,
    key: store.key,
    paths: [tweets, followers, details],
  };
  await load(target, MANY_CONNECTIONS, MANY_WARM_UP_S);
  const before = server.memory.samplesMib.length;
  const { rate } = await load(target, MANY_CONNECTIONS, memorySeconds);
  const samples = server.memory.samplesMib.slice(before);
  const what = `${MANY_CONNECTIONS} connections, ${size.name}`;
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
