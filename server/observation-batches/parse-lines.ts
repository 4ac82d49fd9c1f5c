/** Cuts lines of observations (NDJSON) into blocks, and parses them to batches, in any thread. */
import { isUtf8 } from "node:buffer";
import { DomainError } from "../../core/errors.ts";
import { OBSERVATION_LINE_MAX_BYTES } from "../../core/limits.ts";
import { parseObservationLine, type Observation } from "../../core/observations.ts";
import { createRejectionCollector } from "../../core/rejections.ts";
import { createLineCache } from "./line-cache.ts";
import { createBatchBuilder, type BatchBuilder, type ObservedEntity } from "./observation-batch.ts";

const NEWLINE = 0x0a;

/** A larger block writes an entity once for more observations, but takes more memory. */
const BLOCK_BYTES = 8 * 1_048_576;

/** A full block has this many of the shortest valid lines. Rejecting a line takes as long. */
const BLOCK_MAX_LINES = 150_000;

/**
 * Cuts lines into blocks of equal size that are parsed in about a second: a small rest would write
 * the entities of the block before it again. A block has at most `maxBytes`, but for its last line.
 */
export function* cutBlocks(bytes: Uint8Array, maxBytes: number): Generator<Uint8Array> {
  const fewest = Math.ceil(bytes.length / maxBytes);
  const count = Math.max(1, fewest, Math.round(bytes.length / BLOCK_BYTES));
  const blockBytes = Math.ceil(bytes.length / count);
  for (let start = 0; start <= bytes.length;) {
    let end = start - 1;
    for (let line = 0; line < BLOCK_MAX_LINES && end < start + blockBytes; line++) {
      end = findLineEnd(bytes, end + 1);
      if (end === bytes.length) break;
    }
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

function* splitAtLineEnds(bytes: Uint8Array, partBytes: number): Generator<Uint8Array> {
  for (let start = 0; start <= bytes.length;) {
    const end = findLineEnd(bytes, start + partBytes);
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** Finds the end of the line that an index is in; the last line ends with the bytes. */
function findLineEnd(bytes: Uint8Array, index: number): number {
  const newlineIndex = bytes.indexOf(NEWLINE, index);
  return newlineIndex === -1 ? bytes.length : newlineIndex;
}

/** A block of whole lines. */
export interface LineBlock {
  readonly bytes: Uint8Array;
  /** The clock, in milliseconds since 1970 UTC: observations of the future are rejected. */
  readonly now: number;
}

/** Parses the lines of a block; `read` counts those that are not blank. */
export function parseLines(block: LineBlock) {
  const builder = createBatchBuilder();
  return { ...createLineParser(builder)(block), batches: builder.build() };
}

/** Creates a function that parses the lines of a block, and adds them to a builder. */
export function createLineParser(builder: BatchBuilder) {
  const cache = createLineCache(builder);
  return function parseBlock(block: LineBlock) {
    const { now } = block;
    const rejections = createRejectionCollector();
    let read = 0;
    let lines = 0;

    function addLine(line: string | Uint8Array): ObservedEntity | undefined {
      lines++;
      // A line of an object need not be trimmed to see that it is not blank.
      if (typeof line === "string" && !line.startsWith("{") && line.trim() === "") return undefined;
      read++;
      try {
        return builder.add(parseLine(line, now));
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        rejections.add({ line: lines, reason: error.message });
        return undefined;
      }
    }

    for (const bytes of splitAtLineEnds(block.bytes, DECODE_BYTES)) {
      if (!cache.isUseful()) {
        for (const line of decodeLines(bytes)) addLine(line);
        continue;
      }
      for (let start = 0, end = 0; start <= bytes.length; start = end + 1) {
        const knownEnd = cache.add(bytes, start, now);
        end = knownEnd ?? findLineEnd(bytes, start);
        if (knownEnd === undefined) {
          const entity = addLine(decodeLine(bytes.subarray(start, end)));
          if (entity !== undefined) cache.keep(bytes, entity);
          continue;
        }
        lines++;
        read++;
      }
    }
    return { lines, read, ...rejections.report() };
  };
}

/** About how many bytes are decoded at once: their text takes several times their memory. */
const DECODE_BYTES = 262_144;

/** Decodes lines at once, which is faster than one after another. */
function decodeLines(bytes: Uint8Array): (string | Uint8Array)[] {
  if (isUtf8(bytes)) return decoder.decode(bytes).split("\n").map(removeMark);
  return Array.from(splitAtLineEnds(bytes, 0), decodeLine);
}

const BYTE_ORDER_MARK = "\uFEFF";
const removeMark = (line: string) => (line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line);

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const decodeLine = (bytes: Uint8Array): string | Uint8Array =>
  isUtf8(bytes) ? removeMark(decoder.decode(bytes)) : bytes;

function parseLine(line: string | Uint8Array, now: number): Observation {
  // Checked first: a client may cut a line that is too long in the middle of a character. A code
  // unit has at most 3 bytes.
  if (
    line.length * 3 > OBSERVATION_LINE_MAX_BYTES &&
    Buffer.byteLength(line) > OBSERVATION_LINE_MAX_BYTES
  ) {
    const message = `A line has at most ${OBSERVATION_LINE_MAX_BYTES} bytes`;
    throw new DomainError("Invalid Request", message);
  }
  if (typeof line === "string") return parseObservationLine(line, now);
  throw new DomainError("Invalid Request", "The line must be valid UTF-8");
}
