/** The interface of collectors, and the errors and results that they share. */
import type { TSchema, Static } from "@sinclair/typebox";
import type {
  TaskName,
  DiscoveredItem,
  SourceState,
  CollectionTarget,
  DueTarget,
} from "./targets.ts";
import { sanitizeMessage } from "../../core/text.ts";
import type { Source } from "./source.ts";

/** An observation in the form of an import line, not checked yet. */
export type ObservationRecord = Readonly<Record<string, unknown>> & {
  readonly kind: "channel" | "short" | "user" | "tweet";
};

/** The result that a source returned for one target. */
export interface PollResult {
  readonly targetId: string;
  readonly observations?: readonly ObservationRecord[];
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

export interface QuotaBucket {
  /** Requests of a quota day. */
  readonly unitsPerDay: number;
  /** The time zone in which the quota day begins at midnight. */
  readonly zone: "America/Los_Angeles" | "UTC";
  /** A rate limit window, which begins with its first request. */
  readonly window?: { readonly requests: number; readonly durationMs: number };
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

/** A GET request to a source; each one uses one unit of its bucket. */
export interface SourceRequest<Schema extends TSchema> {
  readonly bucket: string;
  /** Begins with `/` and is appended to the base URL. */
  readonly path: string;
  /** An array becomes a repeated parameter; `undefined` is left out. */
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Checks the body of the response. */
  readonly schema: Schema;
}

export interface CollectorContext {
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  /**
   * Sends a request.
   *
   * @throws {SourceError} Unless a collector handles it, the task ends.
   */
  request<Schema extends TSchema>(request: SourceRequest<Schema>): Promise<Static<Schema>>;
  /** Returns those of some items that are targets of `counts` already, by identifier. */
  findKnownItems(ids: readonly string[]): Promise<ReadonlyMap<string, DueTarget>>;
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

/** How to reach a source. */
export interface SourceConnection {
  readonly baseUrl: string;
  /** Empty for a source that needs none. */
  readonly credential: string;
}

/** Creates the collector of a source. */
export type CreateCollector = (connection: SourceConnection) => Collector;

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

/** Characters of a reason: it may repeat the source's own text, which has no limit. */
const REASON_MAX_CHARACTERS = 300;

/** Makes text from a source safe to store, log and show. */
export function formatReason(text: string): string {
  return sanitizeMessage(text, REASON_MAX_CHARACTERS);
}

/**
 * Why a request failed, as in {@link Classification}. `failed`: retries did not help, or the
 * response is unusable. `transient` becomes `failed` before a collector sees it.
 */
type SourceErrorKind = Exclude<Classification["kind"], "ok"> | "failed";

/** A failed request to a source. The message is for people and never holds a credential. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly kind: SourceErrorKind;
  /** The end of a `rate-limited` or a `stop`, in milliseconds since 1970 UTC. */
  readonly until: number | undefined;
  /** The bucket that has no requests left, if `rate-limited`. */
  readonly bucket: string | undefined;

  constructor(
    kind: SourceErrorKind,
    message: string,
    { until, bucket }: { readonly until?: number | undefined; readonly bucket?: string } = {},
  ) {
    super(formatReason(message));
    this.kind = kind;
    this.until = until;
    this.bucket = bucket;
  }
}
