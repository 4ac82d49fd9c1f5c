/** Imports lines of observations (NDJSON): writes the valid lines, and reports the invalid ones. */
import { createRejectionCollector } from "../../../core/rejections.ts";
import type { ImportObservations } from "../../../core/stores.ts";
import type { Database } from "../database/database.ts";
import { mapTransientErrors } from "../database/errors.ts";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { createWorkerClient } from "../database/worker-rpc.ts";
import type { ObservationBatch } from "./observation-batch.ts";
import { cutBlocks, parseLines, type LineBlock } from "./parse-lines.ts";
import type { SerializedLines } from "./parse-worker.ts";
import { writeBatches } from "./write.ts";

/** A worker thread parses blocks from this size on: in this thread, they would hold up requests. */
const WORKER_MIN_BYTES = 16_384;

/** The worker parses a block of the largest size in a second or two. */
const PARSE_TIMEOUT_MS = 60_000;

const callParseWorker = createWorkerClient<LineBlock, SerializedLines>(
  new URL("parse-worker.ts", import.meta.url),
  { timeoutMs: PARSE_TIMEOUT_MS },
);

export async function startParseWorker(): Promise<void> {
  await callParseWorker({ bytes: new Uint8Array(), now: 0 }, { isJson: false });
}

/**
 * Creates an importer. It parses lines in blocks of a bounded size, and writes each in one
 * transaction or several. Blocks of several calls are parsed at the same time; their transactions
 * may alternate. `getTransactionMs` returns about how long a transaction takes at most; by default,
 * each block is one transaction.
 */
export function createImporter(
  database: Database,
  now: () => number,
  { getTransactionMs }: { readonly getTransactionMs?: () => number } = {},
): ImportObservations {
  let previous: Promise<unknown> = Promise.resolve();
  async function importBlock(bytes: Uint8Array) {
    const parsing = parseBlock({ bytes, now: now() });
    parsing.catch(noop); // Awaited later; until then, a rejection would be unhandled.
    const parsedInOrder = previous.then(() => parsing);
    // Without the value, which may be large.
    previous = parsedInOrder.then(noop, noop);
    const { batches, ...parsed } = await parsedInOrder;
    return { ...parsed, ...(await writeBatches(database, batches, getTransactionMs)) };
  }
  return async (bytes) => {
    const totals = { read: 0, new: 0, changed: 0, unchanged: 0 };
    const rejections = createRejectionCollector();
    let linesBefore = 0;
    for (const block of cutBlocks(bytes, database.transactionMaxBytes)) {
      const { lines, rejected, causes, ...counts } = await importBlock(block);
      for (const name of COUNT_NAMES) totals[name] += counts[name];
      const firstLine = linesBefore;
      rejections.addReport({ rejected, causes }, (line) => firstLine + line);
      linesBefore += lines;
    }
    return { ...totals, ...rejections.report() };
  };
}

const COUNT_NAMES = ["read", "new", "changed", "unchanged"] as const;

const noop = () => undefined;

async function parseBlock({ bytes, now }: LineBlock): Promise<ReturnType<typeof parseLines>> {
  if (bytes.byteLength < WORKER_MIN_BYTES) return parseLines({ bytes, now });
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  const transferable = isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
  const options = { isJson: false, transfer: [transferable.buffer] };
  const parse = () => callParseWorker({ bytes: transferable, now }, options);
  const { batches, ...parsed } = await mapTransientErrors(parse);
  const deserialized: ObservationBatch[] = [];
  for (const batch of batches) {
    const entityIds: string[] = await parseParts(batch.entityIds);
    deserialized.push({
      ...batch,
      entityIds,
      attributeSets: await parseParts(batch.attributeSets),
    });
  }
  return { ...parsed, batches: deserialized };
}

/** Parses part by part, so that requests are served in between. */
async function parseParts<Value>(parts: readonly string[]): Promise<Value[]> {
  const values: Value[] = [];
  for (const part of parts) {
    const partValues: Value[] = JSON.parse(part);
    for (const value of partValues) values.push(value);
    if (parts.length > 1) await yieldToEventLoop();
  }
  return values;
}
