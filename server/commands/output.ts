/** Rows for a person: a table without lines, or line by line; or for a program: JSON. */
import Table from "cli-table3";

/** A value of a row. */
type Cell = string | number | boolean | null;

/**
 * Writes rows under their names; a null is empty. On a terminal that is narrower, each row is lines
 * of a name and a value: what is wrapped is no table any more.
 *
 * @param columns The names of the fields, in the order of the columns.
 */
export function formatTable<Row extends Readonly<Record<keyof Row, Cell>>>(
  columns: readonly (keyof Row & string)[],
  rows: readonly Row[],
): string {
  const isNumeric = (column: keyof Row) =>
    rows.length > 0 && rows.every((row) => row[column] === null || typeof row[column] === "number");
  const table = new Table({
    chars: NO_BORDER_CHARS,
    head: columns.map((column) => column.replaceAll("_", " ")),
    colAligns: columns.map((column) => (isNumeric(column) ? "right" : "left")),
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  for (const row of rows) table.push(columns.map((column) => String(row[column] ?? "")));
  const lines = table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
  const { isTTY, columns: width } = process.stdout;
  const isTooWide = isTTY && width > 0 && lines.some((line) => Bun.stringWidth(line) > width);
  if (isTooWide && rows.length > 0) return rows.map((row) => formatRow(columns, row)).join("\n");
  return `${lines.join("\n")}\n`;
}

/** Writes a row as lines of a name and a value. */
function formatRow<Row extends Readonly<Record<keyof Row, Cell>>>(
  columns: readonly (keyof Row & string)[],
  row: Row,
): string {
  const width = Math.max(...columns.map(({ length }) => length));
  const lines = columns.map((column) => {
    const name = column.replaceAll("_", " ").padEnd(width);
    return `${name}  ${row[column] ?? ""}`.trimEnd();
  });
  return `${lines.join("\n")}\n`;
}

const NO_BORDER_CHARS = Object.fromEntries(
  ["top", "bottom", "left", "right"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat("mid", "mid-mid", "middle")
    .map((name) => [name, ""] as const),
);

/** Writes JSON for a program. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
