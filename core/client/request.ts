/** Sends the requests of the client: timeouts, retries that are charged once, an ETag cache. */
import { ConnectionError, createMetricsError } from "./errors.ts";
import { runtime, type AbortSignalLike, type FetchLike, type ResponseLike } from "./runtime.ts";

/** Options of a client. */
export interface ClientOptions {
  /** Where the service is: `https://metrics.example.com`. */
  readonly baseUrl: string;
  /** An API key of the service, `cm_…`. */
  readonly apiKey: string;
  /** By default the runtime's `fetch`. */
  readonly fetch?: FetchLike;
  /** How long an attempt may take, in milliseconds; 30 seconds by default. */
  readonly timeoutMs?: number;
  /** How often a request is repeated at most; 3 times by default. */
  readonly retries?: number;
  /** How many responses are kept, to be sent again only if they changed; none by default. */
  readonly cachedResponses?: number;
}

/** Options of a request. */
export interface RequestOptions {
  /** Aborts the request and its retries. */
  readonly signal?: AbortSignalLike;
}

/** A response of the service. */
export interface Result<Body> {
  /** The resource. */
  readonly body: Body;
  /** Credits that the response cost; 0 for what is free. */
  readonly cost: number;
  /** The balance after it; `null` if the response does not say. */
  readonly creditsRemaining: number | null;
  /** The newest observation of the entity; `null` if the response does not say. */
  readonly observedAt: string | null;
  /** What to tell the operator of the service. */
  readonly requestId: string | null;
}

/** A request of the service's API. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
}

/** Sends a request. @throws {MetricsError | ConnectionError} */
export type Send = <Body>(request: ApiRequest, options?: RequestOptions) => Promise<Result<Body>>;

const RETRIED_STATUSES: readonly number[] = [429, 500, 502, 503, 504];

/** Statuses of requests that the service did not carry out. */
const REFUSED_STATUSES: readonly number[] = [429, 503];

/** The pause before the first retry; it doubles each time. A part of it is random. */
const FIRST_PAUSE_MS = 200;
const PAUSE_MAX_MS = 10_000;

/** A client that would have to wait longer fails at once. Longer than 24 days, timers end at once. */
const RETRY_AFTER_MAX_MS = 120_000;

/** A cached response as JSON, and the tag that asks whether it changed. */
interface CachedResponse {
  readonly etag: string;
  readonly text: string;
}

/** Creates the function that sends requests. */
export function createSend(options: ClientOptions): Send {
  const { baseUrl, apiKey, retries = 3, cachedResponses = 0 } = options;
  const attempt = createAttempt(options);
  const root = baseUrl.replace(/\/+$/, "");
  const cache = createCache(cachedResponses);

  return async <Body>(request: ApiRequest, { signal }: RequestOptions = {}) => {
    const url = root + request.path + formatQuery(request.query);
    const isRead = request.method === "GET" || request.method === "POST";
    const isCacheable = request.method === "GET";
    const cached = isCacheable ? cache.get(url) : undefined;
    const headers: Record<string, string> = {
      "x-api-key": apiKey,
      // All attempts have one key, so the service charges them once.
      ...(isRead ? { "idempotency-key": runtime.crypto.randomUUID() } : {}),
      ...(request.body === undefined ? {} : { "content-type": "application/json" }),
      ...(cached === undefined ? {} : { "if-none-match": cached.etag }),
    };
    for (let nth = 0; ; nth++) {
      const outcome = await attempt(request, url, headers, signal);
      if (outcome instanceof ConnectionError) {
        // Whether a change was carried out is not known, so it is not repeated.
        if (nth >= retries || !isRead) throw outcome;
        await pause(computePauseMs(nth), signal);
        continue;
      }
      const { response, text } = outcome;
      const { status } = response;
      const isCurrent = status === 304 && cached !== undefined;
      if (isCurrent || (status >= 200 && status < 300)) {
        const json = isCurrent ? cached.text : text;
        const result = toResult<Body>(request, response, json);
        if (isCacheable) cache.set(url, response.headers.get("etag"), json);
        return result;
      }
      const retried = isRead ? RETRIED_STATUSES : REFUSED_STATUSES;
      const pauseMs = readRetryAfterMs(response) ?? computePauseMs(nth);
      if (nth >= retries || !retried.includes(status) || pauseMs > RETRY_AFTER_MAX_MS) {
        throw createMetricsError(status, text, response.headers.get("x-request-id"));
      }
      await pause(pauseMs, signal);
    }
  };
}

