/** Lines of observations (NDJSON) into the database: good ones in, bad ones named. */
import type { Database } from "./database.ts";
import type { Observed } from "./folds.ts";
import {
  crossed,
  gatherLines,
  type Crossing,
  type Gathered,
  type Lines,
  type Rejection,
} from "./intake-lines.ts";
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

/**
 * Makes what takes in lines, some at a time.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 * @returns Stores the observations of some whole lines, as one transaction. Of many the bytes are
 * taken over: who gave them has none afterwards.
 */
export function createIntake(database: Database, now: () => number) {
  /** Settles once all that came before is gathered: it is stored in the order in which it came. */
  let before: Promise<unknown> = Promise.resolve();
  return async (bytes: Uint8Array): Promise<Intake> => {
    const gathering = gatherAnywhere({ bytes, now: now() });
    const turn = before.then(() => gathering);
    before = turn.catch(() => undefined);
    const { batches, ...read } = await turn;
    return { ...read, ...(await storeBatches(database, batches)) };
  };
}

async function gatherAnywhere(lines: Lines): Promise<Gathered> {
  const { buffer, byteLength } = lines.bytes;
  if (byteLength < LARGE_BYTES) return gatherLines(lines);
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  const given = isWhole ? [buffer] : [];
  return crossed(await askThread(lines, { isText: false, given }));
}
