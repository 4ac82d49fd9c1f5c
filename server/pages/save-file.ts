/** Downloads tables as CSV files, and other contents as files, to the visitor's disk. */
import { toCsv } from "./format.ts";

export function saveCsv(fileName: string, ...table: Parameters<typeof toCsv>): void {
  saveFile(fileName, new Blob([toCsv(...table)], { type: "text/csv" }));
}

export function saveFile(fileName: string, contents: Blob): void {
  const url = URL.createObjectURL(contents);
  Object.assign(document.createElement("a"), { href: url, download: fileName }).click();
  URL.revokeObjectURL(url);
}
