/** The model of a service process, and of the committer among them. */
import { createGroupCommit } from "./group-commit.ts";
import type { Costs, Scenario } from "./scenario.ts";
import { createQueue, type Machine, type Simulator, type Thread } from "./simulator.ts";

/** A read that a process received. */
export interface Read {
  /** A number. */
  readonly account: number;
  /** Called when it is answered. */
  readonly answer: () => void;
}

const READS_IN_FLIGHT_MAX = 8;
const GROUP_MAX_SIZE = 256;

/**
 * With a committer, how a process waits for more after a commit of many requests, and the committer
 * for the groups of all processes: as in server/composition/debit-commits.ts.
 */
const GROUP_PAUSE_MS = 1;
const MERGE_PAUSE_MS = 3;
const PAUSE_MIN_REQUESTS = 9;

/** Groups in flight of a process that is far from the committer. */
const FAR_IN_FLIGHT_MAX = 4;

/** What the processes of a scenario share. */
export interface Shared {
  readonly simulator: Simulator;
  readonly scenario: Scenario;
  readonly costs: Costs;
  send(done: () => void): void;
  commit(connection: number, reads: readonly Read[], done: () => void): void;
  readonly server: Pick<Machine, "run">;
  readonly entitiesServer: Pick<Machine, "run">;
}

type CommitGroup = (reads: readonly Read[], done: () => void) => void;

/** The committer is next to the server, and commits the groups that wait together. */
export function createCommitter(shared: Shared, thread: Thread): CommitGroup {
  const { simulator, scenario, costs, commit } = shared;
  const groups = createGroupCommit<{ reads: readonly Read[]; done: () => void }>(
    simulator,
    thread,
    {
      sizeMax: Infinity,
      inFlightMax: 1,
      getPauseMs: (messages) =>
        messages.flatMap(({ reads }) => reads).length < PAUSE_MIN_REQUESTS ? 0 : MERGE_PAUSE_MS,
      expected: scenario.processes,
    },
    (messages, startNext) => {
      thread.run(costs.commitService / 2, () =>
        commit(
          -1,
          messages.flatMap(({ reads }) => reads),
          () =>
            thread.run(costs.commitService / 2 + costs.message * messages.length, () => {
              startNext();
              for (const { done } of messages) done();
            }),
        ),
      );
    },
  );
  return (reads, done) => thread.run(costs.message, () => groups.add({ reads, done }));
}

/** Creates a service process. It returns a function that takes a read. */
export function createService(
  { simulator, scenario, costs, send, commit, server, entitiesServer }: Shared,
  thread: Thread,
  index: number,
  committer: CommitGroup | undefined,
) {
  const waitingReads = createQueue<() => void>();
  let readsInFlight = 0;
  const groupMs = committer === undefined ? costs.commitService / 2 : costs.message;
  const respondMs = costs.readService / 2;
  const isFar = scenario.roundTripMs > 0;
  const hasPause = committer !== undefined && !isFar;
  const groups = createGroupCommit<Read>(
    simulator,
    thread,
    {
      sizeMax: GROUP_MAX_SIZE,
      inFlightMax: committer !== undefined && isFar ? FAR_IN_FLIGHT_MAX : 1,
      getPauseMs: (reads) => (hasPause && reads.length >= PAUSE_MIN_REQUESTS ? GROUP_PAUSE_MS : 0),
    },
    (reads, startNext) => {
      const settle = () =>
        send(() =>
          thread.run(groupMs + respondMs * reads.length, () => {
            for (const read of reads) respond(read);
            startNext();
          }),
        );
      const sendGroup = committer ?? commit.bind(null, index);
      thread.run(groupMs, () => send(() => sendGroup(reads, settle)));
    },
  );

  function respond({ answer }: Read): void {
    if (simulator.random() < scenario.cachedShare) answer();
    else if (scenario.entities === "replica") {
      thread.run(costs.missReplica + costs.missService, answer);
    } else query(entitiesServer, () => thread.run(costs.missService, answer));
  }

  /** Sends a read to a server, and up to 8 at once. */
  function query(from: Shared["server"], done: () => void): void {
    waitingReads.add(() =>
      send(() =>
        from.run(costs.missServer, () =>
          send(() => {
            readsInFlight--;
            startReads();
            done();
          }),
        ),
      ),
    );
    startReads();
  }

  function startReads(): void {
    while (readsInFlight < READS_IN_FLIGHT_MAX) {
      const start = waitingReads.take();
      if (start === undefined) return;
      readsInFlight++;
      start();
    }
  }

  return (read: Read): void =>
    thread.run(costs.readService / 2, () => {
      if (simulator.random() < scenario.cachedKeyShare) groups.add(read);
      else query(server, () => groups.add(read));
    });
}
