/** Sends the client's requests: URLs, headers, retries, deadlines, and a cache with entity tags. */
import { readOutcome, sendOnce, type Result } from "./attempt.ts";
import { AbortError } from "./errors.ts";
import {
  assertAllowed,
  assertObject,
  checkRequestOptions,
  createIdempotencyKey,
  isTextLike,
  readClientOptions,
  type ClientOptions,
  type RequestOptions,
} from "./options.ts";
import { runtime, type AbortSignalLike } from "./runtime.ts";

/** A part of a path: literal text, or an argument by its name: `{ channel: "nasa" }`. */
export type PathSegment = string | Readonly<Record<string, string>>;

interface ApiRequest<Body> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: readonly PathSegment[];
  readonly query?: object | undefined;
  readonly body?: object;
  /** Whether a `POST` changes something: then it is not sent again after a failure. */
  readonly isChange?: boolean;
  /** Reads a field that every response has. A response without it is not of the service. */
  readonly probe: (body: Body) => unknown;
}

/** Sends a request. @throws {MetricsError | ConnectionError | AbortError | RangeError} */
export type Send = <Body>(
  request: ApiRequest<Body>,
  options?: RequestOptions,
) => Promise<Result<Body>>;

/** Creates the function that sends requests. */
export function createSend(clientOptions: ClientOptions): Send {
  const settings = readClientOptions(clientOptions);
  const { timeoutMs, deadlineMs, retries, pauseMaxMs } = settings;
  const cache = createResponseCache(settings.cachedResponses);
  const now = () => runtime.performance.now();

  return async <Body>(request: ApiRequest<Body>, options: RequestOptions = {}) => {
    const deadline = now() + deadlineMs;
    const prepared = prepareRequest(request, options, settings, cache);
    const { name, url, init, idempotencyKey } = prepared;
    const { signal } = options;
    for (let nth = 0; ; nth++) {
      const leftMs = deadline - now();
      const timeLimit =
        leftMs < timeoutMs ? `deadlineMs, ${deadlineMs} ms` : `timeoutMs, ${timeoutMs} ms`;
      const limits = { timeoutMs: Math.min(timeoutMs, leftMs), signal };
      const received = await sendOnce(settings, url, init, limits);
      if ("cause" in received && signal?.aborted === true) {
        throw new AbortError(`${name} was aborted`, { cause: signal.reason, idempotencyKey });
      }
      const isRepeat = nth > 0 || options.idempotencyKey !== undefined;
      const outcome = readOutcome({ ...prepared, isRepeat, timeLimit }, received);
      if ("result" in outcome) {
        if (request.method === "GET") cache.set(url, outcome.etag, outcome.json);
        return outcome.result;
      }
      const pauseMs = outcome.retryAfterMs ?? Math.min(computePauseMs(nth), pauseMaxMs);
      const isInTime = pauseMs <= pauseMaxMs && now() + pauseMs < deadline;
      if (!outcome.isTemporary || nth >= retries || !isInTime) throw outcome.error;
      await pause(pauseMs, signal);
      // A timer can be late. After the deadline, a response would be paid and thrown away.
      if (now() >= deadline) throw outcome.error;
    }
  };
}

function prepareRequest<Body>(
  { method, path: segments, query, body, isChange = false, probe }: ApiRequest<Body>,
  options: RequestOptions,
  { baseUrl, apiKey }: ClientOptions,
  cache: ReturnType<typeof createResponseCache>,
) {
  checkRequestOptions(options);
  const path = formatPath(segments);
  const url = baseUrl.replace(/\/+$/, "") + path + formatQuery(query);
  const isRead = !isChange && (method === "GET" || method === "POST");
  // All attempts have one key, so the service charges them once.
  const idempotencyKey = isRead ? (options.idempotencyKey ?? createIdempotencyKey()) : undefined;
  const cached = method === "GET" ? cache.get(url) : undefined;
  const init = {
    method,
    headers: {
      "x-api-key": apiKey,
      ...createUserAgentHeader(),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(cached === undefined ? {} : { "if-none-match": cached.etag }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  return { name: `${method} ${path}`, url, init, isRead, idempotencyKey, cached, probe };
}

const formatPath = (segments: readonly PathSegment[]): string =>
  segments.map((segment) => `/${formatSegment(segment)}`).join("");

/** Rejects an empty name, `.` and `..`: parsers of URLs take them for steps in the path. */
function formatSegment(segment: PathSegment): string {
  if (typeof segment === "string") return segment;
  return Object.entries(segment)
    .map(([name, value]) => {
      const isName = isTextLike(value, /^(?!\.{0,2}$)/);
      assertAllowed(name, value, isName, "text of 1 or more characters, but not . or ..");
      return encode(name, value);
    })
    .join("/");
}

/** Writes a query, with its question mark. A list of names becomes one value with commas. */
function formatQuery(query: object = {}): string {
  assertObject("query", query);
  const values = Object.entries(query).filter(([, value]) => value !== undefined);
  const pairs = values.map(([name, value]) => `${name}=${encode(name, toText(name, value))}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function toText(name: string, value: unknown): string {
  if (!Array.isArray(value)) {
    const isText = typeof value === "string" || Number.isFinite(value);
    assertAllowed(name, value, isText, "text or a number");
    return String(value);
  }
  for (const item of value) {
    const allowed = "text of 1 or more characters without commas";
    assertAllowed(`A name in ${name}`, item, isTextLike(item, /^[^,]+$/), allowed);
  }
  return value.join(",");
}

function encode(name: string, text: string): string {
  assertAllowed(name, text, text.isWellFormed(), "text without lone surrogates");
  return encodeURIComponent(text);
}

/** The name and version of the package; a test compares them with `core/package.json`. */
const USER_AGENT = "creator-metrics-core/0.1.0";

/** A browser has its own header: it ignores this one, or needs another origin's consent first. */
function createUserAgentHeader(): { readonly "user-agent"?: string } {
  const isBrowser = runtime.navigator?.userAgent?.startsWith("Mozilla/") === true;
  return isBrowser ? {} : { "user-agent": USER_AGENT };
}

/** Keeps responses by their URL. When full, drops the response that was read longest ago. */
function createResponseCache(maxEntries: number) {
  const entries = new Map<string, { readonly etag: string; readonly text: string }>();
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

/** Half of the pause is random, so that clients that failed together do not come back together. */
function computePauseMs(nth: number): number {
  const longest = Math.min(200 * 2 ** nth, 10_000);
  return longest / 2 + (Math.random() * longest) / 2;
}

/** Waits. An abort ends the pause early. */
function pause(ms: number, signal: AbortSignalLike | undefined): Promise<void> {
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
