/** Saves a table as a CSV file of the visitor. */
import { toCsv } from "./format.ts";

/**
 * Saves a table.
 *
 * @param rows `null` is unknown: an empty cell.
 */
export function saveCsv(
  fileName: string,
  header: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): void {
  const url = URL.createObjectURL(new Blob([toCsv(header, rows)], { type: "text/csv" }));
  Object.assign(document.createElement("a"), { href: url, download: fileName }).click();
  URL.revokeObjectURL(url);
}
