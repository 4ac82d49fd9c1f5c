/** A thread of the process that does one order after another, and keeps no process alive. */

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

/** How a message crosses. */
interface Crossing {
  /** Whether as JSON text, which is the faster for all but long typed arrays. */
  readonly isText: boolean;
  /** What is not copied but given away. */
  readonly given?: ArrayBuffer[];
}

/**
 * Makes what gives orders to a thread, which starts with the first one.
 *
 * @param file The thread's file; it calls {@link obeyOrders}.
 * @returns Gives an order. It throws {@link ThreadError} where the thread failed at it.
 */
export function openThread<Order, Result>(file: URL) {
  const waiting = new Map<number, PromiseWithResolvers<Result>>();
  let thread: Worker | undefined;
  let lastId = 0;

  function start(): Worker {
    const started = new Worker(file.href);
    started.addEventListener("message", ({ data }: MessageEvent<string | Reply<Result>>) => {
      const reply: Reply<Result> = typeof data === "string" ? JSON.parse(data) : data;
      const asked = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (waiting.size === 0) started.unref();
      if ("result" in reply) asked?.resolve(reply.result);
      else asked?.reject(new ThreadError(reply.failure.message, reply.failure.code));
    });
    started.addEventListener("error", ({ message }) => {
      for (const { reject } of waiting.values()) reject(new Error(message));
      waiting.clear();
      if (thread === started) thread = undefined;
    });
    return started;
  }

  return (order: Order, { isText, given = [] }: Crossing): Promise<Result> => {
    const asked = Promise.withResolvers<Result>();
    const message = { id: ++lastId, order };
    thread ??= start();
    if (waiting.size === 0) thread.ref();
    waiting.set(message.id, asked);
    thread.postMessage(isText ? JSON.stringify(message) : message, given);
    return asked.promise;
  };
}

declare const self: Worker;

/** Does, in a thread, what it is ordered. */
export function obeyOrders<Order, Result>(
  work: (order: Order) => Result,
  { isText }: Pick<Crossing, "isText">,
): void {
  type Message = { readonly id: number; readonly order: Order };
  const obey = ({ id, order }: Message): Reply<Result> => {
    try {
      return { id, result: work(order) };
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN";
      const message = error instanceof Error ? error.message : String(error);
      return { id, failure: { message, code } };
    }
  };
  self.addEventListener("message", ({ data }: MessageEvent<string | Message>) => {
    const reply = obey(typeof data === "string" ? JSON.parse(data) : data);
    self.postMessage(isText ? JSON.stringify(reply) : reply);
  });
}
