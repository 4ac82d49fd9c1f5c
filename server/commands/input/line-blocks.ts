/** Cuts streams into blocks of whole lines, in constant memory. */
import { OBSERVATION_LINE_MAX_BYTES } from "../../../core/limits.ts";
import type { RejectionReport } from "../../../core/stores.ts";

const NEWLINE = 0x0a;

const NO_REJECTIONS: RejectionReport = { rejected: [], causes: [] };

/** Bytes that show that a line is too long, even behind a byte-order mark of three bytes. */
const OVERLONG_LINE_BYTES = OBSERVATION_LINE_MAX_BYTES + 4;

/** Lines of observations from a file. */
export interface InputBlock {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number in the file of a line of the block. */
  findFileLine(line: number): number;
  /** Rejected parts of the file between the lines, by their line numbers in the file. */
  readonly rejections: RejectionReport;
}

/** The largest piece of a stream that is searched for line ends at once. */
const PIECE_MAX_BYTES = 262_144;

/**
 * Cuts a stream into blocks of roughly `blockBytes`. Of a line that is too long only its beginning is
 * kept, which is enough for the service to reject it.
 */
export async function* readBlocks(
  stream: AsyncIterable<Uint8Array>,
  blockBytes: number,
): AsyncGenerator<InputBlock> {
  let pieces: Uint8Array[] = [];
  let byteCount = 0;
  let lineCount = 0;
  let tail: Uint8Array = new Uint8Array();
  let firstLine = 1;
  const takeBlock = (): InputBlock => {
    const first = firstLine;
    const findFileLine = (line: number) => first + line - 1;
    const block = { bytes: Buffer.concat(pieces), findFileLine, rejections: NO_REJECTIONS };
    firstLine += lineCount;
    pieces = [];
    byteCount = lineCount = 0;
    return block;
  };
  const pieceBytes = Math.min(PIECE_MAX_BYTES, Math.ceil(blockBytes / 4));
  for await (const piece of splitIntoPieces(stream, pieceBytes)) {
    const end = piece.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      pieces.push(tail, piece.subarray(0, end));
      byteCount += tail.byteLength + end;
      lineCount += countLineEnds(piece);
      tail = piece.slice(end);
    } else if (tail.byteLength < OVERLONG_LINE_BYTES) {
      tail = Buffer.concat([tail, piece]).subarray(0, OVERLONG_LINE_BYTES);
    }
    if (byteCount >= blockBytes) yield takeBlock();
  }
  if (tail.byteLength > 0) pieces.push(tail);
  if (pieces.length > 0) yield takeBlock();
}

export function countLineEnds(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

async function* splitIntoPieces(stream: AsyncIterable<Uint8Array>, maxBytes: number) {
  for await (const bytes of stream) {
    for (let at = 0; at < bytes.byteLength; at += maxBytes) yield bytes.subarray(at, at + maxBytes);
  }
}
