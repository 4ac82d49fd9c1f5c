/** Lines of observations (NDJSON) into the database: good ones in, bad ones named. */
import { DomainError } from "../../core/errors.ts";
import { LINE_MAX_BYTES } from "../../core/limits.ts";
import { readObservation, type Observation } from "../../core/observations.ts";
import type { Database } from "./database.ts";
import { prepareObservations, storePrepared } from "./observe.ts";

/** A line that was rejected, by its number from 1, and why. */
export interface Rejection {
  readonly line: number;
  readonly reason: string;
}

/** What became of the lines. Blank lines are not counted. */
export interface Intake {
  readonly read: number;
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly rejected: Rejection[];
}

/**
 * Makes what takes in lines, some at a time.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 * @returns Stores the observations of some whole lines, as one transaction.
 */
export function createIntake(database: Database, now: () => number) {
  return async (bytes: Uint8Array): Promise<Intake> => {
    // Prepared at once: while a block is written the next is read.
    const { observations, rejected } = readLines(bytes, now());
    const read = observations.length + rejected.length;
    const stored = await storePrepared(database, prepareObservations(observations));
    return { read, ...stored, rejected };
  };
}

/** The observations of some lines, and the lines that hold none. */
function readLines(
  bytes: Uint8Array,
  now: number,
): { readonly observations: Observation[]; readonly rejected: Rejection[] } {
  const observations: Observation[] = [];
  const rejected: Rejection[] = [];
  decodeLines(bytes).forEach((text, index) => {
    const line = text?.replace(/^\uFEFF/, "");
    if (line?.trim() === "") return;
    try {
      observations.push(readLine(line, now));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      rejected.push({ line: index + 1, reason: error.message });
    }
  });
  return { observations, rejected };
}

function readLine(line: string | undefined, now: number): Observation {
  if (line === undefined) throw new DomainError("Invalid Request", "The line must be valid UTF-8");
  if (line.length * 3 > LINE_MAX_BYTES && Buffer.byteLength(line) > LINE_MAX_BYTES) {
    throw new DomainError("Invalid Request", `A line has at most ${LINE_MAX_BYTES} bytes`);
  }
  return readObservation(line, now);
}

/** Splits bytes into lines; one that is not valid UTF-8 is `undefined`, not silently changed. */
function decodeLines(bytes: Uint8Array): (string | undefined)[] {
  const whole = decode(bytes);
  if (whole !== undefined) return whole.split("\n");
  const lines: (string | undefined)[] = [];
  for (let start = 0; start <= bytes.length;) {
    const end = bytes.indexOf(0x0a, start);
    lines.push(decode(bytes.subarray(start, end === -1 ? undefined : end)));
    if (end === -1) break;
    start = end + 1;
  }
  return lines;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
