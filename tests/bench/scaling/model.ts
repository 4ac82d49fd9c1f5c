/**
 * The model of the service on a libSQL server: clients, service processes, their group commit, the
 * committer, the server with one writer for each namespace, and the collector. It knows rules and
 * no figures; `figures.ts` has these.
 */
import {
  createMachine,
  createSimulator,
  createThread,
  type Machine,
  type Simulator,
} from "./simulator.ts";
import { createWriter } from "./group-commit.ts";
import { createCommitter, createService, type Read } from "./processes.ts";
import type { Costs, Scenario } from "./scenario.ts";

/** How long to simulate, and from when on to count. */
export interface RunPlan {
  readonly warmUpMs: number;
  readonly durationMs: number;
  readonly seed: number;
  /** How long to go on without new reads, so that those in progress are answered. */
  readonly drainMs?: number;
}

export type RunResult = ReturnType<typeof simulate>;

/** Simulates a scenario. */
export function simulate(scenario: Scenario, costs: Costs, plan: RunPlan) {
  const simulator = createSimulator(plan.seed);
  const parts = createParts(simulator, scenario, costs);
  const times: number[] = [];
  const counts = { arrived: 0, answered: 0 };
  let isCounting = false;
  let isArriving = true;

  const submit = (process: number, next: () => void) => {
    if (!isArriving) return;
    const arrivedAt = simulator.now();
    counts.arrived++;
    const answer = () => {
      counts.answered++;
      if (isCounting) times.push(simulator.now() - arrivedAt);
      next();
    };
    const account = Math.floor(simulator.random() * scenario.accounts);
    parts.services[process % scenario.processes]?.({ account, answer });
  };
  startArrivals(simulator, scenario, parts.clients, submit);
  startBackground(simulator, scenario, costs, parts);

  simulator.runUntil(plan.warmUpMs);
  isCounting = true;
  const before = parts.readBusyMs();
  simulator.runUntil(plan.warmUpMs + plan.durationMs);
  const after = parts.readBusyMs();
  isCounting = false;
  isArriving = false;
  simulator.runUntil(plan.warmUpMs + plan.durationMs + (plan.drainMs ?? 0));
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  const used = (name: keyof typeof after) => after[name] - before[name];
  const reads = times.length;
  return {
    ...counts,
    reads,
    readsPerSecond: (reads * 1000) / plan.durationMs,
    meanMs: times.reduce((sum, ms) => sum + ms, 0) / reads,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    /** Per 1,000 reads. */
    commits: (used("commits") * 1000) / reads,
    entriesPerDebit: parts.journal.countEntriesPerDebit(),
    serverMs: (used("server") * 1000) / reads,
    servicesMs: (used("services") * 1000) / reads,
    /** The share of time with a transaction, and processor time per time. */
    busy: {
      writer: used("writer") / plan.durationMs,
      server: used("server") / plan.durationMs,
      committer: used("committer") / plan.durationMs,
      services: used("services") / plan.durationMs,
    },
  };
}

type Parts = ReturnType<typeof createParts>;

