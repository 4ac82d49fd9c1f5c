/** Reads CSV files of observations as blocks of lines (NDJSON), in constant memory. */
import { parseCsvRow, type CsvCell } from "../../csv/rows.ts";
import type { EntityKind } from "../../../core/kinds.ts";
import { createInvalidRequestError, DomainError } from "../../../core/errors.ts";
import {
  createObservationRowParser,
  findRowKind,
  type ParseObservationRow,
} from "../../csv/observation-rows.ts";
import { createRejectionCollector } from "../../../core/rejections.ts";
import type { InputBlock } from "./line-blocks.ts";
import { createRowCutter, type FileRow } from "./csv-rows.ts";

/** Characters of lines that are kept as text. */
const TEXT_MAX_CHARACTERS = 65_536;

const encoder = new TextEncoder();

/**
 * Reads a CSV file. Rows that are blank or have empty cells only are skipped.
 *
 * @param kind Of all rows; by default the one in the column `kind` of the first row.
 * @param blockBytes The size of a block, roughly.
 * @throws {DomainError} `Invalid Request` before the first observation, if the header or the kind is
 * wrong.
 */
export async function* readCsvBlocks(
  stream: AsyncIterable<Uint8Array>,
  kind: EntityKind | undefined,
  blockBytes: number,
): AsyncGenerator<InputBlock> {
  const reader = createRowReader(kind);
  let block = createBlockBuilder();
  for await (const rows of cutRows(stream)) {
    for (const row of rows) {
      block.add(row, reader.read(row));
      if (!block.isFull(blockBytes)) continue;
      yield block.build();
      block = createBlockBuilder();
    }
  }
  reader.assertHeader();
  yield block.build();
}

async function* cutRows(stream: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow[]> {
  const cutter = createRowCutter();
  for await (const piece of stream) yield cutter.cut(piece);
  yield cutter.end();
}

/** A row: an observation, or the reason to reject it; neither if it is blank or the header. */
interface ReadRow {
  readonly record?: Record<string, unknown>;
  readonly reason?: string;
}

/** Creates a reader of the rows of a file. It throws if the header or the kind is wrong. */
function createRowReader(kind: EntityKind | undefined) {
  let header: readonly CsvCell[] | undefined;
  let parseRow: ParseObservationRow | undefined;

  return {
    read(row: FileRow): ReadRow {
      if (header === undefined) {
        const names = parseCells(row);
        if (names.every((name) => name === null)) return {};
        header = names;
        if (kind !== undefined) parseRow = createObservationRowParser(kind, header);
        return {};
      }
      const { value: cells, ...unreadable } = attempt(() => parseCells(row));
      if (cells === undefined) return unreadable;
      if (cells.every((cell) => cell === null)) return {};
      parseRow ??= createObservationRowParser(kind ?? findRowKind(header, cells), header);
      const { value: record, ...invalid } = attempt(() => parseRow?.(cells));
      return record === undefined ? invalid : { record };
    },

    assertHeader(): void {
      if (header === undefined) throw createInvalidRequestError("There is no row with the columns");
    },
  };
}

function parseCells({ text, line, problem }: FileRow): CsvCell[] {
  if (text === undefined) throw createInvalidRequestError(problem ?? "");
  return parseCsvRow(line === 1 ? text.replace(/^\uFEFF/, "") : text);
}

function attempt<Value>(action: () => Value): { readonly value?: Value; readonly reason?: string } {
  try {
    return { value: action() };
  } catch (error) {
    if (error instanceof DomainError) return { reason: error.message };
    throw error;
  }
}

function createBlockBuilder() {
  const pieces: Uint8Array[] = [];
  let text = "";
  let byteCount = 0;
  /** For each line, the number of the line of the file at which its row begins. */
  const fileLines: number[] = [];
  const rejections = createRejectionCollector();

  /** Turns the text into bytes early: it takes up to four times their memory. */
  function flush(): void {
    pieces.push(encoder.encode(text));
    byteCount += pieces.at(-1)?.length ?? 0;
    text = "";
  }

  return {
    add({ line }: FileRow, { record, reason }: ReadRow): void {
      if (reason !== undefined) rejections.add({ line, reason });
      if (record === undefined) return;
      text += `${JSON.stringify(record)}\n`;
      fileLines.push(line);
      if (text.length >= TEXT_MAX_CHARACTERS) flush();
    },
    isFull: (blockBytes: number): boolean => byteCount + text.length >= blockBytes,
    build(): InputBlock {
      flush();
      return {
        // The pieces are not kept until the block is stored.
        bytes: Buffer.concat(pieces.splice(0)),
        findFileLine: (line) => fileLines[line - 1] ?? 0,
        rejections: rejections.report(),
      };
    },
  };
}
