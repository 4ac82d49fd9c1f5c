/** Imports lines of observations (NDJSON): writes the good ones, and reports each bad one. */
import type { Database } from "../database/database.ts";
import type { ImportObservations, RejectedLine } from "../../../core/stores.ts";
import {
  deserializeLines,
  parseLines,
  splitAtLineEnds,
  type SerializedLines,
  type ParsedLines,
  type LineBlock,
} from "./parse-lines.ts";
import { mapTransientErrors } from "../database/errors.ts";
import { writeBatches } from "./write.ts";
import { createWorkerClient } from "../database/worker-rpc.ts";

/** Blocks from this size on are parsed by a worker thread: here they would hold up requests. */
const WORKER_MIN_BYTES = 131_072;

const callParseWorker = createWorkerClient<LineBlock, SerializedLines>(
  new URL("parse-worker.ts", import.meta.url),
);

export async function startParseWorker(): Promise<void> {
  await callParseWorker({ bytes: new Uint8Array(), now: 0 }, { isJson: false });
}

/**
 * Creates an importer. It writes a block as one transaction, or as several if it is larger than the
 * database takes in one. Blocks are parsed at the same time, and written in the order of the calls.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 */
export function createImporter(database: Database, now: () => number): ImportObservations {
  let previous: Promise<unknown> = Promise.resolve();
  async function importPart(bytes: Uint8Array) {
    const parsing = parseBlock({ bytes, now: now() });
    parsing.catch(noop); // Handled once its turn comes; unhandled until then.
    const parsedInOrder = previous.then(() => parsing);
    // Without the value, which may be large.
    previous = parsedInOrder.then(noop, noop);
    const { batches, ...parsed } = await parsedInOrder;
    return { ...parsed, ...(await writeBatches(database, batches)) };
  }
  return async (bytes) => {
    const totals = { read: 0, new: 0, changed: 0, unchanged: 0, rejected: [] as RejectedLine[] };
    let linesBefore = 0;
    for (const part of splitAtLineEnds(bytes, database.transactionMaxBytes)) {
      const { lines, rejected, ...counts } = await importPart(part);
      for (const name of COUNT_NAMES) totals[name] += counts[name];
      for (const { line, reason } of rejected) {
        totals.rejected.push({ line: linesBefore + line, reason });
      }
      linesBefore += lines;
    }
    return totals;
  };
}

const COUNT_NAMES = ["read", "new", "changed", "unchanged"] as const;

const noop = () => undefined;

async function parseBlock({ bytes, now }: LineBlock): Promise<ParsedLines> {
  if (bytes.byteLength < WORKER_MIN_BYTES) return parseLines({ bytes, now });
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  const transferable = isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
  const options = { isJson: false, transfer: [transferable.buffer] };
  return deserializeLines(
    await mapTransientErrors(() => callParseWorker({ bytes: transferable, now }, options)),
  );
}
