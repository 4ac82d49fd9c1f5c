/** The pauses between the attempts of a request. */
import { runtime, type AbortSignalLike, type HeadersLike } from "./runtime.ts";

/** The pause before the first retry; it doubles each time. A part of it is random. */
const FIRST_PAUSE_MS = 200;
const PAUSE_MAX_MS = 10_000;

/** An HTTP date, as servers send it today (RFC 9110, 5.6.7). `Date.parse()` takes much more. */
const HTTP_DATE = /^\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/;

/** Half of the pause is random, so that clients that failed together do not come back together. */
export function computePauseMs(nth: number): number {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** nth, PAUSE_MAX_MS);
  return longest / 2 + (Math.random() * longest) / 2;
}

/**
 * Reads `Retry-After`: whole seconds, or a date by the clock that the response has (RFC 9110,
 * 10.2.3). Anything else is as if it were missing.
 */
export function readRetryAfterMs(headers: HeadersLike): number | null {
  const value = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  if (!HTTP_DATE.test(value)) return null;
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const ms = Date.parse(value) - now;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** Waits; an abort ends it early. */
export function pause(ms: number, signal: AbortSignalLike | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      runtime.clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = runtime.setTimeout(end, ms);
    if (signal?.aborted === true) end();
    else signal?.addEventListener("abort", end);
  });
}
