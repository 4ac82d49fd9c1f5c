/** Decides when the next commit of a queue starts; every part may use it. */

/** How commits follow each other. */
export interface CommitPacing {
  /** How many commits may be in flight, if each of them takes long. */
  readonly inFlightMax: number;
  /** How long to wait for more after a commit of many requests, whose clients send the next ones. */
  getPauseMs(): number;
  /** Whether all that is expected waits already, which ends the pause; never by default. */
  isComplete?(): boolean;
}

export const ONE_AT_A_TIME: CommitPacing = { inFlightMax: 1, getPauseMs: () => 0 };

/** After a commit of more requests, the next one waits for the pause. */
const FEW_REQUESTS = 8;

/**
 * If even the fastest of recent commits took this long, several are in flight. On a local network,
 * only single commits take longer, while the machine is busy: there, more and smaller commits would
 * only be more work.
 */
const LONG_COMMIT_MS = 5;

/** Commits in flight follow each other after this time. */
const INTERVAL_MS = 2;

/**
 * How long a commit waits at most for a turn of the event loop that brings no new request. Until
 * then the process is busy anyway, and a commit of 64 requests takes little more than one of 32.
 */
const GATHERING_MAX_MS = 2;

/** How fast the lowest time of recent commits grows with each: it doubles in 35 commits. */
const FORGETTING = 1.02;

/**
 * Creates the pacer of a queue. What arrives during a commit waits for its end, and for the next
 * requests of the clients that it answers, so that commits are few and large. If even the fastest of
 * the recent commits took long, because the network is slow, the next one starts sooner.
 *
 * @param start Starts a commit with all that waits, and later calls `end()` once it is committed.
 *   Returns the number of requests; 0 if nothing waits.
 */
export function createCommitPacer(
  { inFlightMax, getPauseMs, isComplete = () => false }: CommitPacing,
  start: (end: () => void) => number,
) {
  let inFlight = 0;
  let startedAt = 0;
  /** When a commit may start if none is in flight. */
  let pausedUntil = 0;
  /** The lowest time of recent commits. */
  let lowestMs = 0;
  let isScheduled = false;
  /** Counts the calls of `wake()`: each request makes one. */
  let arrivals = 0;
  /** How many requests the last commit had. */
  let lastCount = 0;
  let timer: Timer | undefined;

  /** Whether a commit may start now or soon, before one in flight ends. */
  const mayStart = (): boolean =>
    inFlight === 0 || (inFlight < inFlightMax && lowestMs >= LONG_COMMIT_MS);

  function getWaitMs(now: number): number {
    if (inFlight > 0) return startedAt + INTERVAL_MS - now;
    return isComplete() ? 0 : pausedUntil - now;
  }

  /** Starts a commit at once, if another one may start. */
  function startIfReady(): void {
    isScheduled = false;
    cancelTimer();
    if (!mayStart()) return;
    const now = performance.now();
    const waitMs = getWaitMs(now);
    if (waitMs > 0) {
      timer = setTimeout(startIfReady, waitMs);
      return;
    }
    const count = start(() => end(now, count));
    if (count === 0) return;
    inFlight++;
    startedAt = now;
    lastCount = count;
  }

  function cancelTimer(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function end(beganAt: number, count: number): void {
    const now = performance.now();
    inFlight--;
    lowestMs = Math.min(lowestMs * FORGETTING || Infinity, now - beganAt);
    if (count > FEW_REQUESTS) pausedUntil = now + getPauseMs();
    cancelTimer();
    wake();
  }

  /** Starts a commit once a turn of the event loop has brought no new request. */
  function gather(until: number, seen: number): void {
    if (arrivals === seen || isComplete() || performance.now() > until) startIfReady();
    else setImmediate(gather, until, arrivals);
  }

  /** A request waits: starts a commit soon, or as soon as another one may start. */
  function wake(): void {
    arrivals++;
    if (isScheduled || !mayStart() || (timer !== undefined && !isComplete())) return;
    isScheduled = true;
    // Of several clients that were answered together, some have not sent their next request yet.
    setImmediate(gather, performance.now() + GATHERING_MAX_MS, lastCount > 1 ? 0 : arrivals);
  }

  return {
    wake,
    startIfReady,
    isIdle: (): boolean => inFlight === 0 && !isScheduled && timer === undefined,
  };
}
