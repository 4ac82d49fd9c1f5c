/** What LibreOffice finds in the CSV of the API. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Papa from "papaparse";
import { formatInstant, HOUR_MS } from "../../core/time.ts";
import { readCsvRows } from "../support/csv-rows.ts";
import { startListService, TRICKY_TITLE } from "../support/csv-lists.ts";
import { NOW, type TestService } from "../support/service.ts";

const SOFFICE = Bun.which("soffice");

/** Commas, double quotes, UTF-8, from the first row on. */
const CSV = "44,34,76,1";

let service: TestService;
let folder: string;

/**
 * Opens a CSV with LibreOffice, and saves it as CSV with quotes around all that is text.
 *
 * @param columns The types of the columns: `1/2` opens the first one as text.
 */
async function openInLibreOffice(csv: string, columns = ""): Promise<string> {
  const input = join(folder, "table.csv");
  await Bun.write(input, csv);
  const child = Bun.spawn(
    [
      SOFFICE ?? "",
      `-env:UserInstallation=${pathToFileURL(join(folder, "profile")).href}`,
      "--headless",
      `--infilter=Text - txt - csv (StarCalc):${CSV},${columns}`,
      `--convert-to`,
      `csv:Text - txt - csv (StarCalc):${CSV},,0,true,false`,
      "--outdir",
      join(folder, "saved"),
      input,
    ],
    { env: { ...process.env, HOME: folder }, stdout: "pipe", stderr: "pipe" },
  );
  const err = await new Response(child.stderr).text();
  expect({ status: await child.exited, err }).toMatchObject({ status: 0 });
  return Bun.file(join(folder, "saved/table.csv")).text();
}

const fetchCsv = async (path: string) => (await service.get(path)).text();

describe.skipIf(SOFFICE === null)("LibreOffice", () => {
  beforeAll(async () => {
    service = await startListService();
    folder = await mkdtemp(join(tmpdir(), "libreoffice-"));
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("finds the texts and numbers of a history", async () => {
    const from = formatInstant(NOW - 3 * HOUR_MS);
    const csv = await fetchCsv(
      `/api/video/soup/history?interval=hour&from=${from}&limit=2&format=csv`,
    );
    const rows = [3, 2].map((hours) => {
      const instant = `"${formatInstant(NOW - hours * HOUR_MS)}"`;
      return `${instant},${instant},${1000 - hours},,,1,,\n`;
    });
    const header = readCsvRows(csv)[0]?.map((name) => `"${name}"`);
    expect(await openInLibreOffice(csv)).toBe(`${header?.join()}\n${rows.join("")}`);
  }, 60_000);

  test("finds right-to-left texts, line breaks, quotes and emoji of lists in their cells", async () => {
    for (const path of [
      "/api/video/soup/shorts?format=csv",
      "/api/video/channels?limit=5&format=csv",
      "/api/microblog/someone/followers?format=csv",
    ]) {
      const csv = await fetchCsv(path);
      const rows = readCsvRows(csv);
      const columns = rows[0]?.map((_, index) => `${index + 1}/2`).join("/");
      const saved = await openInLibreOffice(csv, columns);
      const { data } = Papa.parse<string[]>(saved.trimEnd(), { newline: "\n" });
      // A line break in a cell is one character in LibreOffice.
      expect(data).toEqual(rows.map((row) => row.map((cell) => cell.replaceAll("\r\n", "\n"))));
      const hasTitle = data.flat().includes(TRICKY_TITLE.replaceAll("\r\n", "\n"));
      expect([path, hasTitle]).toEqual([path, !path.includes("followers")]);
    }
  }, 60_000);
});
