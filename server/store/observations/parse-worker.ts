/** The worker thread that parses large blocks of lines, so that the main thread serves requests. */
import { handleRequests } from "../../worker-rpc.ts";
import { serializeParts } from "../../observation-batches/batch-message.ts";
import type { ObservationBatch } from "../../observation-batches/observation-batch.ts";
import { parseLines, type LineBlock } from "../../observation-batches/parse-lines.ts";

/** Parsed lines between threads, as JSON: that takes a quarter of a structured clone's time. */
export interface SerializedLines extends Omit<ReturnType<typeof parseLines>, "batches"> {
  readonly batches: readonly (Omit<ObservationBatch, "entityIds" | "attributeSets"> &
    Readonly<Record<"entityIds" | "attributeSets", readonly string[]>>)[];
}

/** Blocks of this size leave so much garbage that an import takes 340 MiB instead of 300. */
const GC_MIN_BYTES = 1_048_576;

// Each bad line is an error: without their stack traces, they take three quarters of the time.
Error.stackTraceLimit = 0;

handleRequests((block: LineBlock): SerializedLines => {
  const { buffer, byteLength } = block.bytes;
  const parsed = parseLines(block);
  const batches = parsed.batches.map((batch) => ({
    ...batch,
    entityIds: serializeParts(batch.entityIds),
    attributeSets: serializeParts(batch.attributeSets),
  }));
  // Frees the bytes at once; else they would stay until after the next blocks arrived.
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
  if (byteLength >= GC_MIN_BYTES) Bun.gc(true);
  return { ...parsed, batches };
});
