/**
 * Reads CSV files of observations as blocks of JSON lines in constant memory; rejects invalid rows.
 *
 * Why no library: papaparse takes a quoted empty cell for an empty cell, and buffers all of a row
 * with an unclosed quote. csv-parse drops the rest of a block after a row that is too long, and
 * counts a CRLF in quotes as two lines.
 */
import { isUtf8 } from "node:buffer";
import { createInvalidRequestError, DomainError } from "../../../core/errors.ts";
import type { EntityKind } from "../../../core/kinds.ts";
import { OBSERVATION_LINE_MAX_BYTES } from "../../../core/limits.ts";
import { createRejectionCollector } from "../../../core/rejections.ts";
import type { RejectionReport } from "../../../core/stores.ts";
import { createObservationRowParser, findRowKind } from "../../csv/observation-rows.ts";
import { parseCsvRow, type CsvCell } from "../../csv/rows.ts";

export interface InputBlock {
  readonly bytes: Uint8Array;
  findFileLine(line: number): number;
  /** Rejected rows, which the block does not have, by their line numbers in the file. */
  readonly rejections: RejectionReport;
}

const TEXT_MAX_CHARACTERS = 65_536;

/** Reads CSV in blocks of about `blockBytes`. Throws before the first block on a wrong header. */
export async function* readCsvBlocks(
  stream: AsyncIterable<Uint8Array>,
  kind: EntityKind | undefined,
  blockBytes: number,
): AsyncGenerator<InputBlock> {
  let header: readonly CsvCell[] | undefined;
  let parseRow: ReturnType<typeof createObservationRowParser> | undefined;
  let block = createBlockBuilder();
  // The rows of a piece come in one array: a promise for each row would be slow.
  for await (const rows of cutRows(stream)) {
    for (const row of rows) {
      // Without a header there is nothing to import; any other invalid row is rejected alone.
      const parse = () => parseCells(row);
      const cells = header === undefined ? parse() : block.attempt(row, parse);
      if (cells === undefined || cells.every((cell) => cell === null)) continue;
      if (header === undefined) {
        header = cells;
        if (kind !== undefined) parseRow = createObservationRowParser(kind, header);
        continue;
      }
      parseRow ??= createObservationRowParser(kind ?? findRowKind(header, cells), header);
      const record = block.attempt(row, () => parseRow?.(cells));
      if (record !== undefined) block.add(row, record);
      if (!block.isFull(blockBytes)) continue;
      yield block.build();
      block = createBlockBuilder();
    }
  }
  if (header === undefined) throw createInvalidRequestError("There is no row with the columns");
  yield block.build();
}

function parseCells({ text, line, problem }: FileRow): CsvCell[] {
  if (text === undefined) throw createInvalidRequestError(problem ?? "");
  return parseCsvRow(line === 1 ? text.replace(/^\uFEFF/, "") : text);
}

function createBlockBuilder() {
  const pieces: Uint8Array[] = [];
  let text = "";
  let byteCount = 0;
  /** For each line of the block, the line number in the file at which its row begins. */
  const fileLines: number[] = [];
  const rejections = createRejectionCollector();

  /** Encodes the text early: it takes up to four times the memory of its bytes. */
  function flush(): void {
    const piece = Buffer.from(text);
    pieces.push(piece);
    byteCount += piece.length;
    text = "";
  }

  return {
    attempt<Value>({ line }: FileRow, parse: () => Value): Value | undefined {
      try {
        return parse();
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        rejections.add({ line, reason: error.message });
        return undefined;
      }
    },
    add({ line }: FileRow, record: Record<string, unknown>): void {
      text += `${JSON.stringify(record)}\n`;
      fileLines.push(line);
      if (text.length >= TEXT_MAX_CHARACTERS) flush();
    },
    isFull: (blockBytes: number): boolean => byteCount + text.length >= blockBytes,
    build(): InputBlock {
      flush();
      return {
        // Releases the pieces now: the block lives until it is stored.
        bytes: Buffer.concat(pieces.splice(0)),
        findFileLine: (line) => fileLines[line - 1] ?? 0,
        rejections: rejections.report(),
      };
    },
  };
}

interface FileRow {
  readonly line: number;
  /** The row without its line end; `undefined` if the row cannot be read. */
  readonly text: string | undefined;
  readonly problem: string | undefined;
}

const NEWLINE = 0x0a;
const COMMA = 0x2c;
const QUOTE = 0x22;

/** Where in a row the next byte is. Quotes are special at a cell's start and in quoted cells. */
const CELL_START = 0;
const UNQUOTED = 1;
const QUOTED = 2;
/** Behind a quote in a quoted cell: the cell ends, unless another quote follows. */
const QUOTE_SEEN = 3;

export async function* cutRows(stream: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow[]> {
  let state = CELL_START;
  /** The beginning of a row whose end did not come yet; dropped once the row is too long. */
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  let line = 1;
  let rowLine = 1;

  function createRow(bytes: Buffer): FileRow {
    const reject = (problem: string) => ({ line: rowLine, text: undefined, problem });
    if (isTooLong || bytes.length > OBSERVATION_LINE_MAX_BYTES) {
      return reject(`A row has at most ${OBSERVATION_LINE_MAX_BYTES} bytes: is a quote missing?`);
    }
    if (!isUtf8(bytes)) return reject("The row must be valid UTF-8");
    return { line: rowLine, text: bytes.toString().replace(/\r$/, ""), problem: undefined };
  }

  for await (const piece of stream) {
    const rows: FileRow[] = [];
    const bytes =
      rest.length === 0
        ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
        : Buffer.concat([rest, piece]);
    let rowStart = 0;
    for (let index = rest.length; index < bytes.length; index++) {
      const byte = bytes[index];
      if (byte === NEWLINE) line++;
      if (state === QUOTED) {
        if (byte === QUOTE) state = QUOTE_SEEN;
      } else if (byte === NEWLINE) {
        rows.push(createRow(bytes.subarray(rowStart, index)));
        [rowStart, rowLine, isTooLong, state] = [index + 1, line, false, CELL_START];
      } else if (byte === COMMA) state = CELL_START;
      else state = byte === QUOTE && state !== UNQUOTED ? QUOTED : UNQUOTED;
    }
    rest = bytes.subarray(rowStart);
    if (rest.length > OBSERVATION_LINE_MAX_BYTES) isTooLong = true;
    // Copied, so that the piece is not kept.
    rest = isTooLong ? Buffer.alloc(0) : Buffer.from(rest);
    yield rows;
  }
  if (rest.length > 0 || isTooLong) yield [createRow(rest)];
}
