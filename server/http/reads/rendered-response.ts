/** Renders the result of a read into a response that its requests share, and compresses it. */
import type { TimeRange } from "../../../core/growth.ts";
import { formatInstant } from "../../../core/time.ts";
import { stringifyToPieces } from "../../raw-json.ts";
import type { CacheableResult } from "../../store/reads/read-types.ts";
import { PRIVATE_CACHE_HEADERS } from "../cache-headers.ts";
import { compress, createEncodedEtag, type ContentEncoding } from "../content/compression.ts";
import { SHORT_BODY_MAX_BYTES } from "./body-streamer.ts";
import { READ_COST } from "./charges.ts";

export interface ReadResult<Body = unknown> extends CacheableResult<Body> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly csv?: Uint8Array;
}

/** A response without the headers that depend on its request. */
export interface RenderedResponse {
  /** Text, or the bytes of a long body: many responses share them. */
  readonly body: string | Uint8Array;
  readonly etag: string;
  /** Built once, because that takes longer than everything else of a cached response. */
  readonly headers: Headers;
  readonly tags: readonly string[];
  /** Always, if it is missing. */
  readonly validDuring?: TimeRange | undefined;
  readonly cost: number;
  /** Whether something that the response depends on changed, or the cache dropped it. */
  isInvalidated: boolean;
}

const GC_INTERVAL_BYTES = 64 * 1_048_576;

/** Rendering a huge body leaves several times its size as garbage at once. */
const HUGE_BODY_BYTES = 1_048_576;
const HUGE_GARBAGE_RATIO = 4;

/** The estimated garbage since the last collection. It is global, as the heap of the process is. */
let garbageBytes = 0;

const encoder = new TextEncoder();
// Without this option, it would remove a byte-order mark at the beginning of a body.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** @param now Most responses are valid at any time: then nobody reads the clock. */
export function isFresh(
  { isInvalidated, validDuring }: RenderedResponse,
  now: () => number,
): boolean {
  if (isInvalidated || validDuring === undefined) return !isInvalidated;
  const instant = now();
  return instant >= validDuring.from && instant <= validDuring.to;
}

export function renderResponse(result: ReadResult, cost = READ_COST): RenderedResponse {
  const { tags, validDuring, observedAt = null, isThinned = false } = result;
  const body = joinPieces(result.csv ? [result.csv] : stringifyToPieces(result.body));
  const etag = `"${Bun.hash(body).toString(36)}"`;
  const headers = new Headers({
    ...PRIVATE_CACHE_HEADERS,
    "content-type": "application/json",
    ...result.headers,
    ...(isThinned ? { "x-history-thinned": "1" } : {}),
    ...(observedAt === null ? {} : { "x-observed-at": formatInstant(observedAt) }),
    etag,
    "x-credits-cost": String(cost),
  });
  return { body, etag, headers, tags, validDuring, cost, isInvalidated: false };
}

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

/** Joins pieces: to text if they are short, else to bytes. */
function joinPieces(pieces: readonly (string | Uint8Array)[]): RenderedResponse["body"] {
  const [onlyPiece] = pieces;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
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