function createParts(simulator: Simulator, scenario: Scenario, costs: Costs) {
  const { cores, isOneMachine, processes, entities } = scenario;
  const one = isOneMachine ? createMachine(simulator, cores) : undefined;
  // Elsewhere, a process has a core of its own.
  const processMachine = one ?? createMachine(simulator, Infinity);
  const newServer = () => createMeter(one ?? createMachine(simulator, cores));
  const server = newServer();
  const entitiesServer = entities === "joint" ? server : newServer();
  const writer = createWriter(simulator, server, costs);
  const entitiesWriter =
    entities === "joint" ? writer : createWriter(simulator, entitiesServer, costs);
  const newProcess = () => createThread(processMachine, costs.wakeService);
  const threads = Array.from({ length: processes }, newProcess);
  const idle = scenario.committer === "idle" ? newProcess() : undefined;
  const committerThread = idle ?? threads[0] ?? newProcess();
  const send = (done: () => void) => simulator.schedule(scenario.roundTripMs / 2, done);
  const journal = createJournal(simulator, scenario, (done) =>
    writer.write({ ...FOLD, workMs: costs.foldServer, isSynced: scenario.isSynced }, done),
  );
  const commit = (connection: number, reads: readonly Read[], done: () => void) => {
    const accounts = new Set(reads.map(({ account }) => account)).size;
    const workMs = costs.commitServer + (accounts - 1) * costs.accountServer;
    journal.add(accounts, reads.length);
    writer.commit({ connection, workMs, isSynced: scenario.isSynced }, done);
  };
  const shared = { simulator, scenario, costs, send, commit, server, entitiesServer };
  const committer =
    scenario.committer === "each" ? undefined : createCommitter(shared, committerThread);
  return {
    services: threads.map((thread, index) => createService(shared, thread, index, committer)),
    clients: Array.from({ length: processes }, () => createThread(processMachine)),
    collector: createThread(processMachine),
    journal,
    entitiesWriter,
    readBusyMs: () => ({
      commits: writer.countGroups(),
      writer: writer.getHeldMs(),
      server: server.getBusyMs(),
      committer: committerThread.getBusyMs(),
      services: threads.reduce((sum, thread) => sum + thread.getBusyMs(), 0),
    }),
  };
}

/** Counts the processor time of some jobs of a machine. */
function createMeter(machine: Pick<Machine, "run">) {
  let busyMs = 0;
  return {
    run: (workMs: number, done: () => void) =>
      machine.run(workMs, () => {
        busyMs += workMs;
        done();
      }),
    getBusyMs: () => busyMs,
  };
}

function startArrivals(
  simulator: Simulator,
  { arrivals, processes }: Scenario,
  clients: Parts["clients"],
  submit: (process: number, next: () => void) => void,
): void {
  let count = 0;
  if ("connections" in arrivals) {
    const request = (process: number) => {
      const client = clients[process];
      client?.run(arrivals.clientMs, () => submit(process, () => request(process)));
    };
    while (count < arrivals.connections) request(count++ % processes);
    return;
  }
  repeat(simulator, arrivals.readsPerSecond, () => submit(count++, () => undefined));
}

/** Starts the writes of the collector. */
function startBackground(
  simulator: Simulator,
  { observationWritesPerSecond, isSynced }: Scenario,
  costs: Costs,
  { collector, entitiesWriter }: Parts,
): void {
  const transaction = { ...COLLECT, workMs: costs.observationsServer, isSynced };
  repeat(simulator, observationWritesPerSecond, () =>
    collector.run(costs.observationsService, () =>
      entitiesWriter.write(transaction, () => undefined),
    ),
  );
}

/** The entries of the journal that a step folds. */
export const ENTRIES_PER_FOLD = 100;

/** Connections besides those of the processes, which have their index. */
const COLLECT = { connection: -2 };
const FOLD = { connection: -3 };

/** Creates the journal: in the long run, as many entries are folded as are added. */
function createJournal(
  simulator: Simulator,
  { foldIntervalMs }: Scenario,
  fold: (done: () => void) => void,
) {
  let entries = 0;
  let debits = 0;
  let left = 0;
  let isWaiting = foldIntervalMs === undefined;

  function foldNext(): void {
    if (isWaiting || left < ENTRIES_PER_FOLD) return;
    isWaiting = true;
    left -= ENTRIES_PER_FOLD;
    fold(() => undefined);
    simulator.schedule(foldIntervalMs ?? 0, () => {
      isWaiting = false;
      foldNext();
    });
  }

  return {
    /** Adds an entry for each account of a commit. */
    add(accounts: number, committed: number): void {
      entries += accounts;
      debits += committed;
      left += accounts;
      foldNext();
    },
    countEntriesPerDebit: (): number => entries / debits,
  };
}

/** Runs an action at random instants, at a rate. */
function repeat(simulator: Simulator, perSecond: number, run: () => void): void {
  if (perSecond === 0) return;
  const wait = () =>
    simulator.schedule(simulator.randomInterval(1000 / perSecond), () => {
      wait();
      run();
    });
  wait();
}
