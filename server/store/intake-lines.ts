/** Lines of observations (NDJSON), read and gathered; here or in a thread. */
import { DomainError } from "../../core/errors.ts";
import { LINE_MAX_BYTES } from "../../core/limits.ts";
import { readObservation, type Observation } from "../../core/observations.ts";
import { createGatherer, type Batch, type Columns } from "./batches.ts";

const NEWLINE = 0x0a;

/** Whole lines. */
export interface Lines {
  readonly bytes: Uint8Array;
  /** The clock, in milliseconds since 1970 UTC: nothing is observed in the future. */
  readonly now: number;
}

/** A line that was rejected, by its number from 1, and why. */
export interface Rejection {
  readonly line: number;
  readonly reason: string;
}

/** What was in the lines. */
export interface Gathered {
  /** How many there were; blank ones are not counted. */
  readonly read: number;
  readonly rejected: readonly Rejection[];
  readonly batches: readonly Batch[];
}

/** What was in the lines, as it crosses from thread to thread. */
export interface Crossing {
  readonly columns: readonly Columns[];
  /** All else, as JSON: so it crosses in a quarter of the time. */
  readonly text: string;
}

type Texts = Omit<Gathered, "batches"> & {
  readonly batches: readonly Omit<Batch, keyof Columns>[];
};

/** Reads lines. */
export function gatherLines({ bytes, now }: Lines): Gathered {
  const gatherer = createGatherer();
  const rejected: Rejection[] = [];
  let read = 0;
  let number = 0;
  for (const part of partsOf(bytes, PART_BYTES)) {
    for (const text of decodeLines(part)) {
      number++;
      const line = typeof text === "string" ? text.replace(/^\uFEFF/, "") : text;
      if (typeof line === "string" && line.trim() === "") continue;
      read++;
      try {
        gatherer.add(readLine(line, now));
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        rejected.push({ line: number, reason: error.message });
      }
    }
  }
  return { read, rejected, batches: gatherer.batches() };
}

/** Bytes that are decoded at once, about: the text of many takes several times their memory. */
const PART_BYTES = 262_144;

/**
 * Cuts bytes where lines end, the line ends between the parts left out.
 *
 * @param partBytes Bytes of a part, about: it is cut where the line ends that they end in.
 */
export function* partsOf(bytes: Uint8Array, partBytes: number): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(NEWLINE, start + partBytes);
    const end = found === -1 ? bytes.length : found;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** How many lines there are in a part. */
export function linesOf(part: Uint8Array): number {
  let lines = 1;
  for (let at = part.indexOf(NEWLINE); at !== -1; at = part.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

/** Makes ready to cross what was in lines. */
export function crossing({ batches, ...rest }: Gathered): Crossing {
  const columns: Columns[] = [];
  const texts: Texts["batches"][number][] = [];
  for (const { kind, ids, descriptions, ...numbers } of batches) {
    columns.push(numbers);
    texts.push({ kind, ids, descriptions });
  }
  return { columns, text: JSON.stringify({ ...rest, batches: texts } satisfies Texts) };
}

/** What was in lines, as it was before it crossed. */
export function crossed({ columns, text }: Crossing): Gathered {
  const { batches, ...rest }: Texts = JSON.parse(text);
  return {
    ...rest,
    batches: columns.flatMap((numbers, index) => {
      const texts = batches[index];
      return texts === undefined ? [] : [{ ...texts, ...numbers }];
    }),
  };
}

/** @param line Its text, or its bytes. */
function readLine(line: string | Uint8Array, now: number): Observation {
  // Of one that is too long a part may be left out, in the middle of a character.
  if (line.length * 3 > LINE_MAX_BYTES && Buffer.byteLength(line) > LINE_MAX_BYTES) {
    throw new DomainError("Invalid Request", `A line has at most ${LINE_MAX_BYTES} bytes`);
  }
  if (typeof line === "string") return readObservation(line, now);
  throw new DomainError("Invalid Request", "The line must be valid UTF-8");
}

/** Splits bytes into lines; one that is not valid UTF-8 stays bytes, not silently changed. */
function decodeLines(bytes: Uint8Array): (string | Uint8Array)[] {
  const whole = decode(bytes);
  if (whole !== undefined) return whole.split("\n");
  const lines: (string | Uint8Array)[] = [];
  for (let start = 0; start <= bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start);
    const line = bytes.subarray(start, end === -1 ? undefined : end);
    lines.push(decode(line) ?? line);
    if (end === -1) break;
    start = end + 1;
  }
  return lines;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
