/**
 * A discrete-event simulator: events in the order of their time, random numbers from a seed, and
 * the resources that work waits for. Times are milliseconds of simulated time.
 */

/** Runs when its time has come. */
type Action = () => void;

interface ScheduledEvent {
  readonly at: number;
  /** Orders events of one instant as they were scheduled. */
  readonly order: number;
  readonly run: Action;
}

export type Simulator = ReturnType<typeof createSimulator>;

/** Creates a simulator. The same seed gives the same run. */
export function createSimulator(seed: number) {
  const heap: ScheduledEvent[] = [];
  const random = createRandom(seed);
  let now = 0;
  let scheduledCount = 0;
  return {
    now: (): number => now,

    /** A random number from 0 to 1, without 1. */
    random,

    /** A random time with this mean, as between the arrivals of a Poisson process. */
    randomInterval: (mean: number): number => -mean * Math.log(1 - random()),

    schedule(delayMs: number, run: Action): void {
      push(heap, { at: now + delayMs, order: scheduledCount++, run });
    },

    /** Runs all events up to an instant. */
    runUntil(end: number): void {
      for (let next = heap[0]; next !== undefined && next.at <= end; next = heap[0]) {
        pop(heap);
        now = next.at;
        next.run();
      }
      now = end;
    },
  };
}

/** Mulberry32: a small generator, whose numbers are good enough for waiting times. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const isBefore = (a: ScheduledEvent, b: ScheduledEvent): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order);

/** Adds an event to a binary heap, whose first event is the next one. */
function push(heap: ScheduledEvent[], event: ScheduledEvent): void {
  let index = heap.length;
  heap.push(event);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(event, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = event;
}

/** Removes the first event. */
function pop(heap: ScheduledEvent[]): void {
  const moved = heap.pop();
  if (moved === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = heap[2 * index + 1];
    const right = heap[2 * index + 2];
    if (left === undefined) break;
    const isRight = right !== undefined && isBefore(right, left);
    const child = isRight ? right : left;
    if (!isBefore(child, moved)) break;
    heap[index] = child;
    index = 2 * index + (isRight ? 2 : 1);
  }
  heap[index] = moved;
}

export type Machine = ReturnType<typeof createMachine>;

/**
 * Creates a machine: each core runs a job to its end, and the others wait in their order. That is
 * how a system runs jobs that are shorter than its time slices of some milliseconds.
 */
export function createMachine(simulator: Simulator, cores: number) {
  const queue = createQueue<{ readonly workMs: number; readonly done: Action }>();
  let running = 0;
  let busyMs = 0;

  function startNext(): void {
    const job = running < cores ? queue.take() : undefined;
    if (job === undefined) return;
    running++;
    simulator.schedule(job.workMs, () => {
      running--;
      busyMs += job.workMs;
      job.done();
      startNext();
    });
  }

  return {
    run(workMs: number, done: Action): void {
      queue.add({ workMs, done });
      startNext();
    },

    /** The processor time of ended jobs. */
    getBusyMs: (): number => busyMs,
  };
}

/** Creates a queue, which takes the same time however long it is. */
export function createQueue<Item>() {
  let items: Item[] = [];
  let first = 0;
  return {
    add: (item: Item): void => void items.push(item),
    isEmpty: (): boolean => first === items.length,
    take(): Item | undefined {
      const item = items[first];
      if (first < items.length) first++;
      if (first === items.length || first > COMPACTED_ITEMS) {
        items = items.slice(first);
        first = 0;
      }
      return item;
    },
  };
}

/** A queue drops the places of this many items at once. */
const COMPACTED_ITEMS = 1000;

export type Thread = ReturnType<typeof createThread>;

/**
 * Creates a thread, which runs its jobs one after another on a machine. A job that finds it idle
 * takes `wakeMs` more.
 */
export function createThread(machine: Pick<Machine, "run">, wakeMs = 0) {
  const queue = createQueue<{ readonly workMs: number; readonly done: Action }>();
  let isBusy = false;
  let busyMs = 0;

  function runNext(): void {
    const job = queue.take();
    isBusy = job !== undefined;
    if (job === undefined) return;
    machine.run(job.workMs, () => {
      busyMs += job.workMs;
      job.done();
      runNext();
    });
  }

  return {
    run(workMs: number, done: Action): void {
      queue.add({ workMs: isBusy ? workMs : workMs + wakeMs, done });
      if (!isBusy) runNext();
    },

    /** The processor time of ended jobs. */
    getBusyMs: (): number => busyMs,
  };
}
