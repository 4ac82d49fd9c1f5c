/**
 * Asks a source: counts every request before it is sent, tries again what can pass, and gives the
 * collector only answers that are what they must be.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import pRetry from "p-retry";
import { nextQuotaDay } from "../../core/quota.ts";
import { formatInstant } from "../../core/time.ts";
import { faultOf, SOURCE_NAMES } from "./answers.ts";
import { bucketOf } from "./budget.ts";
import {
  NotThere,
  reasonOf,
  SourceFailure,
  type Collector,
  type Question,
  type RawAnswer,
  type Surroundings,
} from "./port.ts";
import { endOf, type Pause } from "./rests.ts";
import { Passing, send, TooLarge, type Sending, type StartTimeout } from "./transport.ts";

/** What a client works with. */
export interface ClientOptions {
  readonly collector: Collector;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  /** Counts one unit of a bucket. @returns Whether the quota day has it. */
  take(bucket: string): Promise<boolean>;
  /** How the time of a request is counted: by a timer unless told. */
  readonly startTimeout?: StartTimeout;
  /** Bytes of an answer, unpacked. */
  readonly maxBytes?: number;
  /** How often a request is sent again at most. */
  readonly retries?: number;
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
const RETRIES = 3;
const RETRY_MIN_MS = 1000;
const RETRY_MAX_MS = 30_000;
const REDIRECTS = 3;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/** What is shorter is no credential (the settings refuse it) but the word before one. */
const SECRET_MIN_CHARACTERS = 8;

/** Makes the client of a source. */
export function createClient(options: ClientOptions): { readonly ask: Surroundings["ask"] } {
  const { collector, now, take, onRetry, retries = RETRIES } = options;
  const pauses = new Map<string, Pause & { readonly failure: SourceFailure }>();
  const sending = sendingOf(options);

  /** Counts a unit. @throws {SourceFailure} `wait`: the bucket is paused or spent. */
  async function count(bucket: string): Promise<void> {
    const paused = pauses.get(bucket);
    if (paused !== undefined && endOf(paused, now()) !== undefined) throw paused.failure;
    if (!(await take(bucket))) throw spent(collector, bucket, now());
  }

  /** Lets a bucket be asked nothing for as long as a failure says. */
  function pause(bucket: string, failure: SourceFailure): SourceFailure {
    const { until } = failure;
    if (until !== undefined) pauses.set(bucket, { from: now(), until, failure });
    return failure;
  }

  async function askOnce<Schema extends TSchema>(
    question: Question<Schema>,
  ): Promise<Static<Schema>> {
    const { bucket } = question;
    const answer = await follow(collector, question, sending, count);
    const judged = collector.judge(answer, now());
    switch (judged.kind) {
      case "answer":
        if (judged.pausedUntil !== undefined) {
          pause(bucket, exhausted(collector, bucket, judged.pausedUntil));
        }
        return checked(collector, question, answer);
      case "missing":
        throw new NotThere(judged.reason);
      case "wait":
      case "stop":
        throw pause(bucket, new SourceFailure(judged.kind, judged.reason, judged.until, bucket));
      case "passing":
        throw new Passing(judged.reason);
      case "refused":
        throw new SourceFailure("refused", judged.reason);
    }
  }

  return {
    async ask(question) {
      let tries = 0;
      try {
        return await pRetry(() => askOnce(question), {
          retries,
          minTimeout: options.retryMinMs ?? RETRY_MIN_MS,
          maxTimeout: RETRY_MAX_MS,
          randomize: true,
          shouldRetry: ({ error }) => error instanceof Passing,
          ...(options.signal === undefined ? {} : { signal: options.signal }),
          onFailedAttempt({ error, retriesLeft }) {
            tries++;
            const isOver = retriesLeft === 0 || options.signal?.aborted === true;
            if (error instanceof Passing && !isOver) onRetry?.(reasonOf(error.message));
          },
        });
      } catch (error) {
        if (options.signal?.aborted === true) {
          throw new SourceFailure("wait", "Collecting ends", options.now(), question.bucket);
        }
        if (error instanceof TooLarge) throw new SourceFailure("failed", error.message);
        if (!(error instanceof Passing)) throw error;
        throw new SourceFailure("failed", `${error.message}; it was tried ${tries} times`);
      }
    },
  };
}

/** What every request of a client is sent with. */
function sendingOf({
  collector,
  startTimeout,
  maxBytes = MAX_BYTES,
  signal,
}: ClientOptions): Sending {
  return {
    to: SOURCE_NAMES[collector.source],
    headers: {
      accept: "application/json",
      "user-agent": "creator-metrics",
      ...collector.credentials.headers,
    },
    timeoutMs: TIMEOUT_MS,
    startTimeout,
    maxBytes,
    signal,
    hide: createHiding(collector),
  };
}

/** Sends a request, and follows it where it is redirected on its own host. */
async function follow(
  collector: Collector,
  { bucket, path, query }: Question<TSchema>,
  sending: Sending,
  count: (bucket: string) => Promise<void>,
): Promise<RawAnswer> {
  let url = urlOf(collector, path, query);
  for (let redirects = 0; ; redirects++) {
    await count(bucket);
    const answer = await send(url, sending);
    const location = answer.headers.get("location");
    if (location === null || !REDIRECT_STATUSES.has(answer.status)) return answer;
    if (redirects === REDIRECTS) {
      throw failed(collector, `redirects ${path} more than ${REDIRECTS} times`);
    }
    url = redirectOf(collector, url, location);
  }
}

function urlOf(collector: Collector, path: string, query: Question<TSchema>["query"]): URL {
  const url = new URL(`${collector.baseUrl.replace(/\/+$/, "")}${path}`);
  for (const [name, value = []] of Object.entries(query)) {
    for (const one of typeof value === "string" ? [value] : value) {
      url.searchParams.append(name, one);
    }
  }
  return withCredentials(collector, url);
}

/** Where a redirect leads; what opens a source is sent to no other host. */
function redirectOf(collector: Collector, from: URL, location: string): URL {
  const url = URL.parse(location, from.href);
  if (url === null) throw failed(collector, "redirects to what is no URL");
  if (url.origin !== from.origin) {
    throw failed(collector, `redirects to ${url.origin}, wanted to stay on ${from.origin}`);
  }
  return withCredentials(collector, url);
}

function withCredentials({ credentials }: Collector, url: URL): URL {
  for (const [name, value] of Object.entries(credentials.query)) url.searchParams.set(name, value);
  return url;
}

/** Gives an answer that is what it must be. */
function checked<Schema extends TSchema>(
  collector: Collector,
  { path, schema }: Question<Schema>,
  { status, body }: RawAnswer,
): Static<Schema> {
  if (status < 200 || status > 299) throw failed(collector, `answered with status ${status}`);
  if (body === undefined) throw failed(collector, `answered ${path} with what is no JSON`);
  if (Value.Check(schema, body)) return body;
  throw failed(collector, `answered ${path} wrongly ${faultOf(schema, body)}`);
}

function spent(collector: Collector, name: string, now: number): SourceFailure {
  const until = nextQuotaDay(now, bucketOf(collector, name).zone);
  const quota = `The day's quota ${name} of ${SOURCE_NAMES[collector.source]}`;
  return new SourceFailure("wait", `${quota} is spent until ${formatInstant(until)}`, until, name);
}

/** A bucket that is asked nothing more until then. */
export function exhausted({ source }: Collector, bucket: string, until: number): SourceFailure {
  const reason = `${SOURCE_NAMES[source]} takes no more requests until ${formatInstant(until)}`;
  return new SourceFailure("wait", reason, until, bucket);
}

function failed(collector: Collector, what: string): SourceFailure {
  const message = `${SOURCE_NAMES[collector.source]} ${what}`;
  return new SourceFailure("failed", message);
}

/** Takes the credentials out of a text, should the source have repeated them. */
function createHiding({ credentials }: Collector): (text: string) => string {
  const values = [...Object.values(credentials.headers), ...Object.values(credentials.query)];
  const secrets = values
    .flatMap((value) => value.split(" "))
    .flatMap((secret) =>
      secret.length < SECRET_MIN_CHARACTERS ? [] : [secret, encodeURIComponent(secret)],
    );
  return (text) => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, "…"), text);
}
