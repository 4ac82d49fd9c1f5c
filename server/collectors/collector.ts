/**
 * The port of the collectors: what a source is asked, and what it tells. One file for each
 * platform implements it; who asks knows nothing of platforms.
 */
import type { TSchema, Static } from "@sinclair/typebox";
import type {
  TaskName,
  DiscoveredItem,
  SourceState,
  Platform,
  CollectionTarget,
} from "../ports/targets.ts";
import { sanitizeMessage } from "../../core/text.ts";

/** The sources, each by the name of its file. */
export const SOURCES = ["youtube", "x", "bluesky"] as const;

/** A source. */
export type Source = (typeof SOURCES)[number];

/** An observation as a line of an import has it; it is checked as one. */
export type ObservationRecord = Readonly<Record<string, unknown>> & {
  readonly kind: "channel" | "short" | "user" | "tweet";
};

/** What a source told of one target. */
export interface PollResult {
  /** The target's `id`. */
  readonly target: string;
  readonly observations?: readonly ObservationRecord[];
  /** What to remember of the target, in place of what was. */
  readonly sourceState?: SourceState;
  /** Items of the target that are to be observed from now on. */
  readonly items?: readonly DiscoveredItem[];
  /**
   * Why the target could not be observed: it is gone, suspended, protected, or what was told of it
   * cannot be believed. A sentence for people; nothing is stored of it, and nothing that was is
   * touched.
   */
  readonly failure?: string;
  /** Whether the source said that it is not there: it is asked again only seldom. */
  readonly isGone?: boolean;
}

/** How much a source lets itself be asked. */
export interface QuotaBucket {
  /** Units of a quota day; every request is one. */
  readonly unitsPerDay: number;
  /** Where the quota's day begins at midnight. */
  readonly zone: "America/Los_Angeles" | "UTC";
  /** Requests of a window that begins with the first of them. */
  readonly window?: { readonly requests: number; readonly ms: number };
}

/** An answer that is not 2xx, or a 2xx one that may be a refusal. */
export interface SourceResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body; `undefined` where it has none. */
  readonly body: unknown;
}

/** What an answer means to the source as a whole. */
export type Classification =
  /** It is an answer; nothing more is asked of the bucket until then, where that is told. */
  | { readonly kind: "answer"; readonly pausedUntil?: number | undefined }
  /** What was asked for is not there; the sentence says what. */
  | { readonly kind: "missing"; readonly reason: string }
  /** Nothing more is asked of the bucket until then, in milliseconds since 1970 UTC. */
  | { readonly kind: "wait"; readonly until: number; readonly reason: string }
  /** Nothing more is asked of the source: until then, or until its settings change. */
  | { readonly kind: "stop"; readonly until: number | undefined; readonly reason: string }
  /** It can pass: it is tried again. */
  | { readonly kind: "passing"; readonly reason: string }
  /** Trying again would not help. */
  | { readonly kind: "refused"; readonly reason: string };

/** One request; it is counted before it is sent. */
export interface SourceRequest<Schema extends TSchema> {
  readonly bucket: string;
  /** Behind the base URL, beginning with `/`. */
  readonly path: string;
  /** An array is a parameter that comes more than once; `undefined` is left out. */
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** What an answer must be to be believed. */
  readonly schema: Schema;
}

/** What a collector works with. */
export interface CollectorContext {
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  /**
   * Asks the source.
   *
   * @throws {NotFoundError} The source says that what was asked for is not there.
   * @throws {SourceError} It could not be asked, or did not answer as it should. What a collector
   * does not catch ends its errand, and the runner deals with it.
   */
  request<Schema extends TSchema>(question: SourceRequest<Schema>): Promise<Static<Schema>>;
  /** Those of some items that are observed already, with what is remembered of each. */
  findKnownItems(ids: readonly string[]): Promise<ReadonlyMap<string, SourceState>>;
}

/** An errand, as a source does it. */
export interface SourceTask {
  /** How many targets it takes in one go. */
  readonly batchSize: number;
  /** Which bucket it draws on. */
  readonly bucket: string;
  /**
   * Runs it for some targets. What it found is told as it comes, target by target; a target may be
   * told of more than once (the pages of a long listing). One bad target never ends the errand for
   * the others.
   */
  poll(
    targets: readonly CollectionTarget[],
    surroundings: CollectorContext,
  ): AsyncIterable<PollResult>;
}

/** A source, as the runner knows it. */
export interface Collector {
  readonly source: Source;
  readonly platform: Platform;
  readonly baseUrl: string;
  /** Sent with every request: headers, and query parameters. Credentials are only here. */
  readonly credentials: {
    readonly headers: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
  };
  /** By name. */
  readonly buckets: Readonly<Record<string, QuotaBucket>>;
  readonly tasks: Readonly<Record<TaskName, SourceTask>>;
  /**
   * What an answer means.
   *
   * @param now Milliseconds since 1970 UTC.
   */
  classifyResponse(answer: SourceResponse, now: number): Classification;
}

/** The source says that what was asked for is not there. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}

/** Characters of a reason at most: it may repeat what a source said. */
const REASON_MAX_CHARACTERS = 300;

/** Makes a reason of what may be a source's own words: it is stored, logged and shown. */
export function formatReason(text: string): string {
  return sanitizeMessage(text, REASON_MAX_CHARACTERS);
}

/** Why a source could not be asked. */
export type SourceErrorKind = "wait" | "stop" | "failed" | "refused";

/** A source that could not be asked. The message is for people and never holds a credential. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly kind: SourceErrorKind;
  readonly until: number | undefined;
  readonly bucket: string | undefined;

  /**
   * @param kind `wait`: nothing more is asked of the bucket until then. `stop`: nor of the source.
   * `failed`: it failed again and again, or answered what cannot be believed. `refused`: it
   * answered, and would not tell what it was asked for.
   * @param until Milliseconds since 1970 UTC; of a stop without it, until the settings change.
   * @param bucket Of a wait: the bucket that is waited for.
   */
  constructor(kind: SourceErrorKind, message: string, until?: number, bucket?: string) {
    super(formatReason(message));
    this.kind = kind;
    this.until = until;
    this.bucket = bucket;
  }
}
