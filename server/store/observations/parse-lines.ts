/** Parses lines of observations (NDJSON) into batches, in the main thread or in a worker. */
import { isUtf8 } from "node:buffer";
import { DomainError } from "../../../core/errors.ts";
import { OBSERVATION_LINE_MAX_BYTES } from "../../../core/limits.ts";
import { parseObservationLine, type Observation } from "../../../core/observations.ts";
import { createRejectionCollector } from "../../../core/rejections.ts";
import type { RejectionReport } from "../../../core/stores.ts";
import { splitAtLineEnds } from "./line-blocks.ts";
import { createBatchBuilder, type ObservationBatch } from "./observation-batch.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A block of whole lines. */
export interface LineBlock {
  readonly bytes: Uint8Array;
  /** The clock, in milliseconds since 1970 UTC: observations of the future are rejected. */
  readonly now: number;
}

export interface ParsedLines extends RejectionReport {
  readonly lines: number;
  /** The number of lines that are not blank. */
  readonly read: number;
  readonly batches: readonly ObservationBatch[];
}

export function parseLines({ bytes, now }: LineBlock): ParsedLines {
  const builder = createBatchBuilder();
  const rejections = createRejectionCollector();
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
        rejections.add({ line: lines, reason: error.message });
      }
    }
  }
  return { lines, read, ...rejections.report(), batches: builder.build() };
}

/** About how many bytes are decoded at once: their text takes several times their memory. */
const DECODE_BYTES = 262_144;

/** Splits bytes into lines. A line that is not valid UTF-8 stays bytes, to be rejected. */
function decodeLines(bytes: Uint8Array): (string | Uint8Array)[] {
  if (isUtf8(bytes)) return decoder.decode(bytes).split("\n");
  const lines = Array.from(splitAtLineEnds(bytes, 0));
  return lines.map((line) => (isUtf8(line) ? decoder.decode(line) : line));
}

function parseLine(line: string | Uint8Array, now: number): Observation {
  // Checked first: a client may cut a line that is too long in the middle of a character. A code
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
