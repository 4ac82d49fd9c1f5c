/** Prints rows as a table for people, or as JSON for programs. */
import Table from "cli-table3";
import type { CommandLineIo } from "../../ports/process.ts";

type Cell = string | number | boolean | null;

/** The option that every command with data has. */
export interface OutputOptions {
  readonly json?: true;
}

/**
 * Prints rows as a table, or with `--json` as JSON.
 *
 * @param columns The fields of the table, in its order.
 * @param value What is printed as JSON; the rows by default.
 */
export async function printRows<Column extends string>(
  io: CommandLineIo,
  { json }: OutputOptions,
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, Cell>>[],
  value: unknown = rows,
): Promise<void> {
  await io.writeOut(json === true ? formatJson(value) : formatTable(columns, rows, io.columns));
}

/** Formats JSON with indentation and a final line break. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * Formats rows as a table without lines; a null is empty. If the table is wider than the terminal,
 * each row becomes lines of a name and a value instead, because wrapped rows are hard to read.
 *
 * @param width Width of the terminal.
 */
export function formatTable<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, Cell>>[],
  width = Infinity,
): string {
  const isNumeric = (column: Column) =>
    rows.length > 0 && rows.every((row) => row[column] === null || typeof row[column] === "number");
  const table = new Table({
    chars: NO_BORDER_CHARS,
    head: columns.map(toHeading),
    colAligns: columns.map((column) => (isNumeric(column) ? "right" : "left")),
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  for (const row of rows) table.push(columns.map((column) => String(row[column] ?? "")));
  const lines = table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
  const isTooWide = lines.some((line) => Bun.stringWidth(line) > width);
  if (!isTooWide || rows.length === 0) return lines.map((line) => `${line}\n`).join("");
  const nameWidth = Math.max(...columns.map(({ length }) => length));
  const formatField = (row: (typeof rows)[number], column: Column) =>
    `${toHeading(column).padEnd(nameWidth)}  ${row[column] ?? ""}`.trimEnd();
  return rows
    .map((row) => columns.map((column) => `${formatField(row, column)}\n`).join(""))
    .join("\n");
}

const toHeading = (column: string) => column.replaceAll("_", " ");

const NO_BORDER_CHARS = Object.fromEntries(
  ["top", "bottom", "left", "right"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat("mid", "mid-mid", "middle")
    .map((name) => [name, ""] as const),
);
