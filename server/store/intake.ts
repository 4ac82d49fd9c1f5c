/** Lines of observations (NDJSON) into the database: good ones in, bad ones named. */
import type { Database } from "./database.ts";
import type { Observed } from "./folds.ts";
import {
  crossed,
  gatherLines,
  linesOf,
  partsOf,
  type Crossing,
  type Gathered,
  type Lines,
  type Rejection,
} from "./intake-lines.ts";
import { tellUnavailable } from "./guard.ts";
import { storeBatches } from "./observe.ts";
import { openThread } from "./thread.ts";

/** What became of the lines. Blank lines are not counted. */
export interface Intake extends Observed {
  readonly read: number;
  readonly rejected: readonly Rejection[];
}

/** Bytes of lines that are read in a thread: here they would hold up the requests. */
const LARGE_BYTES = 131_072;

const askThread = openThread<Lines, Crossing>(new URL("intake-thread.ts", import.meta.url));

/** Starts the thread that reads large blocks. */
export async function startIntakeThread(): Promise<void> {
  await askThread({ bytes: new Uint8Array(), now: 0 }, { isText: false });
}

/**
 * Makes what takes in lines, some at a time.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 * @returns Stores the observations of some whole lines, as one transaction; what is more than the
 * database takes in one, as several. It may take the bytes over: who gave them must not use them
 * again.
 */
export function createIntake(database: Database, now: () => number) {
  /** Settles once all that came before is gathered: all is stored in the order in which it came. */
  let before: Promise<unknown> = Promise.resolve();
  async function takeInOne(bytes: Uint8Array): Promise<Intake> {
    const gathering = gatherAnywhere({ bytes, now: now() });
    gathering.catch(nothing); // It is told where its turn comes.
    const turn = before.then(() => gathering);
    // Not what it came to: it may be large.
    before = turn.then(nothing, nothing);
    const { read, rejected, batches } = await turn;
    return { read, ...(await storeBatches(database, batches)), rejected };
  }
  return async (bytes: Uint8Array): Promise<Intake> => {
    if (bytes.byteLength <= database.blockBytes) return takeInOne(bytes);
    const all = { read: 0, new: 0, changed: 0, unchanged: 0, rejected: [] as Rejection[] };
    let linesBefore = 0;
    for (const part of partsOf(bytes, database.blockBytes)) {
      const lines = linesOf(part);
      const { rejected, ...counts } = await takeInOne(part);
      for (const name of COUNTS) all[name] += counts[name];
      for (const { line, reason } of rejected) {
        all.rejected.push({ line: linesBefore + line, reason });
      }
      linesBefore += lines;
    }
    return all;
  };
}

const COUNTS = ["read", "new", "changed", "unchanged"] as const;

const nothing = () => undefined;

async function gatherAnywhere({ bytes, now }: Lines): Promise<Gathered> {
  if (bytes.byteLength < LARGE_BYTES) return gatherLines({ bytes, now });
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  const own = isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
  const posting = { isText: false, given: [own.buffer] };
  return crossed(await tellUnavailable(() => askThread({ bytes: own, now }, posting)));
}
