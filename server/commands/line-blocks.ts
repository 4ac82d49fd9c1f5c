/** Files as blocks of whole lines, in constant memory. */
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { LINE_MAX_BYTES } from "../../core/limits.ts";

const NEWLINE = 0x0a;

/** Bytes that show that a line is over the limit, also behind a byte-order mark of three. */
const OVERLONG_LINE_BYTES = LINE_MAX_BYTES + 4;

/** Some whole lines of a file. */
export interface FileBlock {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number of the first of them, from 1. */
  readonly firstLine: number;
}

/**
 * Lines of a block, about: as many as the shortest that can be taken in fill one with. Shorter ones
 * are all rejected, and what is told of each takes more memory than the line.
 */
const BLOCK_MAX_LINES = 150_000;

/** Bytes that are looked at as one, at most. */
const PIECE_MAX_BYTES = 262_144;

/**
 * Cuts a stream into blocks of whole lines. Of a line that is over the limit only so much is kept
 * as shows that it is, whatever its length.
 *
 * @param blockBytes Bytes of a block, about.
 */
export async function* readBlocks(
  stream: AsyncIterable<Uint8Array>,
  blockBytes: number,
): AsyncGenerator<FileBlock> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let heldLines = 0;
  let tail: Uint8Array = new Uint8Array();
  let firstLine = 1;
  const takeBlock = (): FileBlock => {
    const block = { bytes: Buffer.concat(held), firstLine };
    firstLine += heldLines;
    held = [];
    heldBytes = heldLines = 0;
    return block;
  };
  for await (const piece of splitIntoPieces(
    stream,
    Math.min(PIECE_MAX_BYTES, Math.ceil(blockBytes / 4)),
  )) {
    const end = piece.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      held.push(tail, piece.subarray(0, end));
      heldBytes += tail.byteLength + end;
      heldLines += countLines(piece);
      tail = piece.slice(end);
    } else if (tail.byteLength < OVERLONG_LINE_BYTES) {
      tail = Buffer.concat([tail, piece]).subarray(0, OVERLONG_LINE_BYTES);
    }
    if (heldBytes >= blockBytes || heldLines >= BLOCK_MAX_LINES) yield takeBlock();
  }
  if (tail.byteLength > 0) held.push(tail);
  if (held.length > 0) yield takeBlock();
}

/** How many line ends there are in bytes. */
function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

/** Cuts what is longer than a piece may be. */
async function* splitIntoPieces(stream: AsyncIterable<Uint8Array>, maxBytes: number) {
  for await (const bytes of stream) {
    for (let at = 0; at < bytes.byteLength; at += maxBytes) yield bytes.subarray(at, at + maxBytes);
  }
}

/** What is read from a file at once, and what is made of it when it is unpacked. */
const READ_BYTES = 1_048_576;
const UNPACKED_BYTES = 4 * READ_BYTES;

/** Reads one block more than is asked for, so that it is there when it is. */
export async function* readAhead(blocks: AsyncGenerator<FileBlock>): AsyncGenerator<FileBlock> {
  let next = blocks.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done === true) return;
      next = blocks.next();
      next.catch(() => undefined); // It is told where it is waited for.
      yield value;
    }
  } finally {
    void blocks.return(undefined).catch(() => undefined);
  }
}

/** The bytes of a file, unpacked where its name ends in `.gz`; `-` is standard input. */
export function openInput(
  file: string,
  onBytes: (count: number) => void,
): AsyncIterable<Uint8Array> {
  const source =
    file === "-" ? process.stdin : createReadStream(file, { highWaterMark: READ_BYTES });
  source.on("data", (piece: Buffer | string) => onBytes(piece.length));
  // A pipeline passes an error of the file on to who reads the unpacked bytes.
  return file.endsWith(".gz")
    ? pipeline(source, createGunzip({ chunkSize: UNPACKED_BYTES }), () => undefined)
    : source;
}
