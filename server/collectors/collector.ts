/** The interface of sources and their collectors, and the errors and results that they share. */
import type { TSchema, Static } from "@sinclair/typebox";
import { sanitizeMessage } from "../../core/text.ts";
import type { Setting } from "../settings.ts";
import type {
  TaskName,
  DiscoveredItem,
  SourceState,
  CollectionTarget,
  DueTarget,
  Platform,
} from "./targets.ts";

/** A platform's API that the service can poll: its settings, and the names that it accepts. */
export interface Source {
  /** The name of its folder, which settings, statuses and logs use. */
  readonly name: string;
  /** The name in messages. */
  readonly title: string;
  readonly platform: Platform;
  /** The setting of its URL, which is named after the source. */
  readonly url: Required<Pick<Setting, "default" | "description">>;
  /** The setting of its credential; absent for a source that needs none. */
  readonly credential?: Pick<Setting, "name" | "description">;
  /**
   * Finds out which channel a person means. Only a source of the video platform needs it.
   *
   * @returns A handle that begins with `@` and is compared without case, or an identifier.
   * @throws {DomainError} `Invalid Request`.
   */
  parseChannelName?(text: string): string;
  /** Explains why it cannot have a username; `undefined` if it can. */
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
  readonly credentials: {
    readonly headers: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
  };
  /** The quotas by name. */
  readonly buckets: Readonly<Record<string, QuotaBucket>>;
  readonly tasks: Readonly<Record<TaskName, SourceTask>>;
  /** @param now Milliseconds since 1970 UTC. */
  classifyResponse(response: SourceResponse, now: number): Classification;
}

export interface QuotaBucket {
  /** Requests of a quota day. */
  readonly unitsPerDay: number;
  /** The time zone in which the quota day begins at midnight. */
  readonly zone: "America/Los_Angeles" | "UTC";
  /** A rate limit window, which begins with its first request. */
  readonly window?: { readonly requests: number; readonly durationMs: number };
}

export interface SourceTask {
  /** Targets of one call of `poll`, at most. */
  readonly batchSize: number;
  /** The bucket that the task uses; it may use others too. */
  readonly bucket: string;
  /**
   * Polls targets, and yields results as they come. A target may have several results (the pages of
   * a long list). One invalid target does not end the task for the others.
   */
  poll(targets: readonly CollectionTarget[], context: CollectorContext): AsyncIterable<PollResult>;
}

export interface CollectorContext {
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  /** @throws {SourceError} Unless a collector handles it, the task ends. */
  request<Schema extends TSchema>(request: SourceRequest<Schema>): Promise<Static<Schema>>;
  /** Returns those of some items that are targets of `counts` already, by identifier. */
  findKnownItems(ids: readonly string[]): Promise<ReadonlyMap<string, DueTarget>>;
}

/** A GET request to a source; each one uses one unit of its bucket, by default that of its task. */
export interface SourceRequest<Schema extends TSchema> {
  readonly bucket?: string;
  /** Begins with `/` and is appended to the base URL. */
  readonly path: string;
  /** An array becomes a repeated parameter; `undefined` is left out. */
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Checks the body of the response. */
  readonly schema: Schema;
}

export interface SourceResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body; `undefined` for anything else. */
  readonly body: unknown;
}

/** The meaning of a response. Instants are milliseconds since 1970 UTC; reasons are for people. */
export type Classification =
  /** The body can be read. `pausedUntil`: the bucket has no requests left until then. */
  | { readonly kind: "ok"; readonly pausedUntil?: number | undefined }
  /** The bucket has no requests left until then. */
  | { readonly kind: "rate-limited"; readonly until: number; readonly reason: string }
  /** The source is not polled until then; `undefined`: until its settings change. */
  | { readonly kind: "stop"; readonly until: number | undefined; readonly reason: string }
  /** `not-found`: the entity does not exist. `transient`: worth a retry. `rejected`: not. */
  | {
      readonly kind: "not-found" | "transient" | "rejected";
      readonly until?: undefined;
      readonly reason: string;
    };

/** The result that a source returned for one target. */
export interface PollResult {
  readonly targetId: string;
  /** Observations in the form of import lines, not checked yet. */
  readonly observations?: readonly Readonly<Record<string, unknown>>[];
  /** Replaces the stored state of the target. */
  readonly sourceState?: SourceState;
  /** Items of the target that the service polls from now on. */
  readonly items?: readonly DiscoveredItem[];
  /**
   * Why the target could not be observed: it is gone, suspended or protected, or its data is
   * invalid. A sentence for people. The stored observations stay.
   */
  readonly failure?: string;
  /** Whether the source says that the target does not exist: the service polls it rarely then. */
  readonly isGone?: boolean;
}

/** Characters of a reason: it may repeat the source's own text, which has no limit. */
const REASON_MAX_CHARACTERS = 300;

/** Makes text from a source safe to store, log and show. */
export const formatReason = (text: string): string => sanitizeMessage(text, REASON_MAX_CHARACTERS);

/** A failed request to a source. The message is for people and never holds a credential. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  /**
   * As in {@link Classification}. `failed`: retries did not help, or the response is unusable.
   * `transient` becomes `failed` before a collector sees it.
   */
  readonly kind: Exclude<Classification["kind"], "ok"> | "failed";
  /** The end of a `rate-limited` or a `stop`, in milliseconds since 1970 UTC. */
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

/** Whether the source says that the requested entity does not exist. */
export const isNotFound = (error: unknown): error is SourceError & { kind: "not-found" } =>
  error instanceof SourceError && error.kind === "not-found";
