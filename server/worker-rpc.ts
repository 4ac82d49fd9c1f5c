/**
 * RPC to a worker thread: the client, which starts the worker, and the handler in the worker. The
 * worker handles requests one after another. An idle worker does not keep the process running.
 */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { readSystemErrorCode } from "./system-errors.ts";

interface PostOptions {
  /** Posts JSON text, which is faster for everything but long texts and typed arrays. */
  readonly isJson: boolean;
  /** Buffers that are moved to the worker and not copied. */
  readonly transfer?: ArrayBuffer[];
}

/** A request, or its response in the same form: JSON text, or an object. */
type Message<Content> = string | { readonly content: Content };

type WorkerResponse<Result> =
  | { readonly result: Result }
  | { readonly error: { readonly message: string; readonly code: string } };

const encode = <Content>(content: Content, isJson: boolean): Message<Content> =>
  isJson ? JSON.stringify(content) : { content };

const decode = <Content>(message: Message<Content>): Content =>
  typeof message === "string" ? JSON.parse(message) : message.content;

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

/** Starts a worker; `call` sends it requests until `onEnd` is called. */
function startWorker<Request, Result>(file: URL, timeoutMs: number | undefined, onEnd: () => void) {
  assertDescriptorsAvailable();
  const worker = new Worker(file.href);
  /** The waiting callers, in the order of their requests, in which the responses come too. */
  const pending: PromiseWithResolvers<Result>[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;

  /** Starts the timeout of the next request: the worker handles requests one after another. */
  function restartTimer(): void {
    clearTimeout(timer);
    if (timeoutMs === undefined || pending.length === 0) return;
    timer = setTimeout(() => end(`The worker did not respond within ${timeoutMs} ms`), timeoutMs);
  }

  function end(reason: string): void {
    if (isEnded) return;
    isEnded = true;
    onEnd();
    for (const { reject } of pending.splice(0)) reject(new Error(reason));
    restartTimer();
    worker.terminate();
  }

  worker.addEventListener("message", ({ data }: MessageEvent<Message<WorkerResponse<Result>>>) => {
    const caller = pending.shift();
    if (pending.length === 0) worker.unref();
    restartTimer();
    try {
      const response = decode(data);
      if (!("error" in response)) caller?.resolve(response.result);
      else caller?.reject(Object.assign(new Error(response.error.message), response.error));
    } catch (error) {
      caller?.reject(error); // For example a text that is too long to be parsed.
    }
  });
  worker.addEventListener("error", ({ message }) => end(message));
  worker.addEventListener("messageerror", () => end("A response of the worker cannot be read"));
  worker.addEventListener("close", () => end("The worker thread ended"));

  function call(request: Request, options: PostOptions): Promise<Result> {
    worker.postMessage(encode(request, options.isJson), options.transfer ?? []);
    if (pending.length === 0) worker.ref();
    const caller = Promise.withResolvers<Result>();
    pending.push(caller);
    if (pending.length === 1) restartTimer();
    return caller.promise;
  }

  return { call, terminate: () => end("The worker was terminated") };
}

/**
 * Creates a client of a worker, whose file calls {@link handleRequests}. `call` sends a request. The
 * worker starts with the first request, and after it died, with the next one. `call` throws an
 * error of the worker with its message and code. It also throws if the worker died or hung, or if
 * the request or response cannot be sent. By default, a request may take any time.
 */
export function createWorkerClient<Request, Result>(
  file: URL,
  { timeoutMs }: { readonly timeoutMs?: number } = {},
) {
  let worker: ReturnType<typeof startWorker<Request, Result>> | undefined;
  return {
    async call(request: Request, options: PostOptions): Promise<Result> {
      worker ??= startWorker<Request, Result>(file, timeoutMs, () => (worker = undefined));
      return worker.call(request, options);
    },
    /** Ends the worker; the requests that wait for it fail. */
    terminate: () => worker?.terminate(),
  };
}

declare const self: Worker;

/**
 * Handles, in a worker, requests of {@link createWorkerClient}: one response each, in order. If the
 * handler is asynchronous, it must complete requests in their order.
 *
 * @param listBuffers Returns the buffers of a result that are moved and not copied.
 */
export function handleRequests<Request, Result>(
  handle: (request: Request) => Result | Promise<Result>,
  listBuffers: (result: Result) => ArrayBuffer[] = () => [],
): void {
  self.addEventListener("message", async ({ data }: MessageEvent<Message<Request>>) => {
    const post = (response: WorkerResponse<Result>, buffers: ArrayBuffer[] = []) =>
      self.postMessage(encode(response, typeof data === "string"), buffers);
    try {
      const handled = handle(decode(data));
      // Without a wait, if there is none: most handlers are synchronous, and many requests short.
      const result = handled instanceof Promise ? await handled : handled;
      post({ result }, listBuffers(result));
    } catch (error) {
      // A response that cannot be posted also ends here.
      const code = readSystemErrorCode(error) || "UNKNOWN";
      const message = error instanceof Error ? error.message : String(error);
      post({ error: { message: `${code}: ${message}`, code } });
    }
  });
  self.addEventListener("messageerror", () => {
    throw new Error("A request to the worker cannot be read");
  });
}
