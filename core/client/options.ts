/** Options of a client and of a request: defaults, checks of arguments, new idempotency keys. */
import { runtime, type AbortSignalLike, type FetchLike } from "./runtime.ts";

/** Options of a client. */
export interface ClientOptions {
  /** The URL of the service: `https://metrics.example.com`. The client follows no redirects. */
  readonly baseUrl: string;
  /** An API key of the service, `cm_…`. */
  readonly apiKey: string;
  /** The function that sends requests; by default, the `fetch` of the runtime. */
  readonly fetch?: FetchLike | undefined;
  /** Milliseconds that an attempt may take; 30,000 by default, at most 24 days or `Infinity`. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for a call or page with its retries; at most 24 days, or `Infinity` (default). */
  readonly deadlineMs?: number | undefined;
  /** How often a request is repeated at most; 3 times by default. */
  readonly retries?: number | undefined;
  /**
   * The longest pause between two attempts, in milliseconds; 2 minutes by default. If the service
   * asks for a longer one, the call fails at once, with its `retryAfterMs`.
   */
  readonly pauseMaxMs?: number | undefined;
  /** How many bytes a response may have, unpacked; 128 MiB by default. */
  readonly responseMaxBytes?: number | undefined;
  /** How many responses are cached: the service resends only changed ones; none by default. */
  readonly cachedResponses?: number | undefined;
}

/** Options of a request. */
export interface RequestOptions {
  /** Aborts the request and its retries: the call rejects with an `AbortError`. */
  readonly signal?: AbortSignalLike | undefined;
  /**
   * The first read with a key is charged, and up to 10 repeats within 24 hours are free. Without
   * this option, each read has a key of its own. A list uses it for its first page; changes, never.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The longest delay of a timer: a timer with a longer delay fires at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Checks the options of a client, and fills in the defaults. */
export function readClientOptions(options: ClientOptions): ClientOptions & {
  readonly [Name in Exclude<keyof ClientOptions, "fetch">]-?: NonNullable<ClientOptions[Name]>;
} {
  assertObject("options", options);
  const {
    baseUrl,
    apiKey,
    fetch,
    timeoutMs = 30_000,
    deadlineMs = Infinity,
    retries = 3,
    pauseMaxMs = 120_000,
    responseMaxBytes = 2 ** 27,
    cachedResponses = 0,
  } = options;
  const urlAllowed = "an http or https URL without user, query and #";
  assertAllowed("baseUrl", baseUrl, isHttpUrl(baseUrl), urlAllowed);
  // A message does not show the key.
  const shownKey = typeof apiKey === "string" ? apiKey && "…" : apiKey;
  const isKey = isTextLike(apiKey, /^[\x21-\x7e]+$/);
  assertAllowed("apiKey", shownKey, isKey, "1 or more ASCII characters without spaces");
  assertAllowed("fetch", fetch, ["undefined", "function"].includes(typeof fetch), "a function");
  for (const [name, value] of Object.entries({ timeoutMs, deadlineMs })) {
    const isTime = value > 0 && (isTimerMs(value) || value === Infinity);
    assertAllowed(name, value, isTime, `above 0, and at most ${TIMER_MAX_MS} or Infinity`);
  }
  const pauseAllowed = `a number from 0 to ${TIMER_MAX_MS}`;
  assertAllowed("pauseMaxMs", pauseMaxMs, isTimerMs(pauseMaxMs), pauseAllowed);
  for (const [name, value] of Object.entries({ retries, responseMaxBytes, cachedResponses })) {
    const isCount = Number.isSafeInteger(value) && value >= 0;
    assertAllowed(name, value, isCount, "a whole number from 0");
  }
  const limits = { timeoutMs, deadlineMs, retries, pauseMaxMs, responseMaxBytes, cachedResponses };
  return { baseUrl, apiKey, fetch, ...limits };
}

const isTimerMs = (value: unknown) =>
  typeof value === "number" && value >= 0 && value <= TIMER_MAX_MS;

function isHttpUrl(url: string): boolean {
  try {
    return isTextLike(url, /^https?:\/\/[^/?#@]+(\/[^?#]*)?$/i) && Boolean(new runtime.URL(url));
  } catch {
    return false;
  }
}

/** @throws {RangeError} For options that no request can be sent with. */
export function checkRequestOptions(options: RequestOptions): void {
  assertObject("options", options);
  const { signal, idempotencyKey: key } = options;
  const isSignal = signal === undefined || typeof signal?.addEventListener === "function";
  assertAllowed("signal", signal, isSignal, "an AbortSignal");
  const isKey = key === undefined || isTextLike(key, /^[\x21-\x7e]{1,255}$/);
  assertAllowed("idempotencyKey", key, isKey, "1 to 255 ASCII characters without spaces");
}

/** Creates an idempotency key of 128 random bits. Pages without TLS have no `randomUUID()`. */
export function createIdempotencyKey(): string {
  const bytes = runtime.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @throws {RangeError} For a value that is not allowed. The message names the argument. */
export function assertAllowed(
  name: string,
  value: unknown,
  isAllowed: boolean,
  allowed: string,
): void {
  if (isAllowed) return;
  // `String()` fails for some objects, so their type is shown.
  const isObject = Object(value) === value;
  const shown = isObject ? `a value of type ${typeof value}` : String(value);
  const got = typeof value === "string" ? JSON.stringify(value) : shown;
  throw new RangeError(`${name} must be ${allowed}, got ${got}`);
}

/** @throws {RangeError} For a value that is no object. */
export function assertObject(name: string, value: unknown): void {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  assertAllowed(name, value, isObject, "an object");
}

/** Whether a value is text that matches a pattern. */
export const isTextLike = (value: unknown, pattern: RegExp): boolean =>
  typeof value === "string" && pattern.test(value);
