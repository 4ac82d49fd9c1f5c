/** Prints results of commands as tables, fields or sentences for people, or as JSON. */
import type { CommandLineIo } from "./process-io.ts";
import { paint, showControls } from "./style.ts";

type Cell = string | number | boolean | null;
type Row<Column extends string> = Readonly<Record<Column, Cell>>;

type View = Pick<CommandLineIo, "columns" | "hasOutColors">;

const NO_TERMINAL: View = { columns: undefined, hasOutColors: false };

type Output = CommandLineIo & { readonly isJson: boolean };

/** Prints rows as a table, or with `--json` as JSON: the rows, or another value. */
export async function printRows<Column extends string>(
  io: Output,
  rows: readonly Row<Column>[],
  options: { columns?: readonly Column[]; value?: unknown; ifEmpty?: string } = {},
): Promise<void> {
  const { columns = listFields(rows[0]), value = rows, ifEmpty } = options;
  if (io.isJson) await io.writeOut(formatJson(value));
  else if (rows.length === 0 && ifEmpty !== undefined) io.writeErr(`${ifEmpty}\n`);
  else await io.writeOut(formatTable(columns, rows, io));
}

export async function printResult(io: Output, result: object, sentence: string): Promise<void> {
  if (io.isJson) await io.writeOut(formatJson(result));
  else io.writeErr(`${sentence}\n`);
}

function listFields<Column extends string>(fields: Row<Column> | undefined): Column[] {
  // No caller has more fields than the type says.
  return Object.keys(fields ?? {}) as Column[];
}

export const formatJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Formats rows as a table. Narrows a wide table in steps, at last to one line for each field. */
export function formatTable<Column extends string>(
  columns: readonly Column[],
  rows: readonly Row<Column>[],
  view = NO_TERMINAL,
): string {
  const { columns: width = Infinity, hasOutColors } = view;
  const filled = columns.filter((column) => rows.some((row) => row[column] !== null));
  const shortened = rows.map(shortenInstants);
  const layouts: (() => TextColumn[] | undefined)[] = [
    () => toTextColumns(columns, rows),
    () => toTextColumns(filled, rows),
    () => toTextColumns(filled, shortened),
    () => wrapColumns(toTextColumns(filled, shortened), width),
  ];
  for (const layOut of layouts) {
    const table = layOut();
    if (table === undefined) break;
    const lines = drawTable(table, hasOutColors);
    if (rows.length === 0 || findWidth(lines) <= width) return `${lines.join("\n")}\n`;
  }
  return rows.map((row) => formatFields(row, view, filled)).join("\n");
}

/** Formats the first of several tables that fits the terminal; if none fits, the last one. */
export function formatFittingTable(
  tables: readonly { readonly columns: readonly string[]; readonly rows: readonly Row<string>[] }[],
  view: View,
): string {
  const { columns: width = Infinity } = view;
  const fitting = tables.find(({ columns, rows }) => {
    const lines = drawTable(toTextColumns(columns, rows), false);
    return findWidth(lines) <= width;
  });
  const { columns = [], rows = [] } = fitting ?? tables.at(-1) ?? {};
  return formatTable(columns, rows, view);
}

/**
 * Joins a number and a second one in each cell of a column, both aligned to the right.
 *
 * @example
 * joinNumbers([["1,250", "+5"], ["7", ""], ["", ""]]); // ["1,250 +5", "    7   ", null]
 */
export function joinNumbers(cells: readonly (readonly [string, string])[]): (string | null)[] {
  const firstWidth = findWidth(cells.map(([first]) => first));
  const secondWidth = findWidth(cells.map(([, second]) => second));
  return cells.map(([first, second]) => {
    if (first === "" && second === "") return null;
    return secondWidth === 0
      ? first
      : `${first.padStart(firstWidth)} ${second.padStart(secondWidth)}`;
  });
}

