/**
 * Asks a source: counts every request before it is sent, tries again what can pass, and gives the
 * collector only answers that are what they must be.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import pRetry from "p-retry";
import { findQuotaReset } from "../quota-day.ts";
import { formatInstant } from "../../../core/time.ts";
import { describeSchemaError, SOURCE_NAMES } from "./responses.ts";
import { getBucket } from "../quota-budget.ts";
import {
  NotFoundError,
  formatReason,
  SourceError,
  type Collector,
  type SourceRequest,
  type SourceResponse,
  type CollectorContext,
} from "../collector.ts";
import { readPauseEnd, type Pause } from "../circuit-breaker.ts";
import {
  TransientError,
  sendRequest,
  ResponseTooLargeError,
  type SendOptions,
  type StartTimeout,
} from "./transport.ts";

/** What a client works with. */
export interface SourceClientOptions {
  readonly collector: Collector;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  /** Counts one unit of a bucket. @returns Whether the quota day has it. */
  takeUnit(bucket: string): Promise<boolean>;
  /** How the time of a request is counted: by a timer unless told. */
  readonly startTimeout?: StartTimeout;
  /** Bytes of an answer, unpacked. */
  readonly maxBytes?: number;
  /** How often a request is sent again at most. */
  readonly maxRetries?: number;
  /** Milliseconds before it is sent again for the first time; each further time doubles it. */
  readonly retryMinMs?: number;
  /** Ends what is under way. */
  readonly signal?: AbortSignal;
  /** Told why, before a request is sent again. */
  onRetry?(reason: string): void;
}

/** Milliseconds until the last byte of an answer. */
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 8 * 1_048_576;
const MAX_RETRIES = 3;
const RETRY_MIN_MS = 1000;
const RETRY_MAX_MS = 30_000;
const MAX_REDIRECTS = 3;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/** What is shorter is no credential (the settings refuse it) but the word before one. */
const SECRET_MIN_CHARACTERS = 8;

/** Makes the client of a source. */
export function createSourceClient(options: SourceClientOptions): {
  readonly request: CollectorContext["request"];
} {
  const { collector, now, takeUnit, onRetry, maxRetries = MAX_RETRIES } = options;
  const pauses = new Map<string, Pause & { readonly failure: SourceError }>();
  const sendOptions = createSendOptions(options);

  /** Counts a unit. @throws {SourceError} `wait`: the bucket is paused or spent. */
  async function countUnit(bucket: string): Promise<void> {
    const activePause = pauses.get(bucket);
    if (activePause !== undefined && readPauseEnd(activePause, now()) !== undefined)
      throw activePause.failure;
    if (!(await takeUnit(bucket))) throw createQuotaError(collector, bucket, now());
  }

  /** Lets a bucket be asked nothing for as long as a failure says. */
  function pause(bucket: string, failure: SourceError): SourceError {
    const { until } = failure;
    if (until !== undefined) pauses.set(bucket, { from: now(), until, failure });
    return failure;
  }

  async function requestOnce<Schema extends TSchema>(
    question: SourceRequest<Schema>,
  ): Promise<Static<Schema>> {
    const { bucket } = question;
    const response = await sendFollowingRedirects(collector, question, sendOptions, countUnit);
    const classification = collector.classifyResponse(response, now());
    switch (classification.kind) {
      case "answer":
        if (classification.pausedUntil !== undefined) {
          pause(bucket, createPausedError(collector, bucket, classification.pausedUntil));
        }
        return parseResponse(collector, question, response);
      case "missing":
        throw new NotFoundError(classification.reason);
      case "wait":
      case "stop":
        throw pause(
          bucket,
          new SourceError(classification.kind, classification.reason, classification.until, bucket),
        );
      case "passing":
        throw new TransientError(classification.reason);
      case "refused":
        throw new SourceError("refused", classification.reason);
    }
  }

  return {
    async request(question) {
      let attempts = 0;
      try {
        return await pRetry(() => requestOnce(question), {
          retries: maxRetries,
          minTimeout: options.retryMinMs ?? RETRY_MIN_MS,
          maxTimeout: RETRY_MAX_MS,
          randomize: true,
          shouldRetry: ({ error }) => error instanceof TransientError,
          ...(options.signal === undefined ? {} : { signal: options.signal }),
          onFailedAttempt({ error, retriesLeft }) {
            attempts++;
            const isFinal = retriesLeft === 0 || options.signal?.aborted === true;
            if (error instanceof TransientError && !isFinal) onRetry?.(formatReason(error.message));
          },
        });
      } catch (error) {
        if (options.signal?.aborted === true) {
          throw new SourceError("wait", "Collecting ends", options.now(), question.bucket);
        }
        if (error instanceof ResponseTooLargeError) throw new SourceError("failed", error.message);
        if (!(error instanceof TransientError)) throw error;
        throw new SourceError("failed", `${error.message}; it was tried ${attempts} times`);
      }
    },
  };
}

