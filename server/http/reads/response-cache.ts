/**
 * Renders and caches the responses of reads. A cached response is stale once something that it
 * depends on changes, or once an item leaves the requested period as time passes.
 */
import { formatInstant } from "../../../core/time.ts";
import { LRUCache } from "lru-cache";
import type { TimeRange } from "../../../core/growth.ts";
import { stringifyToPieces } from "../../raw-json.ts";
import type { ChangeSet } from "../../store/history/change-log.ts";
import type { CacheableResult } from "../../store/reads/read-types.ts";
import { PRIVATE_CACHE_HEADERS } from "../cache-headers.ts";
import { compress, createEncodedEtag, type ContentEncoding } from "../content/compression.ts";
import { SHORT_BODY_MAX_BYTES } from "./body-streamer.ts";
import { READ_COST } from "./charges.ts";

/** The result of a read, with further headers of its response. */
export interface ReadResult<Body = unknown> extends CacheableResult<Body> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response without the headers that depend on its request. */
export interface RenderedResponse {
  /** Text, or the bytes of a long body: many responses share them. */
  readonly body: string | Uint8Array;
  readonly etag: string;
  /** Built once, because building them takes longer than the rest of a cached response. */
  readonly headers: Headers;
  readonly tags: readonly string[];
  readonly validDuring: TimeRange;
  /** The cost of the read, in credits. */
  readonly cost: number;
  /** Whether something that it depends on changed, or the cache dropped it. */
  isInvalidated: boolean;
}

/** The cache of an app. */
export type ResponseCache = ReturnType<typeof createResponseCache>;

const CACHE_MAX_BYTES = 16 * 1_048_576;

/** The share of the cache that one response may take. */
const ENTRY_MAX_SHARE = 1 / 2;

/** The memory of an entry beside its body and key. */
const ENTRY_OVERHEAD_BYTES = 1024;

/** The estimated garbage between two garbage collections. */
const GC_INTERVAL_BYTES = 64 * 1_048_576;

/** Rendering a huge body leaves several times its size as garbage at once. */
const HUGE_BODY_BYTES = 1_048_576;
const HUGE_GARBAGE_RATIO = 4;

/** The estimated garbage since the last collection. It is global, as the heap of the process is. */
let garbageBytes = 0;

const ALWAYS: TimeRange = { from: -Infinity, to: Infinity };

const encoder = new TextEncoder();
// Otherwise it would remove a byte-order mark at the beginning of a body.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The entity tags of long bodies: the body of a large read can be the same bytes again. */
const etags = new WeakMap<Uint8Array, string>();

/** Whether a rendered response may still be sent. */
export function isFresh({ isInvalidated, validDuring }: RenderedResponse, now: number): boolean {
  return !isInvalidated && now >= validDuring.from && now <= validDuring.to;
}

/**
 * Renders the result of a read: its body, entity tag and headers.
 *
 * @param pieces The body; by default JSON.
 */
export function renderResponse(
  result: ReadResult,
  cost = READ_COST,
  pieces: readonly (string | Uint8Array)[] = stringifyToPieces(result.body),
): RenderedResponse {
  const { tags, validDuring = ALWAYS, observedAt = null, isThinned = false } = result;
  const body = joinPieces(pieces);
  const etag = getEtag(body);
  const headers = new Headers({
    ...PRIVATE_CACHE_HEADERS,
    "content-type": "application/json",
    ...result.headers,
    ...(isThinned ? { "x-history-thinned": "1" } : {}),
    ...(observedAt === null ? {} : { "x-observed-at": formatInstant(observedAt) }),
    etag,
  });
  return { body, etag, headers, tags, validDuring, cost, isInvalidated: false };
}

/** Compresses a response. */
export async function compressResponse(
  response: RenderedResponse,
  encoding: ContentEncoding,
): Promise<RenderedResponse> {
  const body = await compress(response.body, encoding);
  const etag = createEncodedEtag(response.etag, encoding);
  const headers = new Headers(response.headers);
  headers.set("etag", etag);
  headers.set("content-encoding", encoding);
  return { ...response, body, etag, headers };
}

/**
 * Creates a cache of responses by the path and query of their requests.
 *
 * @param maxBytes The bound of its memory.
 */
