/** A thread of the process that does one order after another; with nothing to do it ends with it. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { readSystemErrorCode } from "../../system-errors.ts";

/** What a thread answers an order with. */
type WorkerResponse<Result> = { readonly id: number } & (
  | { readonly result: Result }
  | { readonly failure: { readonly message: string; readonly code: string } }
);

/** An error in a thread, with the code that it had there. */
export class WorkerError extends Error {
  override readonly name = "WorkerError";
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** How an order is posted. */
interface PostOptions {
  /** Whether as JSON text, which is the faster for all but long typed arrays. */
  readonly isJson: boolean;
  /** What is not copied but given away. */
  readonly transfer?: ArrayBuffer[];
}

interface RunningWorker<Result> {
  readonly worker: Worker;
  /** The orders that it has not answered. */
  readonly waiting: Map<number, PromiseWithResolvers<Result>>;
}

/** File descriptors that a thread opens at most while it starts. */
const WORKER_START_DESCRIPTORS = 16;

/** Throws where a thread cannot start for want of file descriptors: the process would end. */
function assertDescriptorsAvailable(): void {
  const opened: number[] = [];
  try {
    while (opened.length < WORKER_START_DESCRIPTORS) opened.push(openSync(devNull, "r"));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/**
 * Makes what gives orders to a thread, which starts with the first one, and anew should it die.
 *
 * @param file The thread's file; it calls {@link handleRequests}.
 * @returns Gives an order. It throws {@link WorkerError} where the thread failed at it.
 */
export function createWorkerClient<Order, Result>(file: URL) {
  let running: RunningWorker<Result> | undefined;
  let lastId = 0;

  function startWorker(): RunningWorker<Result> {
    assertDescriptorsAvailable();
    const worker = new Worker(file.href);
    const waiting: RunningWorker<Result>["waiting"] = new Map();
    const started = { worker, waiting };
    worker.addEventListener(
      "message",
      ({ data }: MessageEvent<string | WorkerResponse<Result>>) => {
        const reply: WorkerResponse<Result> = typeof data === "string" ? JSON.parse(data) : data;
        const pendingRequest = waiting.get(reply.id);
        waiting.delete(reply.id);
        if (waiting.size === 0) worker.unref();
        if ("failure" in reply) {
          pendingRequest?.reject(new WorkerError(reply.failure.message, reply.failure.code));
        } else pendingRequest?.resolve(reply.result);
      },
    );
    const rejectPending = (reason: string) => {
      if (running === started) running = undefined;
      for (const { reject } of waiting.values()) reject(new Error(reason));
      waiting.clear();
    };
    worker.addEventListener("error", ({ message }) => rejectPending(message));
    worker.addEventListener("close", () => rejectPending("The thread ended"));
    return started;
  }

  return async (
    order: Order,
    { isJson: isText, transfer: given = [] }: PostOptions,
  ): Promise<Result> => {
    const message = { id: ++lastId, order };
    const payload = isText ? JSON.stringify(message) : message;
    running ??= startWorker();
    const { worker, waiting } = running;
    worker.postMessage(payload, given);
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
export function handleRequests<Order, Result>(
  handle: (order: Order) => Result,
  { isJson: isText }: Pick<PostOptions, "isJson">,
): void {
  type Message = { readonly id: number; readonly order: Order };
  const respond = ({ id, order }: Message): WorkerResponse<Result> => {
    try {
      return { id, result: handle(order) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { id, failure: { message, code: readSystemErrorCode(error) || "UNKNOWN" } };
    }
  };
  self.addEventListener("message", ({ data }: MessageEvent<string | Message>) => {
    const reply = respond(typeof data === "string" ? JSON.parse(data) : data);
    self.postMessage(isText ? JSON.stringify(reply) : reply);
  });
}
