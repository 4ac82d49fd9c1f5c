/**
 * Finished answers, kept as long as they hold: until something they depend on is observed again,
 * or the clock moves an item out of the days that were asked for.
 */
import { LRUCache } from "lru-cache";
import type { TimeRange } from "../../../core/growth.ts";
import { stringifyToPieces } from "../../raw-json.ts";
import type { ChangeSet, CacheableResult } from "../../ports/caching.ts";
import { PRIVATE_CACHE_HEADERS } from "../cache-headers.ts";

/** What a read gives, with more headers of its answer. */
export interface ReadResult<Body = unknown> extends CacheableResult<Body> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an answer is charged, and as what it is counted. */
export interface Billing {
  /** As the reference names it. */
  readonly endpoint: string;
  /** As it is declared. */
  readonly route: string;
  /** In credits. */
  readonly cost: number;
}

/** A finished answer. */
export interface RenderedResponse {
  readonly billing: Billing;
  /** Text, or the bytes of a long one: those are sent many times as they are. */
  readonly body: string | Uint8Array;
  readonly etag: string;
  /** Those that it has whoever asks; made once, because making them takes longer than the rest. */
  readonly headers: Headers;
  readonly tags: readonly string[];
  readonly validDuring: TimeRange;
  /** Whether something that it depends on was observed since it was made. */
  isStale: boolean;
}

/** Bytes that are kept at most, and that one answer may have. */
const CACHE_MAX_BYTES = 16 * 1_048_576;
const ENTRY_MAX_SHARE = 1 / 2;

/** Characters from which a body is kept and sent as bytes. */
const LARGE_BODY_CHARACTERS = 14_000;

/**
 * After so many bytes of bodies garbage is collected. The runtime goes by its own count, in which
 * bodies weigh little: left to it, the memory grows by a tenth and more.
 */
const GC_INTERVAL_BYTES = 64 * 1_048_576;

/** Making a body of so many characters leaves several times as much garbage behind at once. */
const HUGE_BODY_CHARACTERS = 1_048_576;
const HUGE_GARBAGE_RATIO = 4;

/** Bytes of bodies since garbage was collected. */
let uncollectedBytes = 0;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What an answer takes beside the text of its body. */
const ENTRY_OVERHEAD_BYTES = 1024;

const ALWAYS: TimeRange = { from: -Infinity, to: Infinity };

/** Whether an answer still holds. */
export function isFresh({ isStale, validDuring }: RenderedResponse, now: number): boolean {
  return !isStale && now >= validDuring.from && now <= validDuring.to;
}

/** Keeps finished answers. */
export type ResponseCache = ReturnType<typeof createResponseCache>;

/** Finishes what a read gave. */
export function renderResponse(result: ReadResult, billing: Billing): RenderedResponse {
  const { body, tags, validDuring = ALWAYS, isThinned = false, headers = {} } = result;
  const renderedBody = joinPieces(stringifyToPieces(body));
  const etag = getEtag(renderedBody);
  return {
    billing,
    body: renderedBody,
    etag,
    headers: new Headers({
      ...PRIVATE_CACHE_HEADERS,
      ...headers,
      ...(isThinned ? { "x-history-thinned": "1" } : {}),
      etag,
      "content-type": "application/json",
    }),
    tags,
    validDuring,
    isStale: false,
  };
}

/** The entity tags of long bodies, which several answers may share. */
const etags = new WeakMap<Uint8Array, string>();

function getEtag(body: RenderedResponse["body"]): string {
  const cachedEtag = typeof body === "string" ? undefined : etags.get(body);
  if (cachedEtag !== undefined) return cachedEtag;
  const etag = `"${Bun.hash(body).toString(36)}"`;
  if (typeof body !== "string") etags.set(body, etag);
  return etag;
}

/** Joins the pieces of a body: to bytes where it is long, else to text. */
function joinPieces(pieces: readonly (string | Uint8Array)[]): RenderedResponse["body"] {
  const [onlyPiece] = pieces;
  if (
    pieces.length === 1 &&
    onlyPiece instanceof Uint8Array &&
    onlyPiece.length > LARGE_BODY_CHARACTERS
  ) {
    return onlyPiece;
  }
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  uncollectedBytes += length > HUGE_BODY_CHARACTERS ? HUGE_GARBAGE_RATIO * length : length;
  if (uncollectedBytes > GC_INTERVAL_BYTES) {
    uncollectedBytes = 0;
    Bun.gc(true);
  }
  if (length <= LARGE_BODY_CHARACTERS) {
    return pieces
      .map((piece) => (typeof piece === "string" ? piece : decoder.decode(piece)))
      .join("");
  }
  const bytes = pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
  const joined = new Uint8Array(bytes.reduce((sum, piece) => sum + piece.length, 0));
  let offset = 0;
  for (const piece of bytes) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}

/** Makes the place where answers are kept, by the path and query that they answer. */
export function createResponseCache(maxBytes = CACHE_MAX_BYTES) {
  const keysByTag = new Map<string, Set<string>>();
  const pending = new Map<
    string,
    { readonly sequence: number; readonly answer: Promise<RenderedResponse> }
  >();
  let latestSequence: number | undefined;
  const entries = new LRUCache<string, RenderedResponse>({
    maxSize: maxBytes,
    maxEntrySize: Math.ceil(maxBytes * ENTRY_MAX_SHARE),
    // A character of a text takes one byte or two.
    sizeCalculation: ({ body }, target) =>
      (typeof body === "string" ? 2 * body.length : body.length) +
      ENTRY_OVERHEAD_BYTES +
      target.length,
    dispose: (answer, target) => {
      answer.isStale = true;
      const { tags: subjects } = answer;
      for (const subject of subjects) {
        const of = keysByTag.get(subject);
        of?.delete(target);
        if (of?.size === 0) keysByTag.delete(subject);
      }
    },
  });
  return {
    /** The answer of a target that still holds. */
    get(target: string, now: number): RenderedResponse | undefined {
      const answer = entries.get(target);
      if (answer === undefined || isFresh(answer, now)) return answer;
      entries.delete(target);
      return undefined;
    },

    /**
     * Keeps an answer.
     *
     * @param sequence The last change before it was read. Where more was observed meanwhile, it
     * may be old already and is not kept.
     */
    set(target: string, answer: RenderedResponse, sequence: number): void {
      if (sequence !== latestSequence) return;
      entries.set(target, answer);
      if (!entries.has(target)) return;
      for (const subject of answer.tags) {
        const of = keysByTag.get(subject);
        if (of === undefined) keysByTag.set(subject, new Set([target]));
        else of.add(target);
      }
    },

    /**
     * Makes an answer, or joins the one that is being made for another request.
     *
     * @param sequence The last change before it is read; an answer of an earlier one may be old.
     */
    load(
      target: string,
      sequence: number,
      work: () => Promise<RenderedResponse>,
    ): Promise<RenderedResponse> {
      const inFlight = pending.get(target);
      if (inFlight?.sequence === sequence) return inFlight.answer;
      const started = { sequence, answer: work() };
      pending.set(target, started);
      return started.answer.finally(() => {
        if (pending.get(target) === started) pending.delete(target);
      });
    },

    /** Lets go of what changed. */
    invalidate({ sequence, tags: subjects }: ChangeSet): void {
      latestSequence = sequence;
      if (subjects === undefined) return entries.clear();
      for (const subject of subjects) {
        for (const target of keysByTag.get(subject) ?? []) entries.delete(target);
      }
    },
  };
}
