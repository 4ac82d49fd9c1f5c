/** Lines of observations (NDJSON), read and gathered; here or in a thread. */
import { DomainError } from "../../../core/errors.ts";
import { LINE_MAX_BYTES } from "../../../core/limits.ts";
import { parseObservationLine, type Observation } from "../../../core/observations.ts";
import type { RejectedLine } from "../../ports/reads.ts";
import {
  createBatchBuilder,
  type ObservationBatch,
  type BatchColumns,
} from "./observation-batch.ts";

const NEWLINE = 0x0a;

/** Whole lines. */
export interface LineBlock {
  readonly bytes: Uint8Array;
  /** The clock, in milliseconds since 1970 UTC: nothing is observed in the future. */
  readonly now: number;
}

/** What was in the lines. */
export interface ParsedLines {
  /** How many there were; blank ones are not counted. */
  readonly read: number;
  readonly rejected: readonly RejectedLine[];
  readonly batches: readonly ObservationBatch[];
}

/** What was in the lines, as it crosses from thread to thread. */
export interface SerializedLines {
  readonly columns: readonly BatchColumns[];
  /** All else, as JSON: so it crosses in a quarter of the time. */
  readonly text: string;
}

type TextPart = Omit<ParsedLines, "batches"> & {
  readonly batches: readonly Omit<ObservationBatch, keyof BatchColumns>[];
};

/** Reads lines. */
export function parseLines({ bytes, now }: LineBlock): ParsedLines {
  const gatherer = createBatchBuilder();
  const rejected: RejectedLine[] = [];
  let read = 0;
  let number = 0;
  for (const part of splitAtLineEnds(bytes, DECODE_BYTES)) {
    for (const text of decodeLines(part)) {
      number++;
      const line = typeof text === "string" ? text.replace(/^\uFEFF/, "") : text;
      if (typeof line === "string" && line.trim() === "") continue;
      read++;
      try {
        gatherer.add(parseLine(line, now));
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        rejected.push({ line: number, reason: error.message });
      }
    }
  }
  return { read, rejected, batches: gatherer.build() };
}

/** Bytes that are decoded at once, about: the text of many takes several times their memory. */
const DECODE_BYTES = 262_144;

/**
 * Cuts bytes where lines end, the line ends between the parts left out.
 *
 * @param partBytes Bytes of a part, about: it is cut where the line ends that they end in.
 */
export function* splitAtLineEnds(bytes: Uint8Array, partBytes: number): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const newlineIndex = bytes.indexOf(NEWLINE, start + partBytes);
    const end = newlineIndex === -1 ? bytes.length : newlineIndex;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** How many lines there are in a part. */
export function countLines(part: Uint8Array): number {
  let lines = 1;
  for (let at = part.indexOf(NEWLINE); at !== -1; at = part.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

/** Makes ready to cross what was in lines. */
export function serializeLines({ batches, ...rest }: ParsedLines): SerializedLines {
  const columns: BatchColumns[] = [];
  const texts: TextPart["batches"][number][] = [];
  for (const { kind, entityIds: ids, attributeSets: descriptions, ...numbers } of batches) {
    columns.push(numbers);
    texts.push({ kind, entityIds: ids, attributeSets: descriptions });
  }
  return { columns, text: JSON.stringify({ ...rest, batches: texts } satisfies TextPart) };
}

/** What was in lines, as it was before it crossed. */
export function deserializeLines({ columns, text }: SerializedLines): ParsedLines {
  const { batches, ...rest }: TextPart = JSON.parse(text);
  return {
    ...rest,
    batches: columns.flatMap((numbers, index) => {
      const texts = batches[index];
      return texts === undefined ? [] : [{ ...texts, ...numbers }];
    }),
  };
}

/** @param line Its text, or its bytes. */
function parseLine(line: string | Uint8Array, now: number): Observation {
  // Of one that is too long a part may be left out, in the middle of a character.
  if (line.length * 3 > LINE_MAX_BYTES && Buffer.byteLength(line) > LINE_MAX_BYTES) {
    throw new DomainError("Invalid Request", `A line has at most ${LINE_MAX_BYTES} bytes`);
  }
  if (typeof line === "string") return parseObservationLine(line, now);
  throw new DomainError("Invalid Request", "The line must be valid UTF-8");
}

/** Splits bytes into lines; one that is not valid UTF-8 stays bytes, not silently changed. */
function decodeLines(bytes: Uint8Array): (string | Uint8Array)[] {
  const whole = decodeUtf8(bytes);
  if (whole !== undefined) return whole.split("\n");
  const lines: (string | Uint8Array)[] = [];
  for (let start = 0; start <= bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start);
    const line = bytes.subarray(start, end === -1 ? undefined : end);
    lines.push(decodeUtf8(line) ?? line);
    if (end === -1) break;
    start = end + 1;
  }
  return lines;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
