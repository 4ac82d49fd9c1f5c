/** The HTTP client of a source: credentials, quota, rate limits, retries, redirects and checks. */
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import pRetry from "p-retry";
import { formatInstant } from "../../../core/time.ts";
import { SourceError, type Collector, type SourceRequest } from "../collector.ts";
import { findQuotaReset, getBucket } from "../quota-budget.ts";
import type { createSourceRateLimiter } from "../rate-limiter.ts";
import type { SourceEvent } from "../source-health.ts";
import { describeSchemaError, parseWindowReset } from "./responses.ts";
import { sendRequest } from "./transport.ts";

type SendOptions = Parameters<typeof sendRequest>[1];

interface SourceClientOptions {
  readonly collector: Collector;
  readonly rateLimiter: ReturnType<typeof createSourceRateLimiter>;
  now(): number;
  /** Counts one unit of a bucket. @returns Whether the quota day had one left. */
  reserveUnit(bucket: string): Promise<boolean>;
  readonly startTimeout?: SendOptions["startTimeout"];
  readonly maxBytes?: number;
  readonly maxRetries?: number;
  readonly retryMinMs?: number;
  /** Returns the signal that ends a request, when it begins. */
  getSignal(): AbortSignal;
  /** Called when a request is retried, and when a bucket begins to pause. */
  report(event: SourceEvent): void;
}

const HEADERS = { accept: "application/json", "user-agent": "creator-metrics" };
const TIMEOUT_MS = 20_000;
const RESPONSE_MAX_BYTES = 8 * 1_048_576;
const RETRY_MIN_MS = 1000;
const RETRY_MAX_MS = 30_000;
const REDIRECTS_MAX = 3;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/** The settings refuse shorter credentials: a shorter word is a scheme such as `Bearer`. */
const SECRET_MIN_CHARACTERS = 8;

export function createSourceClient(options: SourceClientOptions) {
  const { collector, now, rateLimiter, report } = options;
  const { name: source, title } = collector.source;
  const sendOptions = createSendOptions(options);

  function pause(bucket: string, until: number, reason: string): SourceError {
    const error = new SourceError("rate-limited", reason, { until, bucket });
    if (rateLimiter.pause(bucket, until)) report({ kind: "paused", source, reason: error.message });
    return error;
  }

  const pauseUntil = (bucket: string, until: number, cause: string) =>
    pause(bucket, until, `${cause} until ${formatInstant(until)}`);

  async function acquire(bucket: string, taskBucket: string): Promise<void> {
    // The poll cycle has checked the window of the task's own bucket: only a pause stops a running
    // task.
    const readyAt =
      bucket === taskBucket
        ? rateLimiter.pausedUntil(bucket)
        : rateLimiter.readyAt(bucket, { isPaced: false });
    if (readyAt !== undefined && readyAt > now())
      throw pauseUntil(bucket, readyAt, `${title} takes no more requests`);
    rateLimiter.take(bucket);
    if (await options.reserveUnit(bucket)) return;
    const until = findQuotaReset(now(), getBucket(collector, bucket).zone);
    throw pauseUntil(bucket, until, `The day's quota ${bucket} of ${title} is spent`);
  }

  async function requestOnce<Schema extends TSchema>(
    request: SourceRequest<Schema>,
    taskBucket: string,
    signal: AbortSignal,
  ): Promise<Static<Schema>> {
    const { bucket = taskBucket } = request;
    const response = await sendFollowingRedirects(
      collector,
      request,
      { ...sendOptions, signal },
      () => acquire(bucket, taskBucket),
    );
    const error = collector.readError(response, now());
    const { window } = getBucket(collector, bucket);
    const windowEnd = window && parseWindowReset(response.headers, window, now());
    if (error === undefined) {
      if (windowEnd) pauseUntil(bucket, windowEnd, `${title} takes no more requests`);
      return parseBody(collector, request, response.body);
    }
    const { kind, message, until } = error;
    if (response.status === 429 && windowEnd && kind !== "stop")
      throw pauseUntil(bucket, windowEnd, `The window of ${title} is used up`);
    if (until === undefined) throw error;
    if (kind === "rate-limited") throw pause(bucket, until, message);
    rateLimiter.pause(bucket, until);
    throw error;
  }

  return {
    async request<Schema extends TSchema>(
      request: SourceRequest<Schema>,
      taskBucket: string,
    ): Promise<Static<Schema>> {
      const signal = options.getSignal();
      try {
        const send = () => requestOnce(request, taskBucket, signal);
        return await retryTransient(send, signal, options);
      } catch (error) {
        if (!signal.aborted) throw error;
        const { bucket = taskBucket } = request;
        throw new SourceError("rate-limited", "Collecting ends", { until: now(), bucket });
      }
    },
  };
}

