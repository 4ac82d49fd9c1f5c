/** Parses lines of observations (NDJSON) into batches, in the main thread or in a worker. */
import { isUtf8 } from "node:buffer";
import { DomainError } from "../../../core/errors.ts";
import { OBSERVATION_LINE_MAX_BYTES } from "../../../core/limits.ts";
import { parseObservationLine, type Observation } from "../../../core/observations.ts";
import type { RejectedLine } from "../../../core/stores.ts";
import {
  createBatchBuilder,
  type ObservationBatch,
  type BatchColumns,
} from "./observation-batch.ts";

const NEWLINE = 0x0a;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Whole lines. */
export interface LineBlock {
  readonly bytes: Uint8Array;
  /** The clock, in milliseconds since 1970 UTC: observations of the future are rejected. */
  readonly now: number;
}

export interface ParsedLines {
  readonly lines: number;
  /** The number of lines that are not blank. */
  readonly read: number;
  readonly rejected: readonly RejectedLine[];
  readonly batches: readonly ObservationBatch[];
}

/** Parsed lines, as they move from thread to thread. */
export interface SerializedLines {
  readonly columns: readonly BatchColumns[];
  /** All else as JSON, which takes a quarter of the time of a structured clone. */
  readonly text: string;
}

type TextPart = Omit<ParsedLines, "batches"> & {
  readonly batches: readonly Omit<ObservationBatch, keyof BatchColumns>[];
};

export function parseLines({ bytes, now }: LineBlock): ParsedLines {
  const builder = createBatchBuilder();
  const rejected: RejectedLine[] = [];
  let read = 0;
  let lines = 0;
  for (const part of splitAtLineEnds(bytes, DECODE_BYTES)) {
    for (const text of decodeLines(part)) {
      lines++;
      const line = typeof text === "string" ? text.replace(/^\uFEFF/, "") : text;
      if (typeof line === "string" && line.trim() === "") continue;
      read++;
      try {
        builder.add(parseLine(line, now));
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        rejected.push({ line: lines, reason: error.message });
      }
    }
  }
  return { lines, read, rejected, batches: builder.build() };
}

/** About how many bytes are decoded at once: their text takes several times their memory. */
const DECODE_BYTES = 262_144;

/**
 * Splits bytes at line ends, which are left out.
 *
 * @param partBytes How many bytes a part has at least; it ends at the next line end.
 */
export function* splitAtLineEnds(bytes: Uint8Array, partBytes: number): Generator<Uint8Array> {
  for (let start = 0; start <= bytes.length;) {
    const newlineIndex = bytes.indexOf(NEWLINE, start + partBytes);
    const end = newlineIndex === -1 ? bytes.length : newlineIndex;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

export function serializeLines({ batches, ...rest }: ParsedLines): SerializedLines {
  const columns: BatchColumns[] = [];
  const texts: TextPart["batches"][number][] = [];
  for (const { kind, entityIds, attributeSets, ...numbers } of batches) {
    columns.push(numbers);
    texts.push({ kind, entityIds, attributeSets });
  }
  return { columns, text: JSON.stringify({ ...rest, batches: texts } satisfies TextPart) };
}

export function deserializeLines({ columns, text }: SerializedLines): ParsedLines {
  const { batches, ...rest }: TextPart = JSON.parse(text);
  const joined = columns.flatMap((numbers, index) => {
    const texts = batches[index];
    return texts === undefined ? [] : [{ ...texts, ...numbers }];
  });
  return { ...rest, batches: joined };
}

/** @param line Bytes if it is not valid UTF-8. */
function parseLine(line: string | Uint8Array, now: number): Observation {
  // Checked first: who sends a line that is too long may cut it in the middle of a character. A code
  // unit has at most 3 bytes.
  if (
    line.length * 3 > OBSERVATION_LINE_MAX_BYTES &&
    Buffer.byteLength(line) > OBSERVATION_LINE_MAX_BYTES
  ) {
    throw new DomainError(
      "Invalid Request",
      `A line has at most ${OBSERVATION_LINE_MAX_BYTES} bytes`,
    );
  }
  if (typeof line === "string") return parseObservationLine(line, now);
  throw new DomainError("Invalid Request", "The line must be valid UTF-8");
}

/** Splits bytes into lines. A line that is not valid UTF-8 stays bytes, to be rejected. */
function decodeLines(bytes: Uint8Array): (string | Uint8Array)[] {
  if (isUtf8(bytes)) return decoder.decode(bytes).split("\n");
  const lines = Array.from(splitAtLineEnds(bytes, 0));
  return lines.map((line) => (isUtf8(line) ? decoder.decode(line) : line));
}
