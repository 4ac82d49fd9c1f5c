/**
 * Reads files as parts of parsed observations, grouped by entity. A file in the order of time names
 * each entity in each of its blocks, and each time its row, its indexes and its last chunk would be
 * written again. So the observations of many blocks wait in a window, and leave in parts: all
 * observations of an entity in the window are in one of them.
 */
import { countRejected, createRejectionCollector } from "../../../core/rejections.ts";
import type { RejectionReport } from "../../../core/stores.ts";
import { encodeBatchMessage } from "../../observation-batches/batch-message.ts";
import {
  createBatchBuilder,
  type ObservationBatch,
} from "../../observation-batches/observation-batch.ts";
import { createLineParser } from "../../observation-batches/parse-lines.ts";
import type { InputBlock } from "./csv-blocks.ts";

/** Observations that are stored by one request. */
export interface InputPart {
  /** The body of the request. */
  readonly message: Uint8Array<ArrayBuffer>;
  /** The lines that were rejected since the last part, by their numbers in the file. */
  readonly rejections: RejectionReport;
  /** The number of lines that were read, with those that were rejected. */
  readonly read: number;
  /** About how many bytes of the input the lines take. */
  readonly inputBytes: number;
}

/**
 * Observations of channels take a quarter of the memory of their lines. A window that is too small
 * for a file makes its database a tenth larger: chunks of histories come between stored ones.
 */
const WINDOW_MAX_BYTES = 64 * 1_048_576;

/** With parts of 4 MiB, an import takes 50 MiB more. */
const PART_MAX_BYTES = 2 * 1_048_576;

/** Parsed lines leave garbage. If it is not collected after so many bytes, it takes 60 MiB more. */
const GC_LINE_BYTES = 16 * 1_048_576;

/**
 * Reads blocks of lines as parts. If the blocks break off, it first yields what came before.
 *
 * @param takeInputBytes Returns how many bytes of the input were read since its last call.
 */
export async function* readParts(
  blocks: AsyncIterable<InputBlock>,
  { now, takeInputBytes }: Readonly<Record<"now" | "takeInputBytes", () => number>>,
  windowMaxBytes: number = WINDOW_MAX_BYTES,
): AsyncGenerator<InputPart> {
  let window = createWindow();
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const block of blocks) {
      window.add(block, now());
      if (window.countBytes() < windowMaxBytes) continue;
      yield* window.buildParts(takeInputBytes());
      window = createWindow();
    }
  } catch (error) {
    failure = { error };
  }
  yield* window.buildParts(takeInputBytes());
  if (failure !== undefined) throw failure.error;
}

const NO_REJECTIONS: RejectionReport = { rejected: [], causes: [] };

function createWindow() {
  const builder = createBatchBuilder();
  const parseLines = createLineParser(builder);
  const collector = createRejectionCollector();
  let read = 0;
  let lineBytes = 0;
  return {
    countBytes: builder.countBytes,

    add({ bytes, findFileLine, rejections }: InputBlock, now: number): void {
      const parsed = parseLines({ bytes, now });
      const rejected = parsed.rejected.map(({ line, reason }) => {
        return { line: findFileLine(line), reason };
      });
      rejected.push(...rejections.rejected);
      rejected.sort((a, b) => a.line - b.line);
      const causes = parsed.causes.concat(rejections.causes);
      collector.addReport({ rejected, causes }, (line) => line);
      read += parsed.read + countRejected(rejections);
      lineBytes += bytes.byteLength;
      if (lineBytes < GC_LINE_BYTES) return;
      lineBytes = 0;
      Bun.gc(true);
    },

    *buildParts(inputBytes: number): Generator<InputPart> {
      let rejections = collector.report();
      const createPart = (batches: readonly ObservationBatch[]): InputPart => {
        const observations = batches.reduce((sum, { instants }) => sum + instants.length, 0);
        const partRead = observations + countRejected(rejections);
        const message = encodeBatchMessage({ batches, read: partRead, causes: rejections.causes });
        const share = Math.round((inputBytes * partRead) / read);
        return { message, rejections, read: partRead, inputBytes: share };
      };
      for (const batches of builder.buildParts(PART_MAX_BYTES)) {
        yield createPart(batches);
        rejections = NO_REJECTIONS;
      }
      if (countRejected(rejections) > 0) yield createPart([]);
    },
  };
}