export function formatFields<Column extends string>(
  fields: Row<Column>,
  { hasOutColors }: View,
  columns: readonly Column[] = listFields(fields),
): string {
  const nameWidth = Math.max(...columns.map(({ length }) => length));
  const lines = columns.map((column) => {
    const name = hasOutColors ? paint("bold", toHeading(column)) : toHeading(column);
    const padding = " ".repeat(nameWidth - column.length + 2);
    return `${name}${padding}${formatCell(fields[column])}`.trimEnd();
  });
  return lines.map((line) => `${line}\n`).join("");
}

interface TextColumn {
  readonly cells: readonly string[];
  readonly isNumeric: boolean;
}

const toTextColumns = <Column extends string>(
  columns: readonly Column[],
  rows: readonly Row<Column>[],
): TextColumn[] =>
  columns.map((column) => ({
    cells: [toHeading(column), ...rows.map((row) => formatCell(row[column]))],
    isNumeric: rows.every((row) => row[column] === null || NUMBER.test(String(row[column]))),
  }));

/** A longer word is cut, so that it does not turn the whole table into a list of fields. */
const UNCUT_WORD_COLUMNS = 24;

/** Wraps the widest columns until the table fits; `undefined` if it cannot. */
function wrapColumns(columns: readonly TextColumn[], width: number): TextColumn[] | undefined {
  const sizes = columns.map(({ cells, isNumeric }) => {
    const textWidth = findWidth(cells);
    const wordWidth = findWidth(cells.flatMap((text) => text.split(" ")));
    return {
      width: textWidth,
      minWidth: isNumeric ? textWidth : Math.min(wordWidth, UNCUT_WORD_COLUMNS),
    };
  });
  let excess = sizes.reduce((sum, size) => sum + size.width + GAP.length, -GAP.length) - width;
  for (; excess > 0; excess--) {
    const [widest] = sizes
      .filter((size) => size.width > size.minWidth)
      .toSorted((a, b) => b.width - a.width);
    if (widest === undefined) return undefined;
    widest.width--;
  }
  return columns.map(({ cells, isNumeric }, index) => ({
    cells: cells.map((text) => Bun.wrapAnsi(text, sizes[index]?.width ?? width, { hard: true })),
    isNumeric,
  }));
}

const findWidth = (texts: readonly string[]) =>
  texts.reduce((width, text) => Math.max(width, Bun.stringWidth(text)), 0);

const GAP = "  ";

function drawTable(columns: readonly TextColumn[], isPainted: boolean): string[] {
  const table = columns.map(({ cells, isNumeric }) => {
    const lines = cells.map((text) => text.split("\n"));
    return { lines, isNumeric, width: findWidth(lines.flat()) };
  });
  return (columns[0]?.cells ?? []).flatMap((_, row) => {
    const height = Math.max(...table.map(({ lines }) => lines[row]?.length ?? 0));
    return Array.from({ length: height }, (__, line) => {
      const cells = table.map(({ lines, isNumeric, width }) => {
        const text = lines[row]?.[line] ?? "";
        const padding = " ".repeat(width - Bun.stringWidth(text));
        const painted = row === 0 && isPainted ? paint("bold", text) : text;
        return isNumeric ? padding + painted : painted + padding;
      });
      return cells.join(GAP).trimEnd();
    });
  });
}

/** A number, maybe with commas, with `~` for an estimate, in percent, or with its change. */
const NUMBER = /^ *~?[+-]?[\d,]+(?:\.\d+)?%?(?: +(?:[+-]?[\d,.]+%?)?)?$/;

const INSTANT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/;

function shortenInstants<Column extends string>(row: Row<Column>): Row<Column> {
  const cells = Object.entries<Cell>(row).map(([column, cell]) => [
    column,
    typeof cell === "string" ? cell.replace(INSTANT, "$1 $2Z") : cell,
  ]);
  return Object.fromEntries(cells);
}

const formatCell = (cell: Cell) => showControls(String(cell ?? ""));

const toHeading = (column: string) => column.replaceAll("_", " ");
