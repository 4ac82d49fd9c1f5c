/** Saves files of the visitor. */
import { toCsv } from "./format.ts";

/**
 * Saves a table as CSV.
 *
 * @param rows `null` is unknown: an empty cell.
 */
export function saveCsv(
  fileName: string,
  header: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): void {
  saveFile(fileName, new Blob([toCsv(header, rows)], { type: "text/csv" }));
}

export function saveFile(fileName: string, contents: Blob): void {
  const url = URL.createObjectURL(contents);
  Object.assign(document.createElement("a"), { href: url, download: fileName }).click();
  URL.revokeObjectURL(url);
}
