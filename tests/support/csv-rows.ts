/** Reads CSV with a library, to check what the service writes. */
import { expect } from "bun:test";
import Papa from "papaparse";

/** Reads all rows; expects that each is complete and ends with CRLF. */
export function readCsvRows(text: string): string[][] {
  expect(text).toEndWith("\r\n");
  const { data, errors } = Papa.parse<string[]>(text.slice(0, -2), {
    delimiter: ",",
    newline: "\r\n",
  });
  expect(errors).toEqual([]);
  return data;
}

/** Reads all rows as objects by the names in the header. */
export function readCsvObjects(text: string): Record<string, string>[] {
  const [header = [], ...rows] = readCsvRows(text);
  return rows.map((row) =>
    Object.fromEntries(header.map((name, index) => [name, row[index] ?? "missing"])),
  );
}
