/** Reads CSV files of observations as blocks of lines (NDJSON), in constant memory. */
import { createInvalidRequestError, DomainError } from "../../../core/errors.ts";
import type { EntityKind } from "../../../core/kinds.ts";
import { createRejectionCollector } from "../../../core/rejections.ts";
import { createObservationRowParser, findRowKind } from "../../csv/observation-rows.ts";
import { parseCsvRow, type CsvCell } from "../../csv/rows.ts";
import { createRowCutter, type FileRow } from "./csv-rows.ts";
import type { InputBlock } from "./line-blocks.ts";

const TEXT_MAX_CHARACTERS = 65_536;

const encoder = new TextEncoder();

/**
 * Reads a CSV file as blocks of roughly `blockBytes`. Rows that are blank or have empty cells only are
 * skipped.
 *
 * @param kind Of all rows; by default the one in the column `kind` of the first row.
 * @throws {DomainError} Before the first observation, if the header or the kind is wrong.
 */
export async function* readCsvBlocks(
  stream: AsyncIterable<Uint8Array>,
  kind: EntityKind | undefined,
  blockBytes: number,
): AsyncGenerator<InputBlock> {
  let header: readonly CsvCell[] | undefined;
  let parseRow: ReturnType<typeof createObservationRowParser> | undefined;
  let block = createBlockBuilder();
  // The rows of a piece come at once: a promise for each would be slow.
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

async function* cutRows(stream: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow[]> {
  const cutter = createRowCutter();
  for await (const piece of stream) yield cutter.cut(piece);
  yield cutter.end();
}

function parseCells({ text, line, problem }: FileRow): CsvCell[] {
  if (text === undefined) throw createInvalidRequestError(problem ?? "");
  return parseCsvRow(line === 1 ? text.replace(/^\uFEFF/, "") : text);
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
    /** Returns what is parsed; rejects the row, and returns `undefined`, if it is invalid. */
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
        // The pieces are not kept until the block is stored.
        bytes: Buffer.concat(pieces.splice(0)),
        findFileLine: (line) => fileLines[line - 1] ?? 0,
        rejections: rejections.report(),
      };
    },
  };
}