/** A response whose body has arrived. */
interface ReceivedResponse {
  readonly response: ResponseLike;
  readonly text: string;
}

/**
 * Creates the function that sends a request once.
 *
 * @returns The response, or why there is none. It throws only if the caller aborts.
 */
function createAttempt({ timeoutMs = 30_000, fetch }: ClientOptions) {
  const fetchResponse: FetchLike = fetch ?? ((url, init) => runtime.fetch(url, init));
  return async (
    { method, path, body }: ApiRequest,
    url: string,
    headers: Record<string, string>,
    signal: AbortSignalLike | undefined,
  ): Promise<ReceivedResponse | ConnectionError> => {
    throwIfAborted(signal);
    const controller = new runtime.AbortController();
    const abort = () => controller.abort(signal?.reason);
    const timer = runtime.setTimeout(
      () => controller.abort(new Error(`No response within ${timeoutMs} ms`)),
      timeoutMs,
    );
    signal?.addEventListener("abort", abort);
    try {
      const response = await fetchResponse(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // Every runtime has its own type of a signal; this one is of the same runtime as `fetch`.
        signal: controller.signal as never,
      });
      return { response, text: await response.text() };
    } catch (cause) {
      throwIfAborted(signal);
      return new ConnectionError(`${method} ${path} failed: ${String(cause)}`, { cause });
    } finally {
      runtime.clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  };
}

function throwIfAborted(signal: AbortSignalLike | undefined): void {
  if (signal?.aborted === true) throw signal.reason;
}

/** Creates a cache of responses by their URL; the one that was read longest ago is dropped first. */
function createCache(maxEntries: number) {
  const entries = new Map<string, CachedResponse>();
  return {
    get: (url: string) => entries.get(url),
    set(url: string, etag: string | null, text: string): void {
      if (maxEntries === 0 || etag === null) return;
      entries.delete(url);
      entries.set(url, { etag, text });
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
    },
  };
}

/** @throws {ConnectionError} If the body is not JSON: then the response is not of the service. */
function toResult<Body>(
  { method, path }: ApiRequest,
  { headers }: ResponseLike,
  json: string,
): Result<Body> {
  const remaining = headers.get("x-credits-remaining");
  return {
    body: parseBody<Body>(json, `${method} ${path}`),
    cost: Number(headers.get("x-credits-cost") ?? 0),
    creditsRemaining: remaining === null ? null : Number(remaining),
    observedAt: headers.get("x-observed-at"),
    requestId: headers.get("x-request-id"),
  };
}

function parseBody<Body>(json: string, request: string): Body {
  try {
    // The types follow the OpenAPI document; a test compares them.
    return JSON.parse(json) as Body;
  } catch (cause) {
    throw new ConnectionError(`${request} got a response that is not JSON`, { cause });
  }
}

function formatQuery(query: ApiRequest["query"] = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** Half of the pause is random, so that clients that failed together do not come back together. */
function computePauseMs(nth: number): number {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** nth, PAUSE_MAX_MS);
  return longest / 2 + (Math.random() * longest) / 2;
}

/** Reads `Retry-After`: seconds, or a date by the clock that the response has (RFC 9110, 10.2.3). */
function readRetryAfterMs({ headers }: ResponseLike): number | undefined {
  const value = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const ms = Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Waits; an abort ends it. */
function pause(ms: number, signal: AbortSignalLike | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      runtime.clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = runtime.setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener("abort", abort);
  });
}