function createSendOptions(options: SourceClientOptions): Omit<SendOptions, "signal"> {
  const { collector, startTimeout, maxBytes = RESPONSE_MAX_BYTES } = options;
  return {
    title: collector.source.title,
    headers: { ...HEADERS, ...collector.credentials.headers },
    timeoutMs: TIMEOUT_MS,
    startTimeout,
    maxBytes,
    redact: createRedactor(collector),
  };
}

/** Retries transient errors, which become `failed` after the last attempt. */
async function retryTransient<Result>(
  send: () => Promise<Result>,
  signal: AbortSignal,
  options: SourceClientOptions,
): Promise<Result> {
  const { maxRetries = 3, retryMinMs = RETRY_MIN_MS, report } = options;
  const source = options.collector.source.name;
  let attempts = 0;
  try {
    return await pRetry(send, {
      retries: maxRetries,
      minTimeout: retryMinMs,
      maxTimeout: RETRY_MAX_MS,
      randomize: true,
      shouldRetry: ({ error }) => isTransient(error),
      signal,
      onFailedAttempt({ error, retriesLeft }) {
        attempts++;
        if (retriesLeft === 0 || signal.aborted || !isTransient(error)) return;
        report({ kind: "retried", source, reason: error.message });
      },
    });
  } catch (error) {
    if (!isTransient(error)) throw error;
    throw new SourceError("failed", `${error.message}; it was tried ${attempts} times`);
  }
}

const isTransient = (error: unknown): error is SourceError =>
  error instanceof SourceError && error.kind === "transient";

/** Calls `acquire` before each request, redirects included. */
async function sendFollowingRedirects(
  collector: Collector,
  { path, query }: SourceRequest<TSchema>,
  sendOptions: SendOptions,
  acquire: () => Promise<void>,
) {
  let url = new URL(`${collector.baseUrl.replace(/\/+$/, "")}${path}`);
  for (const [name, value = []] of Object.entries(query)) {
    for (const item of [value].flat()) url.searchParams.append(name, item);
  }
  for (let redirects = 0; ; redirects++) {
    for (const [name, value] of Object.entries(collector.credentials.query)) {
      url.searchParams.set(name, value);
    }
    await acquire();
    const response = await sendRequest(url, sendOptions);
    const location = response.headers.get("location");
    if (location === null || !REDIRECT_STATUSES.has(response.status)) return response;
    if (redirects === REDIRECTS_MAX) {
      throw createFailedError(collector, `redirects ${path} more than ${REDIRECTS_MAX} times`);
    }
    url = resolveRedirect(collector, url, location);
  }
}

/** Resolves a redirect; credentials are sent to no other host. */
function resolveRedirect(collector: Collector, from: URL, location: string): URL {
  const url = URL.parse(location, from.href);
  if (url === null) throw createFailedError(collector, "redirects to an invalid URL");
  if (url.origin === from.origin) return url;
  const problem = `redirects to ${url.origin}, wanted to stay on ${from.origin}`;
  throw createFailedError(collector, problem);
}

function parseBody<Schema extends TSchema>(
  collector: Collector,
  { path, schema }: SourceRequest<Schema>,
  body: unknown,
): Static<Schema> {
  if (Value.Check(schema, body)) return body;
  const problem =
    body === undefined
      ? "a body that is not JSON"
      : `a malformed body ${describeSchemaError(schema, body)}`;
  throw createFailedError(collector, `answered ${path} with ${problem}`);
}

const createFailedError = ({ source }: Collector, problem: string) =>
  new SourceError("failed", `${source.title} ${problem}`);

/** Removes the credentials from text, in case the source repeats them. */
function createRedactor({ credentials }: Collector): (text: string) => string {
  const secrets = [...Object.values(credentials.headers), ...Object.values(credentials.query)]
    .flatMap((value) => value.split(" "))
    .filter((word) => word.length >= SECRET_MIN_CHARACTERS)
    .flatMap((secret) => [secret, encodeURIComponent(secret)]);
  return (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, "…"), text);
}
