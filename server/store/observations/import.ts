/** Imports lines of observations (NDJSON): writes the valid lines, and reports the invalid ones. */
import type { OutcomeCounts } from "../../../core/entities.ts";
import { createRejectionCollector } from "../../../core/rejections.ts";
import type { ImportObservations } from "../../../core/stores.ts";
import type { Database } from "../database/database.ts";
import { mapTransientErrors } from "../database/errors.ts";
import { getProgramUrl } from "../../programs.ts";
import { createWorkerClient } from "../../worker-rpc.ts";
import { parseParts } from "../../observation-batches/batch-message.ts";
import type { ObservationBatch } from "../../observation-batches/observation-batch.ts";
import { cutBlocks, parseLines, type LineBlock } from "../../observation-batches/parse-lines.ts";
import type { SerializedLines } from "./parse-worker.ts";
import { createBatchCutter, cutToBytes } from "./batch-parts.ts";
import { addCounts, writeBatches } from "./write.ts";

/** A worker thread parses blocks from this size on: in this thread, they would hold up requests. */
const WORKER_MIN_BYTES = 16_384;

/** The worker parses a block of the largest size in a second or two. */
const PARSE_TIMEOUT_MS = 60_000;

const parseWorker = createWorkerClient<LineBlock, SerializedLines>(
  getProgramUrl("store/observations/parse-worker.ts"),
  { timeoutMs: PARSE_TIMEOUT_MS },
);

export async function startParseWorker(): Promise<void> {
  await parseWorker.call({ bytes: new Uint8Array(), now: 0 }, { isJson: false });
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
    const cutter = createBatchCutter(getTransactionMs);
    return { ...parsed, ...(await writeBatches(database, batches, cutter)) };
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

/** Creates an importer of observations that were parsed and grouped before. */
export function createBatchImporter(
  database: Database,
  { getTransactionMs }: { readonly getTransactionMs?: () => number } = {},
) {
  // An import sends many requests: each one begins with the adapted size of the last one.
  const cutter = createBatchCutter(getTransactionMs);
  return async (batches: readonly ObservationBatch[]): Promise<OutcomeCounts> => {
    const totals = { new: 0, changed: 0, unchanged: 0 };
    for (const batch of batches) {
      for (const part of cutToBytes(batch, database.transactionMaxBytes)) {
        addCounts(totals, await writeBatches(database, [part], cutter));
      }
    }
    return totals;
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
  const parse = () => parseWorker.call({ bytes: transferable, now }, options);
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
