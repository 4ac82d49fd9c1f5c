/** What the commits of debits wait for: the group that waits together, and the writer. */
import type { Costs } from "./scenario.ts";
import { createQueue, type Simulator, type Thread } from "./simulator.ts";

interface GroupCommitOptions<Item> {
  readonly sizeMax: number;
  readonly inFlightMax: number;
  /** How long to wait for more after a commit of a group; not at all by default. */
  getPauseMs?(group: readonly Item[]): number;
  /** When so many wait, the pause ends. */
  readonly expected?: number;
}

/**
 * Creates a group commit: what arrives while as many commits as allowed run, and during the pause
 * after a commit, waits for the next one. The first group has what arrives in the same turn of the
 * event loop.
 */
export function createGroupCommit<Item>(
  simulator: Pick<Simulator, "now" | "schedule">,
  thread: Thread,
  { sizeMax, inFlightMax, getPauseMs = () => 0, expected = Infinity }: GroupCommitOptions<Item>,
  commit: (group: readonly Item[], startNext: () => void) => void,
) {
  const waiting: Item[] = [];
  let inFlight = 0;
  let isStarting = false;
  let pausedUntil = 0;

  const mayStart = () =>
    inFlight < inFlightMax && (waiting.length >= expected || simulator.now() >= pausedUntil);

  function start(): void {
    isStarting = false;
    if (waiting.length === 0 || !mayStart()) return;
    inFlight++;
    const group = waiting.splice(0, sizeMax);
    commit(group, () => {
      inFlight--;
      const pauseMs = getPauseMs(group);
      pausedUntil = simulator.now() + pauseMs;
      if (pauseMs === 0) start();
      else simulator.schedule(pauseMs, start);
    });
  }

  return {
    add(item: Item): void {
      waiting.push(item);
      if (isStarting || !mayStart()) return;
      isStarting = true;
      thread.run(0, start);
    },
  };
}

/** A transaction, and the connection that it comes over. */
interface Transaction {
  readonly connection: number;
  readonly workMs: number;
  readonly isSynced: boolean;
}

export type Writer = ReturnType<typeof createWriter>;

/** Creates the writer of a namespace: its transactions run one after another, in their order. */
export function createWriter(
  simulator: Simulator,
  machine: { run(workMs: number, done: () => void): void },
  costs: Costs,
) {
  const waiting = createQueue<() => void>();
  let isHeld = false;
  let heldMs = 0;
  let groups = 0;
  let lastConnection: number | undefined;

  function write({ connection, workMs, isSynced }: Transaction, done: () => void): void {
    const hasWaited = isHeld || !waiting.isEmpty();
    const start = () => {
      const startedAt = simulator.now();
      const isHandoff = hasWaited && connection !== lastConnection;
      lastConnection = connection;
      const handoffMs = isHandoff ? costs.handoffServer : 0;
      const syncMs = isSynced ? costs.syncServer : 0;
      const work = () =>
        machine.run(workMs + handoffMs + syncMs, () =>
          simulator.schedule(isSynced ? costs.syncWait : 0, () => {
            heldMs += simulator.now() - startedAt;
            isHeld = false;
            done();
            if (!isHeld) startNext();
          }),
        );
      if (isHandoff) simulator.schedule(costs.handoffPause, work);
      else work();
    };
    waiting.add(start);
    if (!isHeld) startNext();
  }

  function startNext(): void {
    const start = waiting.take();
    isHeld = start !== undefined;
    start?.();
  }

  return {
    write,

    commit(transaction: Transaction, done: () => void): void {
      groups++;
      write(transaction, done);
    },

    countGroups: (): number => groups,

    /** The time with a transaction so far. */
    getHeldMs: (): number => heldMs,
  };
}
