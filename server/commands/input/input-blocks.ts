/** Reads files of observations, lines or CSV, packed or not, as blocks of lines. */
import { createReadStream } from "node:fs";
import { PassThrough, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { EntityKind } from "../../../core/kinds.ts";
import type { OBSERVATION_FORMATS } from "../../csv/observation-rows.ts";
import { createReadError } from "../command.ts";
import { readCsvBlocks } from "./csv-blocks.ts";
import { readBlocks, type InputBlock } from "./line-blocks.ts";

export interface InputOptions {
  /** By default, the one that the name of the file tells. */
  readonly format?: (typeof OBSERVATION_FORMATS)[number];
  /** The kind of all rows of CSV; by default the one in the column `kind`. */
  readonly kind?: EntityKind;
}

export function isCsv(file: string, { format }: InputOptions): boolean {
  return format === undefined ? /\.csv(?:\.gz)?$/.test(file) : format === "csv";
}

/** Reads a file, or standard input for `-`, as blocks of roughly `blockBytes`. */
export async function* readInput(
  file: string,
  options: InputOptions,
  blockBytes: number,
  onBytes: (count: number) => void = () => undefined,
): AsyncGenerator<InputBlock> {
  try {
    const input = openInput(file, onBytes);
    if (isCsv(file, options)) yield* readCsvBlocks(input, options.kind, blockBytes);
    else yield* readBlocks(input, blockBytes);
  } catch (error) {
    throw createReadError(file, error);
  }
}

/** Checks the columns and the kind of a file. @throws {CommandError} If they are wrong. */
export async function checkInput(file: string, options: InputOptions): Promise<void> {
  if (!isCsv(file, options)) return;
  // The kind is checked with the first row.
  for await (const _ of readInput(file, options, 1)) break;
}

/** Bytes that are read from a file at once, and that are unpacked at once. */
const READ_BYTES = 1_048_576;
const UNPACKED_BYTES = 4 * READ_BYTES;

/** Opens a file. @param onBytes Receives the number of bytes read, before unpacking. */
function openInput(file: string, onBytes: (count: number) => void): AsyncIterable<Uint8Array> {
  const source =
    file === "-" ? process.stdin : createReadStream(file, { highWaterMark: READ_BYTES });
  source.on("data", (piece: Buffer | string) => onBytes(piece.length));
  return file.endsWith(".gz") ? unpack(source) : source;
}

/** Unpacks a stream. If it breaks off, the bytes before that point are yielded before the error. */
async function* unpack(source: Readable): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: UNPACKED_BYTES });
  // A failed stream drops its buffer, so the bytes wait in a stream that does not fail.
  const unpacked = new PassThrough();
  let failure: Error | undefined;
  source.on("error", (error) => gunzip.destroy(error));
  gunzip.on("error", (error) => {
    failure = error;
    unpacked.end();
  });
  yield* source.pipe(gunzip).pipe(unpacked);
  if (failure) throw failure;
}
