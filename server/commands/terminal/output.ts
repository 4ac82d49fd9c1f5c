/** Prints rows as a table for people, or as JSON for programs. */
import Table from "cli-table3";
import type { CommandLineIo } from "./process-io.ts";
import { paint, showControls } from "./style.ts";

type Cell = string | number | boolean | null;
type Row<Column extends string> = Readonly<Record<Column, Cell>>;

/** Where text is shown; by default no terminal. */
type View = Pick<CommandLineIo, "columns" | "hasOutColors">;

const NO_TERMINAL: View = { columns: undefined, hasOutColors: false };

/** The output of a command: its terminal, and whether its data is JSON. */
type Output = CommandLineIo & { readonly isJson: boolean };

interface RowsOptions<Column extends string> {
  /** The columns of the table, in its order; by default, all fields of the rows. */
  readonly columns?: readonly Column[];
  /** The value that is printed as JSON; by default, the rows. */
  readonly value?: unknown;
  /** The message in place of a table without rows: the next step. */
  readonly ifEmpty?: string;
}

/** Prints rows as a table, or with `--json` as JSON. */
export async function printRows<Column extends string>(
  io: Output,
  rows: readonly Row<Column>[],
  { columns = listFields(rows[0]), value = rows, ifEmpty }: RowsOptions<Column> = {},
): Promise<void> {
  if (io.isJson) await io.writeOut(formatJson(value));
  else if (rows.length === 0 && ifEmpty !== undefined) io.writeErr(`${ifEmpty}\n`);
  else await io.writeOut(formatTable(columns, rows, io));
}

/** Prints a result: with `--json` as JSON, else a sentence about it on standard error. */
export async function printResult(io: Output, result: object, sentence: string): Promise<void> {
  if (io.isJson) await io.writeOut(formatJson(result));
  else io.writeErr(`${sentence}\n`);
}

/** Lists the names of fields, as of the columns of a table. */
function listFields<Column extends string>(fields: Row<Column> | undefined): Column[] {
  // No caller has more fields than the type says.
  return Object.keys(fields ?? {}) as Column[];
}

/** Formats JSON with indentation and a final line break. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * Formats rows as a table without lines; a null is empty. If the table is wider than the terminal,
 * columns without any value are left out, then times have no seconds, then texts are wrapped. If
 * that is too wide too, each row becomes lines of a name and a value.
 */
export function formatTable<Column extends string>(
  columns: readonly Column[],
  rows: readonly Row<Column>[],
  view = NO_TERMINAL,
): string {
  const { columns: width = Infinity, hasOutColors } = view;
  const filled = columns.filter((column) => rows.some((row) => row[column] !== null));
  const layouts: (() => TableText | undefined)[] = [
    () => toTableText(columns, rows),
    () => toTableText(filled, rows),
    () => toTableText(filled, rows.map(shortenInstants)),
    () => wrapTable(toTableText(filled, rows.map(shortenInstants)), width),
  ];
  for (const layOut of layouts) {
    const table = layOut();
    if (table === undefined) break;
    const lines = drawTable(table, hasOutColors);
    const isTooWide = lines.some((line) => Bun.stringWidth(line) > width);
    if (!isTooWide || rows.length === 0) return lines.map((line) => `${line}\n`).join("");
  }
  return rows.map((row) => formatFields(row, view, filled)).join("\n");
}

/** Formats fields as lines of a name and a value. */
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

/** The texts of a table, and which of its columns are numbers. */
interface TableText {
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly isNumeric: readonly boolean[];
}

function toTableText<Column extends string>(
  columns: readonly Column[],
  rows: readonly Row<Column>[],
): TableText {
  return {
    headings: columns.map(toHeading),
    rows: rows.map((row) => columns.map((column) => formatCell(row[column]))),
    isNumeric: columns.map(
      (column) =>
        rows.length > 0 &&
        rows.every((row) => row[column] === null || NUMBER.test(String(row[column]))),
    ),
  };
}

/** A longer word is cut, so that it does not turn the whole table into a list of fields. */
const UNCUT_WORD_COLUMNS = 24;

/** Wraps the widest columns until the table fits; `undefined` if it cannot. */
function wrapTable({ headings, rows, isNumeric }: TableText, width: number): TableText | undefined {
  const columns = headings.map((heading, index) => {
    const texts = [heading, ...rows.map((row) => row[index] ?? "")];
    const textWidth = findWidth(texts);
    if (isNumeric[index] === true) return { width: textWidth, minWidth: textWidth };
    const wordWidth = findWidth(texts.flatMap((text) => text.split(" ")));
    return { width: textWidth, minWidth: Math.min(wordWidth, UNCUT_WORD_COLUMNS) };
  });
  let excess =
    columns.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length) - width;
  for (; excess > 0; excess--) {
    const [widest] = columns
      .filter((column) => column.width > column.minWidth)
      .toSorted((a, b) => b.width - a.width);
    if (widest === undefined) return undefined;
    widest.width--;
  }
  const wrap = (text: string, index: number) =>
    Bun.wrapAnsi(text, columns[index]?.width ?? width, { hard: true });
  return { headings: headings.map(wrap), rows: rows.map((row) => row.map(wrap)), isNumeric };
}

const findWidth = (texts: readonly string[]) =>
  texts.reduce((width, text) => Math.max(width, Bun.stringWidth(text)), 0);

/** The space between two columns. */
const GAP = "  ";

function drawTable({ headings, rows, isNumeric }: TableText, isPainted: boolean): string[] {
  const table = new Table({
    chars: NO_BORDER_CHARS,
    head: headings.map((heading) => (isPainted ? paint("bold", heading) : heading)),
    colAligns: isNumeric.map((isNumber) => (isNumber ? "right" : "left")),
    style: { head: [], border: [], "padding-left": 0, "padding-right": GAP.length },
  });
  for (const row of rows) table.push([...row]);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
}

/** A number, maybe an estimated one, and maybe with commas. */
const NUMBER = /^~?-?[\d,]+(?:\.\d+)?$/;

const INSTANT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/;

/** Leaves the seconds out of all instants of a row. */
function shortenInstants<Column extends string>(row: Row<Column>): Row<Column> {
  const cells = Object.entries<Cell>(row).map(([column, cell]) => [
    column,
    typeof cell === "string" ? cell.replace(INSTANT, "$1 $2Z") : cell,
  ]);
  return Object.fromEntries(cells);
}

const formatCell = (cell: Cell) => showControls(String(cell ?? ""));

const toHeading = (column: string) => column.replaceAll("_", " ");

const NO_BORDER_CHARS = Object.fromEntries(
  ["top", "bottom", "left", "right"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat("mid", "mid-mid", "middle")
    .map((name) => [name, ""] as const),
);
