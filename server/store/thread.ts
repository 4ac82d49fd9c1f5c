/** A thread of the process that does one order after another; with nothing to do it ends with it. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { systemCodeOf } from "../../core/errors.ts";

/** What a thread answers an order with. */
type Reply<Result> = { readonly id: number } & (
  | { readonly result: Result }
  | { readonly failure: { readonly message: string; readonly code: string } }
);

/** An error in a thread, with the code that it had there. */
export class ThreadError extends Error {
  override readonly name = "ThreadError";
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** How an order is posted. */
interface Posting {
  /** Whether as JSON text, which is the faster for all but long typed arrays. */
  readonly isText: boolean;
  /** What is not copied but given away. */
  readonly given?: ArrayBuffer[];
}

interface Thread<Result> {
  readonly worker: Worker;
  /** The orders that it has not answered. */
  readonly waiting: Map<number, PromiseWithResolvers<Result>>;
}

/** File descriptors that a thread opens at most while it starts. */
const STARTING_DESCRIPTORS = 16;

/** Throws where a thread cannot start for want of file descriptors: the process would end. */
function requireDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < STARTING_DESCRIPTORS) opened.push(openSync(devNull, "r"));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/**
 * Makes what gives orders to a thread, which starts with the first one, and anew should it die.
 *
 * @param file The thread's file; it calls {@link obeyOrders}.
 * @returns Gives an order. It throws {@link ThreadError} where the thread failed at it.
 */
export function openThread<Order, Result>(file: URL) {
  let thread: Thread<Result> | undefined;
  let lastId = 0;

  function start(): Thread<Result> {
    requireDescriptors();
    const worker = new Worker(file.href);
    const waiting: Thread<Result>["waiting"] = new Map();
    const started = { worker, waiting };
    worker.addEventListener("message", ({ data }: MessageEvent<string | Reply<Result>>) => {
      const reply: Reply<Result> = typeof data === "string" ? JSON.parse(data) : data;
      const asked = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (waiting.size === 0) worker.unref();
      if ("failure" in reply) {
        asked?.reject(new ThreadError(reply.failure.message, reply.failure.code));
      } else asked?.resolve(reply.result);
    });
    const bury = (reason: string) => {
      if (thread === started) thread = undefined;
      for (const { reject } of waiting.values()) reject(new Error(reason));
      waiting.clear();
    };
    worker.addEventListener("error", ({ message }) => bury(message));
    worker.addEventListener("close", () => bury("The thread ended"));
    return started;
  }

  return async (order: Order, { isText, given = [] }: Posting): Promise<Result> => {
    const message = { id: ++lastId, order };
    const posted = isText ? JSON.stringify(message) : message;
    thread ??= start();
    const { worker, waiting } = thread;
    worker.postMessage(posted, given);
    if (waiting.size === 0) worker.ref();
    const asked = Promise.withResolvers<Result>();
    waiting.set(message.id, asked);
    return asked.promise;
  };
}

declare const self: Worker;

/**
 * Does, in a thread, what it is ordered.
 *
 * @param isText Whether it is answered as JSON text, as an order may be posted.
 */
export function obeyOrders<Order, Result>(
  work: (order: Order) => Result,
  { isText }: Pick<Posting, "isText">,
): void {
  type Message = { readonly id: number; readonly order: Order };
  const obey = ({ id, order }: Message): Reply<Result> => {
    try {
      return { id, result: work(order) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { id, failure: { message, code: systemCodeOf(error) || "UNKNOWN" } };
    }
  };
  self.addEventListener("message", ({ data }: MessageEvent<string | Message>) => {
    const reply = obey(typeof data === "string" ? JSON.parse(data) : data);
    self.postMessage(isText ? JSON.stringify(reply) : reply);
  });
}
