/** Simulates what was measured, and puts both beside each other. */
import { createGroupCommit, createWriter } from "./group-commit.ts";
import { COSTS } from "./figures.ts";
import { simulate } from "./model.ts";
import type { Scenario } from "./scenario.ts";
import { createMachine, createSimulator, createThread } from "./simulator.ts";

/** Per 1,000 reads: commits, and milliseconds of processor time. Then the median time of a read. */
const QUANTITIES = {
  commits: "commits",
  serverMs: "server, ms",
  servicesMs: "services, ms",
  p50Ms: "p50, ms",
} as const;

type Quantity = keyof typeof QUANTITIES;

/** A run that was measured. By default, of cached reads with one account, not synced. */
interface MeasuredRun extends Partial<
  Pick<Scenario, "accounts" | "cachedShare" | "isSynced" | "committer">
> {
  readonly name: string;
  readonly processes: number;
  readonly connections: number;
  readonly measured: Readonly<Partial<Record<Quantity, number>>>;
  /** The figures that were calibrated with this run are no test of the simulation. */
  readonly calibrated?: readonly Quantity[];
}

/**
 * Medians of three rounds of 4 seconds or more, of 26 November 2026; those with a committer are of
 * `bun run bench cluster`. Other programs used the machine, too, so a p50 is that of the round in which they took least.
 */
const RUNS: readonly MeasuredRun[] = [
  {
    name: "1 process, 8 connections",
    processes: 1,
    connections: 8,
    measured: { commits: 249, serverMs: 119, servicesMs: 50.6, p50Ms: 1.24 },
    calibrated: ["servicesMs"],
  },
  {
    name: "1 process, 64",
    processes: 1,
    connections: 64,
    measured: { commits: 31.1, serverMs: 17, servicesMs: 23.6, p50Ms: 1.78 },
    calibrated: ["serverMs", "servicesMs"],
  },
  {
    name: "1 process, 256",
    processes: 1,
    connections: 256,
    measured: { commits: 8.1, serverMs: 6.1, servicesMs: 20.3 },
  },
  {
    name: "3 processes, 64",
    processes: 3,
    connections: 64,
    measured: { commits: 93.2, serverMs: 69.3, servicesMs: 68, p50Ms: 7.8 },
  },
  {
    name: "3 processes, 256",
    processes: 3,
    connections: 256,
    measured: { commits: 23.3, serverMs: 19.9, servicesMs: 35.9, p50Ms: 9.5 },
  },
  {
    name: "1 process, 64, 1,000 accounts",
    processes: 1,
    connections: 64,
    accounts: 1000,
    measured: { commits: 30.4, serverMs: 20.8, servicesMs: 24.2 },
  },
  {
    name: "1 process, 256, 1,000 accounts",
    processes: 1,
    connections: 256,
    accounts: 1000,
    measured: { commits: 7.9, serverMs: 10.6, servicesMs: 22.3 },
  },
  {
    name: "1 process, 64, not cached",
    processes: 1,
    connections: 64,
    cachedShare: 0,
    measured: { commits: 104, serverMs: 167, servicesMs: 127 },
  },
  {
    name: "1 process, 64, synced",
    processes: 1,
    connections: 64,
    isSynced: true,
    measured: { commits: 31.2, serverMs: 22.7, servicesMs: 27.2 },
  },
  {
    name: "3 processes, 64, synced",
    processes: 3,
    connections: 64,
    isSynced: true,
    measured: { commits: 93.5, serverMs: 72.7, servicesMs: 70.4 },
  },
  {
    name: "3 processes, 64, synced, committer",
    processes: 3,
    connections: 64,
    isSynced: true,
    committer: "one",
    measured: { serverMs: 14.9, servicesMs: 36 },
  },
  {
    name: "3 processes, 256, synced, committer",
    processes: 3,
    connections: 256,
    isSynced: true,
    committer: "one",
    measured: { serverMs: 5.9, servicesMs: 22.6 },
  },
];

/** The processor time of `wrk` for a read. */
const CLIENT_MS = 0.011;

const CORES = 2;
const PLAN = { warmUpMs: 200, durationMs: 1000, seed: 29 };

/** Commits in a loop, each after the response to the one before: of writers in namespaces. */
const LOOPS = [
  { name: "1 writer", writers: 1, namespaces: 1, measured: 1870, isCalibrated: true },
  { name: "2 writers", writers: 2, namespaces: 1, measured: 845, isCalibrated: true },
  { name: "3 writers", writers: 3, namespaces: 1, measured: 773, isCalibrated: false },
];

/** The server's time for a commit in a loop, which finds its caches warm. */
export const LOOP_COMMIT_MS = 0.42;

/** A simulated and a measured value. */
export interface Comparison {
  readonly name: string;
  readonly quantity: string;
  readonly simulated: number;
  readonly measured: number;
  readonly isCalibrated: boolean;
}

/** Simulates all that was measured. */
export function compareWithMeasured(): Comparison[] {
  const runs = RUNS.flatMap((run) => {
    const result = simulate(createScenario(run), COSTS, PLAN);
    return Object.entries(QUANTITIES).flatMap(([key, quantity]) => {
      const name = key as Quantity;
      const measured = run.measured[name];
      if (measured === undefined) return [];
      const isCalibrated = run.calibrated?.includes(name) === true;
      return [{ name: run.name, quantity, simulated: result[name], measured, isCalibrated }];
    });
  });
  const loops = LOOPS.map(({ name, writers, namespaces, measured, isCalibrated }) => {
    const simulated = simulateLoops(writers, namespaces);
    return { name, quantity: "commits a second", simulated, measured, isCalibrated };
  });
  const namespaces = {
    name: "2 namespaces / 1",
    quantity: "commits a second",
    simulated: simulateLoops(2, 2) / simulateLoops(1, 1),
    // Other programs took a part of the two cores.
    measured: 1763 / 1256,
    isCalibrated: false,
  };
  return [...runs, ...loops, namespaces];
}

function createScenario({ connections, processes, ...given }: MeasuredRun): Scenario {
  return {
    accounts: 1,
    committer: "each",
    cachedShare: 1,
    isSynced: false,
    ...given,
    arrivals: { connections, clientMs: CLIENT_MS },
    processes,
    entities: "joint",
    cachedKeyShare: 1,
    roundTripMs: 0,
    observationWritesPerSecond: 0,
    cores: CORES,
    isOneMachine: true,
  };
}

/** Simulates writers of one process, which commit without a pause. @returns Commits a second. */
export function simulateLoops(writers: number, namespaces: number): number {
  const simulator = createSimulator(PLAN.seed);
  const machine = createMachine(simulator, CORES);
  const thread = createThread(machine);
  const stores = Array.from({ length: namespaces }, () => createWriter(simulator, machine, COSTS));
  for (let connection = 0; connection < writers; connection++) {
    const store = stores[connection % namespaces];
    const transaction = { connection, workMs: LOOP_COMMIT_MS, isSynced: false };
    const commits = createGroupCommit<undefined>(
      simulator,
      thread,
      { sizeMax: 1, inFlightMax: 1 },
      (_group, startNext) =>
        store?.commit(transaction, () =>
          thread.run(COSTS.commitService, () => {
            commits.add(undefined);
            startNext();
          }),
        ),
    );
    commits.add(undefined);
  }
  simulator.runUntil(PLAN.durationMs);
  const count = stores.reduce((sum, store) => sum + store.countGroups(), 0);
  return (count * 1000) / PLAN.durationMs;
}
