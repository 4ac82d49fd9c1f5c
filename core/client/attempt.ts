/** Sends a request once, within a time. */
import {
  runtime,
  type AbortSignalLike,
  type FetchLike,
  type RequestInitLike,
  type ResponseLike,
} from "./runtime.ts";

/** A response with its body, which is `undefined` if it is longer than allowed; or why there is none. */
export type Attempt =
  | { readonly response: ResponseLike; readonly text: string | undefined }
  | { readonly cause: unknown; readonly isTimeout: boolean };

/** Sends a request once. It never throws. */
export async function sendOnce(
  options: { readonly fetch?: FetchLike | undefined; readonly responseMaxBytes: number },
  url: string,
  init: Omit<RequestInitLike, "redirect" | "signal">,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignalLike | undefined },
): Promise<Attempt> {
  if (signal?.aborted === true) return { cause: signal.reason, isTimeout: false };
  const { fetch = (...request) => runtime.fetch(...request) } = options;
  const receive = async (request: RequestInitLike) => {
    const response = await fetch(url, request);
    return { response, text: await readText(response, options.responseMaxBytes) };
  };
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
    const received = receive({
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
}

/** Reads a body; `undefined` if it has more bytes, then the rest of it is not read. */
async function readText(response: ResponseLike, maxBytes: number): Promise<string | undefined> {
  const reader = response.body?.getReader?.();
  if (reader === undefined) {
    const text = await response.text();
    return new runtime.TextEncoder().encode(text).length > maxBytes ? undefined : text;
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