/** What every request of a client is sent with. */
function createSendOptions({
  collector,
  startTimeout,
  maxBytes = MAX_BYTES,
  signal,
}: SourceClientOptions): SendOptions {
  return {
    sourceName: SOURCE_NAMES[collector.source],
    headers: {
      accept: "application/json",
      "user-agent": "creator-metrics",
      ...collector.credentials.headers,
    },
    timeoutMs: TIMEOUT_MS,
    startTimeout,
    maxBytes,
    signal,
    redact: createRedactor(collector),
  };
}

/** Sends a request, and follows it where it is redirected on its own host. */
async function sendFollowingRedirects(
  collector: Collector,
  { bucket, path, query }: SourceRequest<TSchema>,
  sendOptions: SendOptions,
  countUnit: (bucket: string) => Promise<void>,
): Promise<SourceResponse> {
  let url = buildUrl(collector, path, query);
  for (let redirects = 0; ; redirects++) {
    await countUnit(bucket);
    const response = await sendRequest(url, sendOptions);
    const location = response.headers.get("location");
    if (location === null || !REDIRECT_STATUSES.has(response.status)) return response;
    if (redirects === MAX_REDIRECTS) {
      throw createFailedError(collector, `redirects ${path} more than ${MAX_REDIRECTS} times`);
    }
    url = resolveRedirect(collector, url, location);
  }
}

function buildUrl(collector: Collector, path: string, query: SourceRequest<TSchema>["query"]): URL {
  const url = new URL(`${collector.baseUrl.replace(/\/+$/, "")}${path}`);
  for (const [name, value = []] of Object.entries(query)) {
    for (const item of typeof value === "string" ? [value] : value) {
      url.searchParams.append(name, item);
    }
  }
  return addCredentials(collector, url);
}

/** Where a redirect leads; what opens a source is sent to no other host. */
function resolveRedirect(collector: Collector, from: URL, location: string): URL {
  const url = URL.parse(location, from.href);
  if (url === null) throw createFailedError(collector, "redirects to what is no URL");
  if (url.origin !== from.origin) {
    throw createFailedError(
      collector,
      `redirects to ${url.origin}, wanted to stay on ${from.origin}`,
    );
  }
  return addCredentials(collector, url);
}

function addCredentials({ credentials }: Collector, url: URL): URL {
  for (const [name, value] of Object.entries(credentials.query)) url.searchParams.set(name, value);
  return url;
}

/** Gives an answer that is what it must be. */
function parseResponse<Schema extends TSchema>(
  collector: Collector,
  { path, schema }: SourceRequest<Schema>,
  { status, body }: SourceResponse,
): Static<Schema> {
  if (status < 200 || status > 299)
    throw createFailedError(collector, `answered with status ${status}`);
  if (body === undefined)
    throw createFailedError(collector, `answered ${path} with what is no JSON`);
  if (Value.Check(schema, body)) return body;
  throw createFailedError(
    collector,
    `answered ${path} wrongly ${describeSchemaError(schema, body)}`,
  );
}

function createQuotaError(collector: Collector, name: string, now: number): SourceError {
  const until = findQuotaReset(now, getBucket(collector, name).zone);
  const quota = `The day's quota ${name} of ${SOURCE_NAMES[collector.source]}`;
  return new SourceError("wait", `${quota} is spent until ${formatInstant(until)}`, until, name);
}

/** A bucket that is asked nothing more until then. */
export function createPausedError(
  { source }: Collector,
  bucket: string,
  until: number,
): SourceError {
  const reason = `${SOURCE_NAMES[source]} takes no more requests until ${formatInstant(until)}`;
  return new SourceError("wait", reason, until, bucket);
}

function createFailedError(collector: Collector, what: string): SourceError {
  const message = `${SOURCE_NAMES[collector.source]} ${what}`;
  return new SourceError("failed", message);
}

/** Takes the credentials out of a text, should the source have repeated them. */
function createRedactor({ credentials }: Collector): (text: string) => string {
  const values = [...Object.values(credentials.headers), ...Object.values(credentials.query)];
  const secrets = values
    .flatMap((value) => value.split(" "))
    .flatMap((secret) =>
      secret.length < SECRET_MIN_CHARACTERS ? [] : [secret, encodeURIComponent(secret)],
    );
  return (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, "…"), text);
}
