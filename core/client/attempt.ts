/** Sends a request once, within a time. */
import type { ClientOptions } from "./options.ts";
import {
  runtime,
  type AbortSignalLike,
  type FetchLike,
  type RequestInitLike,
  type ResponseLike,
} from "./runtime.ts";

/** A response whose body has arrived. */
export interface ReceivedResponse {
  readonly response: ResponseLike;
  readonly text: string;
}

/** Why there is no response. */
export interface MissingResponse {
  readonly cause: unknown;
}

/** Sends a request once. It throws only if the caller aborts. */
export type Attempt = (
  url: string,
  init: Omit<RequestInitLike, "redirect" | "signal">,
  signal: AbortSignalLike | undefined,
) => Promise<ReceivedResponse | MissingResponse>;

/** Creates the function that sends a request once. */
export function createAttempt({ timeoutMs = 30_000, fetch }: ClientOptions): Attempt {
  const fetchResponse: FetchLike = fetch ?? ((url, init) => runtime.fetch(url, init));
  const receive = async (url: string, init: RequestInitLike) => {
    const response = await fetchResponse(url, init);
    return { response, text: await response.text() };
  };
  return async (url, init, signal) => {
    throwIfAborted(signal);
    const controller = new runtime.AbortController();
    let stop: (reason: unknown) => void = () => {};
    // A `fetch` that does not know the signal must not keep the caller waiting.
    const stopped = new Promise<never>((_, reject) => {
      stop = (reason) => {
        reject(reason);
        controller.abort(reason);
      };
    });
    const abort = () => stop(signal?.reason);
    const timer =
      timeoutMs === Infinity
        ? undefined
        : runtime.setTimeout(
            () => stop(new Error(`No response within ${timeoutMs} ms`)),
            timeoutMs,
          );
    signal?.addEventListener("abort", abort);
    try {
      const received = receive(url, {
        ...init,
        // A redirect would take the key to another address.
        redirect: "manual",
        // Every runtime has its own type of a signal; this one is of the same runtime as `fetch`.
        signal: controller.signal as never,
      });
      return await Promise.race([received, stopped]);
    } catch (cause) {
      throwIfAborted(signal);
      return { cause };
    } finally {
      runtime.clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  };
}

function throwIfAborted(signal: AbortSignalLike | undefined): void {
  if (signal?.aborted === true) throw signal.reason;
}
