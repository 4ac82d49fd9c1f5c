/** Requests to a worker thread, which handles one after another. An idle one ends with the process. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { readSystemErrorCode } from "../../system-errors.ts";

/**
 * The id of a request, and the request or its response: as JSON text behind the id, or as an object.
 * The id of a text can be read where the rest cannot be parsed.
 */
type Message<Content> = string | { readonly id: number; readonly content: Content };

type WorkerResponse<Result> =
  | { readonly result: Result }
  | { readonly error: { readonly message: string; readonly code: string } };

function createMessage<Content>(
  id: number,
  content: Content,
  { isJson }: Pick<PostOptions, "isJson">,
): Message<Content> {
  return isJson ? `${id} ${JSON.stringify(content)}` : { id, content };
}

function readId(message: Message<unknown>): number {
  return typeof message === "string" ? Number.parseInt(message, 10) : message.id;
}

function readContent<Content>(message: Message<Content>): Content {
  if (typeof message !== "string") return message.content;
  return JSON.parse(message.slice(message.indexOf(" ")));
}

/** An error that was thrown in a worker, with its code. */
export class WorkerError extends Error {
  override readonly name = "WorkerError";
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

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
  /** Ends the worker, and rejects all callers. */
  readonly end: (reason: string) => void;
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

function startWorker<Result>(
  file: URL,
  onEnd: () => void,
  onResponse: () => void,
): RunningWorker<Result> {
  assertDescriptorsAvailable();
  const worker = new Worker(file.href);
  const pending: RunningWorker<Result>["pending"] = new Map();
  worker.addEventListener("message", ({ data }: MessageEvent<Message<WorkerResponse<Result>>>) => {
    const id = readId(data);
    const caller = pending.get(id);
    pending.delete(id);
    if (pending.size === 0) worker.unref();
    onResponse();
    try {
      const response = readContent(data);
      if ("error" in response) {
        caller?.reject(new WorkerError(response.error.message, response.error.code));
      } else caller?.resolve(response.result);
    } catch (error) {
      caller?.reject(error); // For example a text that is too long to be parsed.
    }
  });
  const end = (reason: string) => {
    onEnd();
    for (const { reject } of pending.values()) reject(new Error(reason));
    pending.clear();
    worker.terminate();
  };
  worker.addEventListener("error", ({ message }) => end(message));
  worker.addEventListener("messageerror", () => end("A response of the worker cannot be read"));
  worker.addEventListener("close", () => end("The worker thread ended"));
  return { worker, pending, end };
}

/**
 * Creates a function that sends requests to a worker. The worker starts with the first request, and
 * again with the next one after it died.
 *
 * @param file The file of the worker; it calls {@link handleRequests}.
 * @param options.timeoutMs The worker is ended if it takes longer for one request. By default it may
 * take any time: a write waits for locks and for the disk.
 * @returns Sends a request. It throws {@link WorkerError} if the worker threw, and an `Error` if the
 * worker died, hung, or if the request or the response cannot be sent.
 */
export function createWorkerClient<Request, Result>(
  file: URL,
  { timeoutMs }: { readonly timeoutMs?: number } = {},
) {
  let running: RunningWorker<Result> | undefined;
  let lastId = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Begins the time of the next request: the worker handles one after another. */
  function restartTimer(): void {
    clearTimeout(timer);
    if (timeoutMs === undefined || running === undefined || running.pending.size === 0) return;
    const { end } = running;
    timer = setTimeout(() => end(`The worker did not respond within ${timeoutMs} ms`), timeoutMs);
  }

  function getRunning(): RunningWorker<Result> {
    if (running !== undefined) return running;
    const onEnd = () => {
      if (running !== started) return;
      running = undefined;
      restartTimer();
    };
    const started = startWorker<Result>(file, onEnd, () => {
      if (running === started) restartTimer();
    });
    running = started;
    return started;
  }

  return async (request: Request, options: PostOptions): Promise<Result> => {
    const id = ++lastId;
    const message = createMessage(id, request, options);
    const { worker, pending } = getRunning();
    worker.postMessage(message, options.transfer ?? []);
    if (pending.size === 0) worker.ref();
    const caller = Promise.withResolvers<Result>();
    pending.set(id, caller);
    if (pending.size === 1) restartTimer();
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
  options: Pick<PostOptions, "isJson">,
): void {
  const post = (id: number, response: WorkerResponse<Result>) =>
    self.postMessage(createMessage(id, response, options));
  self.addEventListener("message", ({ data }: MessageEvent<Message<Request>>) => {
    const id = readId(data);
    try {
      post(id, { result: handle(readContent(data)) });
    } catch (error) {
      // A response that cannot be posted also ends here.
      const message = error instanceof Error ? error.message : String(error);
      post(id, { error: { message, code: readSystemErrorCode(error) || "UNKNOWN" } });
    }
  });
  self.addEventListener("messageerror", () => {
    throw new Error("A request to the worker cannot be read");
  });
}
