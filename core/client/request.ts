/** Sends the requests of the client: retries that are charged once, an ETag cache. */
import { createAttempt } from "./attempt.ts";
import { ConnectionError, createMetricsError } from "./errors.ts";
import {
  checkClientOptions,
  checkIdempotencyKey,
  createIdempotencyKey,
  type ClientOptions,
  type RequestOptions,
} from "./options.ts";
import { computePauseMs, pause, readRetryAfterMs } from "./pauses.ts";
import type { ResponseLike } from "./runtime.ts";
import { formatPath, formatQuery, type UrlQuery } from "./url.ts";

/** A response of the service. */
export interface Result<Body> {
  /** The resource. */
  readonly body: Body;
  /**
   * Credits that the response cost; 0 for what is free. `null` if an earlier request with the same
   * idempotency key has paid, whose response was lost: then nobody has told how much.
   */
  readonly cost: number | null;
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
  /** The path's segments, not encoded. */
  readonly path: readonly string[];
  readonly query?: UrlQuery;
  readonly body?: unknown;
}

/** Sends a request. @throws {MetricsError | ConnectionError | RangeError} */
export type Send = <Body>(request: ApiRequest, options?: RequestOptions) => Promise<Result<Body>>;

/** A client that would have to wait longer fails at once. */
const RETRY_AFTER_MAX_MS = 120_000;

/** A cached response as JSON, and the tag that asks whether it changed. */
interface CachedResponse {
  readonly etag: string;
  readonly text: string;
}

/** Creates the function that sends requests. */
export function createSend(options: ClientOptions): Send {
  checkClientOptions(options);
  const { baseUrl, apiKey, retries = 3, cachedResponses = 0 } = options;
  const attempt = createAttempt(options);
  const root = baseUrl.replace(/\/+$/, "");
  const cache = createCache(cachedResponses);

  return async <Body>(request: ApiRequest, { signal, idempotencyKey }: RequestOptions = {}) => {
    const { method } = request;
    const path = formatPath(request.path);
    const url = root + path + formatQuery(request.query);
    const isRead = method === "GET" || method === "POST";
    // All attempts have one key, so the service charges them once.
    const key = isRead ? (idempotencyKey ?? createIdempotencyKey()) : undefined;
    if (key !== undefined) checkIdempotencyKey(key);
    const cached = method === "GET" ? cache.get(url) : undefined;
    const init = {
      method,
      headers: {
        "x-api-key": apiKey,
        ...(key === undefined ? {} : { "idempotency-key": key }),
        ...(request.body === undefined ? {} : { "content-type": "application/json" }),
        ...(cached === undefined ? {} : { "if-none-match": cached.etag }),
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    };
    const createConnectionError = (problem: string, cause?: unknown) =>
      new ConnectionError(`${method} ${path} ${problem}`, { cause, idempotencyKey: key });
    // Without a status or with 500 and above, nobody knows what became of a change.
    const isRepeatable = (status = 500) => status === 429 || (isRead && status >= 500);

    for (let nth = 0; ; nth++) {
      const outcome = await attempt(url, init, signal);
      const received = "cause" in outcome ? undefined : outcome;
      const pauseMs = (received && readRetryAfterMs(received.response)) ?? computePauseMs(nth);
      if (
        nth < retries &&
        isRepeatable(received?.response.status) &&
        pauseMs <= RETRY_AFTER_MAX_MS
      ) {
        await pause(pauseMs, signal);
        continue;
      }
      if ("cause" in outcome) {
        throw createConnectionError(`failed: ${String(outcome.cause)}`, outcome.cause);
      }
      const { response, text } = outcome;
      const { status, headers } = response;
      const isCurrent = status === 304 && cached !== undefined;
      const credits = readCredits(response, nth > 0 || idempotencyKey !== undefined);
      const requestId = headers.get("x-request-id");
      if (status >= 400) {
        throw createMetricsError(text, { status, requestId, ...credits, idempotencyKey: key });
      }
      // A browser gives a redirect the status 0.
      if (!isCurrent && (status < 200 || status >= 300)) {
        const location = headers.get("location") ?? "another address";
        throw createConnectionError(`was redirected to ${location}: correct baseUrl`);
      }
      const json = isCurrent ? cached.text : text;
      let body: Body;
      try {
        // The types follow the OpenAPI document; a test compares them.
        body = JSON.parse(json) as Body;
      } catch (cause) {
        throw createConnectionError("got a response that is not JSON", cause);
      }
      if (method === "GET") cache.set(url, headers.get("etag"), json);
      const { cost = 0, creditsRemaining } = credits;
      return { body, cost, creditsRemaining, observedAt: headers.get("x-observed-at"), requestId };
    }
  };
}

/**
 * Reads what a response cost, and what is left.
 *
 * @param isRepeat Whether an earlier request may have paid with the same idempotency key.
 */
function readCredits({ headers }: ResponseLike, isRepeat: boolean) {
  const cost = headers.get("x-credits-cost");
  const remaining = headers.get("x-credits-remaining");
  return {
    ...(cost === null ? {} : { cost: isRepeat && cost === "0" ? null : Number(cost) }),
    creditsRemaining: remaining === null ? null : Number(remaining),
  };
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
