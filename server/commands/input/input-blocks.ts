/** Reads observations (JSON lines or CSV, also gzipped) as blocks of lines in constant memory. */
import { createReadStream } from "node:fs";
import { PassThrough, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { EntityKind } from "../../../core/kinds.ts";
import { OBSERVATION_LINE_MAX_BYTES } from "../../../core/limits.ts";
import type { OBSERVATION_FORMATS } from "../../csv/observation-rows.ts";
import { createReadError } from "../command.ts";
import { readCsvBlocks, type InputBlock } from "./csv-blocks.ts";

/** The size of a block of CSV, roughly: between two blocks, the next bytes are decompressed. */
const BLOCK_BYTES = 1_048_576;

export interface InputOptions {
  /** By default, the ending of the file's name decides. */
  readonly format?: (typeof OBSERVATION_FORMATS)[number];
  /** The kind of all rows of CSV; by default the one in the column `kind`. */
  readonly kind?: EntityKind;
}

export const isCsv = (file: string, { format }: InputOptions): boolean =>
  format === undefined ? /\.csv(?:\.gz)?$/.test(file) : format === "csv";

/** Reads a file, or standard input for `-`. @param onBytes Receives the byte count of each read. */
export async function* readInput(
  file: string,
  options: InputOptions,
  onBytes: (count: number) => void = () => undefined,
  blockBytes = BLOCK_BYTES,
): AsyncGenerator<InputBlock> {
  try {
    const input = openInput(file, onBytes);
    if (isCsv(file, options)) yield* readCsvBlocks(input, options.kind, blockBytes);
    else yield* readBlocks(input);
  } catch (error) {
    throw createReadError(file, error);
  }
}

/** Checks the columns and the kind of a CSV file. @throws {CommandError} If they are wrong. */
export async function checkInput(file: string, options: InputOptions): Promise<void> {
  if (!isCsv(file, options)) return;
  // The kind is checked with the first row.
  for await (const _ of readInput(file, options, undefined, 1)) break;
}

const READ_BYTES = 1_048_576;
const UNPACKED_BYTES = READ_BYTES;

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

const NEWLINE = 0x0a;

const NO_REJECTIONS = { rejected: [], causes: [] };

/** Bytes that show that a line is too long, even behind a byte-order mark of three bytes. */
const OVERLONG_LINE_BYTES = OBSERVATION_LINE_MAX_BYTES + 4;

/** Cuts a stream into blocks of whole lines. Shortens an overlong line, but it stays overlong. */
export async function* readBlocks(stream: AsyncIterable<Uint8Array>): AsyncGenerator<InputBlock> {
  /** The beginning of the line whose end did not come yet. */
  let tail: Uint8Array = new Uint8Array();
  let firstLine = 1;
  const createBlock = (bytes: Uint8Array): InputBlock => {
    const first = firstLine;
    firstLine += countLineEnds(bytes);
    const findFileLine = (line: number) => first + line - 1;
    return { bytes, findFileLine, rejections: NO_REJECTIONS };
  };
  for await (const piece of stream) {
    const start = piece.indexOf(NEWLINE) + 1;
    if (start === 0) {
      tail = Buffer.concat([tail, piece]).subarray(0, OVERLONG_LINE_BYTES);
      continue;
    }
    yield createBlock(Buffer.concat([tail, piece.subarray(0, start)]));
    const end = piece.lastIndexOf(NEWLINE) + 1;
    if (end > start) yield createBlock(piece.subarray(start, end));
    // Copied, so that the piece is not kept.
    tail = new Uint8Array(piece.subarray(end, end + OVERLONG_LINE_BYTES));
  }
  if (tail.byteLength > 0) yield createBlock(tail);
}

export function countLineEnds(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
