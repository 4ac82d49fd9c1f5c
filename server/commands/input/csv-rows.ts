/**
 * Cuts a stream of CSV into rows, in constant memory.
 *
 * Why no library: papaparse does not tell an empty cell in quotes from an empty cell, and keeps all
 * of a row whose quotes are not closed. csv-parse drops the rest of a block behind a row that is too
 * long, and counts a line break of two characters in quotes as two lines.
 */
import { isUtf8 } from "node:buffer";
import { OBSERVATION_LINE_MAX_BYTES } from "../../../core/limits.ts";

export interface FileRow {
  /** The number of its first line, from 1. */
  readonly line: number;
  /** The row without its line end; `undefined` if the row cannot be read. */
  readonly text: string | undefined;
  /** Why it cannot be read. */
  readonly problem: string | undefined;
}

const NEWLINE = 0x0a;
const COMMA = 0x2c;
const QUOTE = 0x22;

/** Where in a row the next byte is. A quote is special at the start of a cell and in a quoted cell. */
const CELL_START = 0;
const UNQUOTED = 1;
const QUOTED = 2;
/** Behind a quote in a quoted cell: the cell ends, unless another quote follows. */
const QUOTE_SEEN = 3;

export function createRowCutter() {
  let state = CELL_START;
  /** The beginning of a row whose end did not come yet; dropped once the row is too long. */
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  let line = 1;
  let rowLine = 1;

  function createRow(bytes: Buffer): FileRow {
    const row = { line: rowLine, text: undefined };
    if (isTooLong || bytes.length > OBSERVATION_LINE_MAX_BYTES) {
      return {
        ...row,
        problem: `A row has at most ${OBSERVATION_LINE_MAX_BYTES} bytes: is a quote missing?`,
      };
    }
    if (!isUtf8(bytes)) return { ...row, problem: "The row must be valid UTF-8" };
    return { ...row, text: bytes.toString().replace(/\r$/, ""), problem: undefined };
  }

  return {
    /** Takes the next bytes of the file, and returns the rows that end in them. */
    cut(piece: Uint8Array): FileRow[] {
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
      return rows;
    },

    /** Returns the last row, if no line end follows it. */
    end: (): FileRow[] => (rest.length > 0 || isTooLong ? [createRow(rest)] : []),
  };
}
