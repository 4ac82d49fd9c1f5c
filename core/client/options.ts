/** The options of a client and of a request, and what they may be. */
import { assertAllowed } from "./errors.ts";
import { runtime, type AbortSignalLike, type FetchLike } from "./runtime.ts";

/** Options of a client. */
export interface ClientOptions {
  /** Where the service is: `https://metrics.example.com`. It follows no redirects. */
  readonly baseUrl: string;
  /** An API key of the service, `cm_…`. */
  readonly apiKey: string;
  /** By default the runtime's `fetch`. */
  readonly fetch?: FetchLike | undefined;
  /** How long an attempt may take, in milliseconds; 30 seconds by default, at most 24 days or `Infinity`. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is repeated at most; 3 times by default. */
  readonly retries?: number | undefined;
  /** How many responses are kept, to be sent again only if they changed; none by default. */
  readonly cachedResponses?: number | undefined;
}

/** Options of a request. */
export interface RequestOptions {
  /** Aborts the request and its retries. */
  readonly signal?: AbortSignalLike | undefined;
  /**
   * Reads with the same key are charged once within 24 hours; by default, each read has its own. In a
   * list it is the key of the first page. Changes have none.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The longest pause of a timer; a longer one ends at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** @throws {RangeError} For options that no request can be sent with. */
export function checkClientOptions(options: ClientOptions): void {
  const { baseUrl, apiKey, timeoutMs = 1, retries = 0, cachedResponses = 0 } = options;
  assertAllowed(
    "baseUrl",
    baseUrl,
    isHttpUrl(baseUrl),
    "an http or https URL without user, query and #",
  );
  // A message does not show the key.
  assertAllowed(
    "apiKey",
    undefined,
    /^[\x21-\x7e]*$/.test(apiKey),
    "ASCII characters without spaces",
  );
  const isTime = timeoutMs > 0 && (timeoutMs <= TIMER_MAX_MS || timeoutMs === Infinity);
  assertAllowed("timeoutMs", timeoutMs, isTime, `above 0, and at most ${TIMER_MAX_MS} or Infinity`);
  assertAllowed("retries", retries, isCount(retries), COUNT);
  assertAllowed("cachedResponses", cachedResponses, isCount(cachedResponses), COUNT);
}

const COUNT = "a whole number from 0";

const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;

function isHttpUrl(text: string): boolean {
  try {
    return /^https?:\/\/[^/?#@]+(\/[^?#]*)?$/i.test(text) && Boolean(new runtime.URL(text));
  } catch {
    return false;
  }
}

/** @throws {RangeError} For a key that the service refuses. */
export function checkIdempotencyKey(key: string): void {
  const isKey = /^[\x21-\x7e]{1,255}$/.test(key);
  assertAllowed("idempotencyKey", key, isKey, "1 to 255 ASCII characters without spaces");
}

/** Creates an idempotency key of 128 random bits. Pages without TLS have no `randomUUID()`. */
export function createIdempotencyKey(): string {
  const bytes = runtime.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
