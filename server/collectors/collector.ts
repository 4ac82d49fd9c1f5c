/**
 * What collectors and the engine agree on: sources, tasks, targets, requests, results and errors.
 * Instants are milliseconds since 1970 UTC.
 */
import type { TSchema, Static } from "@sinclair/typebox";
import { sanitizeMessage } from "../../core/text.ts";
import type { Setting } from "../settings.ts";

export type Platform = "video" | "microblog";

/** A task polls an owner (`profile`), its list of items (`items`), or their counts (`counts`). */
export const TASK_NAMES = ["profile", "items", "counts"] as const;
export type TaskName = (typeof TASK_NAMES)[number];

/** Values that a source returned and needs in later requests for the same target. */
export type SourceState = Readonly<Record<string, string>>;

export interface CollectionTarget {
  /** A channel (`@handle` or identifier), a username in lower case, or an item's identifier. */
  readonly id: string;
  /** Empty before the first poll. */
  readonly sourceState: SourceState;
  /** `counts`: the `id` of the `items` target that lists the item; else `null`. */
  readonly owner: string | null;
}

export interface DueTarget extends CollectionTarget {
  readonly dueAt: number;
  readonly succeededAt: number | null;
  /** When the item was published; for `items`, the newest known item. */
  readonly publishedAt: number | null;
  /** Failures since the last success. */
  readonly failures: number;
}

export interface DiscoveredItem {
  readonly id: string;
  readonly publishedAt: number;
  readonly sourceState?: SourceState;
}

/** A platform's API: its settings, and the names that it accepts. */
export interface Source {
  /** The name of the source's folder, which settings, statuses and logs use too. */
  readonly name: string;
  /** The name in messages. */
  readonly title: string;
  readonly platform: Platform;
  readonly url: Required<Pick<Setting, "default" | "description">>;
  /** The setting of its credential; absent for a source that needs none. */
  readonly credential?: Pick<Setting, "name" | "description">;
  /**
   * Parses a video channel's name to a handle, which begins with `@` and is compared without case,
   * or to an identifier. @throws {DomainError} `Invalid Request`.
   */
  parseChannelName?(text: string): string;
  explainInvalidUsername?(username: string): string | undefined;
}

/** @param credential Empty for a source that needs none. */
export type CreateCollector = (connection: {
  readonly baseUrl: string;
  readonly credential: string;
}) => Collector;

/** How a source is reached, what it allows, and how its tasks are done. */
export interface Collector {
  readonly source: Source;
  readonly baseUrl: string;
  /** Headers and query parameters of every request. Nothing else holds credentials. */
  readonly credentials: Readonly<Record<"headers" | "query", Readonly<Record<string, string>>>>;
  readonly buckets: Readonly<Record<string, QuotaBucket>>;
  readonly tasks: Readonly<Record<TaskName, SourceTask>>;
  /** @param now Milliseconds since 1970 UTC. @returns `undefined` if the body can be read. */
  readError(response: SourceResponse, now: number): SourceError | undefined;
}

export interface QuotaBucket {
  readonly unitsPerDay: number;
  /** The time zone in which the quota day begins at midnight. */
  readonly zone: "America/Los_Angeles" | "UTC";
  /**
   * A rate limit window, which begins with its first request. Its headers `-remaining`, and
   * `-reset` in Unix seconds, have the prefix.
   */
  readonly window?: {
    readonly requests: number;
    readonly durationMs: number;
    readonly headerPrefix: string;
  };
}

interface SourceTask {
  readonly batchSize: number;
  readonly bucket: string;
  poll(targets: readonly CollectionTarget[], context: CollectorContext): AsyncIterable<PollResult>;
}

export interface CollectorContext {
  now(): number;
  /** @throws {SourceError} Unless a collector handles it, the task ends. */
  request<Schema extends TSchema>(request: SourceRequest<Schema>): Promise<Static<Schema>>;
  /** Returns the given items that are targets of `counts` already, by identifier. */
  findKnownItems(ids: readonly string[]): Promise<ReadonlyMap<string, DueTarget>>;
}

/** A GET request to a source. It uses one unit of its bucket, by default the bucket of its task. */
export interface SourceRequest<Schema extends TSchema> {
  readonly bucket?: string;
  /** Begins with `/` and is appended to the base URL. */
  readonly path: string;
  /** An array becomes a repeated parameter; `undefined` is left out. */
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly schema: Schema;
}

export interface SourceResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body; `undefined` for anything else. */
  readonly body: unknown;
}

export interface PollResult {
  readonly targetId: string;
  /** Observations in the form of import lines, not checked yet. */
  readonly observations?: readonly Readonly<Record<string, unknown>>[];
  readonly sourceState?: SourceState;
  readonly items?: readonly DiscoveredItem[];
  /** Why the target could not be observed, for people. The stored observations stay. */
  readonly failure?: string;
  /** Whether the target does not exist: the service then polls it rarely. */
  readonly isGone?: boolean;
}

/** Makes text safe to store, log and show: it may quote text of any length from the source. */
export const formatReason = (text: string): string => sanitizeMessage(text, 300);

/** A failed request to a source. The message is for people and never holds a credential. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  /**
   * `rate-limited`: the bucket has no requests left. `stop`: the source is not polled. `not-found`:
   * the entity does not exist. `transient`: worth a retry; becomes `failed` before a collector sees
   * it. `rejected`: not worth a retry. `failed`: retries did not help, or the response is unusable.
   */
  readonly kind: "rate-limited" | "stop" | "not-found" | "transient" | "rejected" | "failed";
  /** The end of a `rate-limited` or a `stop`; `undefined` for a stop until the settings change. */
  readonly until: number | undefined;
  /** The bucket that has no requests left, if `rate-limited`. */
  readonly bucket: string | undefined;

  constructor(
    kind: SourceError["kind"],
    message: string,
    { until, bucket }: { readonly until?: number | undefined; readonly bucket?: string } = {},
  ) {
    super(formatReason(message));
    this.kind = kind;
    this.until = until;
    this.bucket = bucket;
  }
}

export const isNotFound = (error: unknown): error is SourceError & { kind: "not-found" } =>
  error instanceof SourceError && error.kind === "not-found";
