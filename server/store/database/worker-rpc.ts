/** Requests to a worker thread, which handles one after another. An idle one ends with the process. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { readSystemErrorCode } from "../../system-errors.ts";

interface WorkerRequest<Request> {
  readonly id: number;
  readonly request: Request;
}

type WorkerResponse<Result> = { readonly id: number } & (
  | { readonly result: Result }
  | { readonly error: { readonly message: string; readonly code: string } }
);

/** An error that was thrown in a worker, with its code. */
export class WorkerError extends Error {
  override readonly name = "WorkerError";
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** How a message is posted. */
interface PostOptions {
  /** Posts JSON text, which is faster for everything but long typed arrays. */
  readonly isJson: boolean;
  /** Buffers that are moved to the worker and not copied. */
  readonly transfer?: ArrayBuffer[];
}

interface RunningWorker<Result> {
  readonly worker: Worker;
  /** The callers that wait for a response, by the id of their request. */
  readonly pending: Map<number, PromiseWithResolvers<Result>>;
}

/** How many file descriptors a worker opens while it starts, at most. */
const WORKER_START_DESCRIPTORS = 16;

/** Throws if a worker cannot start for lack of file descriptors; Bun would end the process. */
function assertDescriptorsAvailable(): void {
  const opened: number[] = [];
  try {
    while (opened.length < WORKER_START_DESCRIPTORS) opened.push(openSync(devNull, "r"));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function startWorker<Result>(file: URL, onEnd: () => void): RunningWorker<Result> {
  assertDescriptorsAvailable();
  const worker = new Worker(file.href);
  const pending: RunningWorker<Result>["pending"] = new Map();
  worker.addEventListener("message", ({ data }: MessageEvent<string | WorkerResponse<Result>>) => {
    const response: WorkerResponse<Result> = typeof data === "string" ? JSON.parse(data) : data;
    const caller = pending.get(response.id);
    pending.delete(response.id);
    if (pending.size === 0) worker.unref();
    if ("error" in response) {
      caller?.reject(new WorkerError(response.error.message, response.error.code));
    } else caller?.resolve(response.result);
  });
  const rejectPending = (reason: string) => {
    onEnd();
    for (const { reject } of pending.values()) reject(new Error(reason));
    pending.clear();
  };
  worker.addEventListener("error", ({ message }) => rejectPending(message));
  worker.addEventListener("close", () => rejectPending("The worker thread ended"));
  return { worker, pending };
}

/**
 * Creates a function that sends requests to a worker. The worker starts with the first request, and
 * again with the next one after it died.
 *
 * @param file The file of the worker; it calls {@link handleRequests}.
 * @returns Sends a request. It throws {@link WorkerError} if the worker threw.
 */
export function createWorkerClient<Request, Result>(file: URL) {
  let running: RunningWorker<Result> | undefined;
  let lastId = 0;

  function getRunning(): RunningWorker<Result> {
    if (running !== undefined) return running;
    const started = startWorker<Result>(file, () => {
      if (running === started) running = undefined;
    });
    running = started;
    return started;
  }

  return async (request: Request, { isJson, transfer = [] }: PostOptions): Promise<Result> => {
    const message: WorkerRequest<Request> = { id: ++lastId, request };
    const payload = isJson ? JSON.stringify(message) : message;
    const { worker, pending } = getRunning();
    worker.postMessage(payload, transfer);
    if (pending.size === 0) worker.ref();
    const caller = Promise.withResolvers<Result>();
    pending.set(message.id, caller);
    return caller.promise;
  };
}

declare const self: Worker;

/**
 * Handles, in a worker, the requests of {@link createWorkerClient}.
 *
 * @param options.isJson Whether responses are posted as JSON text.
 */
export function handleRequests<Request, Result>(
  handle: (request: Request) => Result,
  { isJson }: Pick<PostOptions, "isJson">,
): void {
  const respond = ({ id, request }: WorkerRequest<Request>): WorkerResponse<Result> => {
    try {
      return { id, result: handle(request) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { id, error: { message, code: readSystemErrorCode(error) || "UNKNOWN" } };
    }
  };
  self.addEventListener("message", ({ data }: MessageEvent<string | WorkerRequest<Request>>) => {
    const response = respond(typeof data === "string" ? JSON.parse(data) : data);
    self.postMessage(isJson ? JSON.stringify(response) : response);
  });
}
