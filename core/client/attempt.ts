/**
 * One attempt of a request: sends it, with limits of time and size, and reads the outcome: a
 * result, or an error with whether and when the request may be sent again.
 */
import { ConnectionError, createMetricsError, TimeoutError } from "./errors.ts";
import {
  runtime,
  type AbortSignalLike,
  type FetchLike,
  type HeadersLike,
  type RequestInitLike,
  type ResponseLike,
} from "./runtime.ts";

/** A response of the service. */
export interface Result<Body> {
  /** The resource. */
  readonly body: Body;
  /** Credits charged; `null` if an earlier request with this idempotency key may have paid. */
  readonly cost: number | null;
  /** The balance after the request; `null` if the response does not say. */
  readonly creditsRemaining: number | null;
  /** The newest observation of the entity; `null` if the response does not say. */
  readonly observedAt: string | null;
  /** The id of the request in the log of the service, to give to its operator. */
  readonly requestId: string | null;
}

/** A response and its body, `undefined` if longer than allowed; or why there is no response. */
type Attempt =
  | { readonly response: ResponseLike; readonly text: string | undefined }
  | { readonly cause: unknown; readonly isTimeout: boolean };

/** Sends a request until its timeout or an abort. Never throws: returns the cause of a failure. */
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
  // A `fetch` that ignores the signal must not keep the caller waiting.
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
      // A redirect would send the API key to another address.
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

/** Reads a body. If it has more than `maxBytes`, stops reading and returns `undefined`. */
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

interface Failure {
  readonly error: Error;
  readonly isTemporary: boolean;
  readonly retryAfterMs: number | null;
}

interface SentRequest<Body> {
  readonly name: string;
  readonly isRead: boolean;
  readonly idempotencyKey: string | undefined;
  /** Whether an earlier request may have paid with the same idempotency key. */
  readonly isRepeat: boolean;
  /** The option that ends the attempt, and its value. */
  readonly timeLimit: string;
  /** The JSON of a cached response, and its entity tag. */
  readonly cached: { readonly etag: string; readonly text: string } | undefined;
  /** Reads a field that the resource always has: `undefined` or an exception means another one. */
  readonly probe: (body: Body) => unknown;
}

/** Reads the outcome of an attempt. */
export function readOutcome<Body>(
  request: SentRequest<Body>,
  received: Attempt,
):
  | Failure
  | { readonly result: Result<Body>; readonly etag: string | null; readonly json: string } {
  if ("cause" in received) return describeMissing(request, received);
  const { status, headers } = received.response;
  if (status >= 400) return readErrorResponse(request, received);
  const current = status === 304 ? request.cached?.text : undefined;
  // A browser gives a redirect the status 0.
  if (current === undefined && (status < 200 || status >= 300)) {
    const location = headers.get("location") ?? "another address";
    return fail(request, `was redirected to ${location}: correct baseUrl`, false);
  }
  const json = current ?? received.text;
  if (json === undefined) {
    return fail(request, "got a response with more bytes than responseMaxBytes", false);
  }
  const { requestId, cost, creditsRemaining } = readHeaders(request, headers);
  const isCredits = cost !== undefined && creditsRemaining !== undefined;
  if (!isCredits) return fail(request, "got credits in its headers that are no whole numbers");
  const body = parseJson<Body>(json);
  if (body === undefined) return fail(request, "got a response that is not JSON");
  if (!isResource(body, request.probe)) return fail(request, "got JSON that is not the resource");
  const observedAt = headers.get("x-observed-at");
  const paid = headers.get("x-credits-cost") === null ? 0 : cost;
  const result = { body, cost: paid, creditsRemaining, observedAt, requestId };
  return { result, etag: headers.get("etag"), json };
}

/** Creates the failure of a response that is not of the service. By default, reads are retried. */
function fail(
  { name, isRead, idempotencyKey }: SentRequest<never>,
  problem: string,
  isTemporary = isRead,
): Failure {
  const error = new ConnectionError(`${name} ${problem}`, { idempotencyKey });
  return { error, isTemporary, retryAfterMs: null };
}

function describeMissing(
  { name, isRead, idempotencyKey, timeLimit }: SentRequest<never>,
  { cause, isTimeout }: Extract<Attempt, { cause: unknown }>,
): Failure {
  const error = isTimeout
    ? new TimeoutError(`${name} got no response in time (${timeLimit})`, { idempotencyKey })
    : new ConnectionError(`${name} failed: ${String(cause)}`, { cause, idempotencyKey });
  return { error, isTemporary: isRead, retryAfterMs: null };
}

function readErrorResponse(
  request: SentRequest<never>,
  { response: { status, headers }, text = "" }: Extract<Attempt, { text: unknown }>,
): Failure {
  const { isRead, idempotencyKey } = request;
  const retryAfterMs = readRetryAfterMs(headers);
  const details = { status, headers, retryAfterMs, idempotencyKey };
  const error = createMetricsError(text, { ...details, ...readHeaders(request, headers) });
  // After 408, or from 500 on, a change may have been made: only reads are sent again.
  const isTemporary = status === 429 || (isRead && (status === 408 || status >= 500));
  return { error, isTemporary, retryAfterMs };
}

/** An HTTP date, as servers send it today (RFC 9110, 5.6.7). `Date.parse()` takes much more. */
const HTTP_DATE = /^\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/;

/** Reads `Retry-After`: seconds, or a date by the clock of the response (RFC 9110, 10.2.3). */
function readRetryAfterMs(headers: HeadersLike): number | null {
  const value = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  if (!HTTP_DATE.test(value)) return null;
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const ms = Date.parse(value) - now;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** Reads the request's id, its cost and the remaining credits; `undefined` if invalid. */
function readHeaders({ isRepeat }: SentRequest<never>, headers: HeadersLike) {
  const cost = readCredits(headers.get("x-credits-cost"));
  return {
    requestId: headers.get("x-request-id"),
    cost: isRepeat && cost === 0 ? null : cost,
    creditsRemaining: readCredits(headers.get("x-credits-remaining")),
  };
}

function readCredits(text: string | null): number | null | undefined {
  if (text === null) return null;
  const credits = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(credits) ? credits : undefined;
}

function parseJson<Body>(json: string): Body | undefined {
  try {
    // The types follow the OpenAPI document; a test compares them.
    return JSON.parse(json) as Body;
  } catch {
    return undefined;
  }
}

function isResource<Body>(body: Body, probe: (body: Body) => unknown): boolean {
  try {
    return probe(body) !== undefined;
  } catch {
    return false;
  }
}