export function createResponseCache(maxBytes = CACHE_MAX_BYTES) {
  const keysByTag = new Map<string, Set<string>>();
  const pending = new Map<
    string,
    { readonly sequence: number; readonly response: Promise<RenderedResponse> }
  >();
  let latestSequence: number | undefined;
  const entries = new LRUCache<string, RenderedResponse>({
    maxSize: maxBytes,
    maxEntrySize: Math.ceil(maxBytes * ENTRY_MAX_SHARE),
    // A character of a text takes one or two bytes.
    sizeCalculation: ({ body }, key) =>
      (typeof body === "string" ? 2 * body.length : body.length) +
      ENTRY_OVERHEAD_BYTES +
      key.length,
    dispose(response, key) {
      response.isInvalidated = true;
      for (const tag of response.tags) {
        const keys = keysByTag.get(tag);
        keys?.delete(key);
        if (keys?.size === 0) keysByTag.delete(tag);
      }
    },
  });

  /** The response of a key, if it is fresh. */
  function get(key: string, now: number): RenderedResponse | undefined {
    const response = entries.get(key);
    if (response === undefined || isFresh(response, now)) return response;
    entries.delete(key);
    return undefined;
  }

  /**
   * Stores a response, unless something changed after it was read. Nothing is stored before the
   * first `invalidate()`.
   *
   * @param sequence The last change before it was read.
   */
  function set(key: string, response: RenderedResponse, sequence: number): void {
    if (sequence !== latestSequence) return;
    entries.set(key, response);
    if (!entries.has(key)) return;
    for (const tag of response.tags) {
      const keys = keysByTag.get(tag);
      if (keys === undefined) keysByTag.set(tag, new Set([key]));
      else keys.add(key);
    }
  }

  return {
    get,
    set,

    /**
     * Renders a response and stores it. Requests for the same key share one run of `render`.
     *
     * @param sequence The last change before it is read. A run that began before this change may
     * give an old response, so it is not shared.
     */
    load(
      key: string,
      sequence: number,
      render: () => Promise<RenderedResponse>,
    ): Promise<RenderedResponse> {
      const running = pending.get(key);
      if (running?.sequence === sequence) return running.response;
      const response = render().then((rendered) => {
        set(key, rendered, sequence);
        return rendered;
      });
      const started = { sequence, response };
      pending.set(key, started);
      return response.finally(() => {
        if (pending.get(key) === started) pending.delete(key);
      });
    },

    /** Drops the responses that changes make stale. */
    invalidate({ sequence, tags }: ChangeSet): void {
      latestSequence = sequence;
      if (tags === undefined) return entries.clear();
      for (const tag of tags) {
        for (const key of keysByTag.get(tag) ?? []) entries.delete(key);
      }
    },
  };
}

function getEtag(body: RenderedResponse["body"]): string {
  const hash = () => `"${Bun.hash(body).toString(36)}"`;
  if (typeof body === "string") return hash();
  const etag = etags.get(body) ?? hash();
  etags.set(body, etag);
  return etag;
}

/** Joins the pieces of a body: to text if it is short, else to bytes. */
function joinPieces(pieces: readonly (string | Uint8Array)[]): RenderedResponse["body"] {
  const [onlyPiece] = pieces;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  // Longer ones are sent in chunks of bytes.
  if (length <= SHORT_BODY_MAX_BYTES) {
    return pieces
      .map((piece) => (typeof piece === "string" ? piece : decoder.decode(piece)))
      .join("");
  }
  // Not copied: a read can give the same bytes again, and the responses share them.
  if (pieces.length === 1 && onlyPiece instanceof Uint8Array) return onlyPiece;
  const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0));
  let offset = 0;
  for (const piece of pieces) {
    const rest = joined.subarray(offset);
    if (typeof piece === "string") offset += encoder.encodeInto(piece, rest).written;
    else {
      rest.set(piece);
      offset += piece.length;
    }
  }
  countGarbage(joined.length);
  return joined;
}

/**
 * Collects garbage at an interval of rendered bytes. Bun counts strings and bytes for less than
 * they take and collects too late. Measured: 100 clients that each read a page of 6.5 MB grow the
 * process to 670 to 850 MiB without this, to 420 MiB with it (`SLOW_READERS=500` of
 * tests/http/reads/slow-clients.test.ts); 256 connections that read pages of 120 kB, to 275 MiB
 * without and 230 MiB with it. `Bun.gc(false)`, which does not block, did not help.
 */
function countGarbage(bodyBytes: number): void {
  garbageBytes += bodyBytes > HUGE_BODY_BYTES ? HUGE_GARBAGE_RATIO * bodyBytes : bodyBytes;
  if (garbageBytes <= GC_INTERVAL_BYTES) return;
  garbageBytes = 0;
  Bun.gc(true);
}
