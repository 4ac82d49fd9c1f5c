/** Sends a request once, within a time. */
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
  /** The body; `undefined` if it is longer than allowed. */
  readonly text: string | undefined;
}

/** Why there is no response. */
export interface MissingResponse {
  readonly cause: unknown;
  /** Whether the time was over. */
  readonly isTimeout: boolean;
}

/** Sends a request once. It never throws. */
export type Attempt = (
  url: string,
  init: Omit<RequestInitLike, "redirect" | "signal">,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignalLike | undefined },
) => Promise<ReceivedResponse | MissingResponse>;

/** Creates the function that sends a request once. */
export function createAttempt(options: {
  readonly fetch: FetchLike | undefined;
  readonly responseMaxBytes: number;
}): Attempt {
  const fetchResponse: FetchLike = options.fetch ?? ((url, init) => runtime.fetch(url, init));
  const receive = async (url: string, init: RequestInitLike) => {
    const response = await fetchResponse(url, init);
    return { response, text: await readText(response, options.responseMaxBytes) };
  };
  return async (url, init, { timeoutMs, signal }) => {
    if (signal?.aborted === true) return { cause: signal.reason, isTimeout: false };
    const controller = new runtime.AbortController();
    let isTimeout = false;
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
        : runtime.setTimeout(() => {
            isTimeout = true;
            stop(new Error("Time is over"));
          }, timeoutMs);
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
      return { cause, isTimeout };
    } finally {
      runtime.clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  };
}

/** Reads a body; `undefined` if it has more bytes, then the rest of it is not read. */
async function readText(response: ResponseLike, maxBytes: number): Promise<string | undefined> {
  const reader = response.body?.getReader?.();
  if (reader === undefined) {
    const text = await response.text();
    return countBytes(text) > maxBytes ? undefined : text;
  }
  const decoder = new runtime.TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) {
      // Nobody needs to know when the connection is closed.
      reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** The bytes of a text in UTF-8. */
function countBytes(text: string): number {
  return new runtime.TextEncoder().encode(text).length;
}
