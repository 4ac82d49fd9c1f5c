/** A database file that is damaged, as by a disk that fails. */
import { expect, test } from "bun:test";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSandbox } from "../support/processes/command-line.ts";

const PAGE_BYTES = 4096;
/** Where a leaf's pointers to its cells begin. */
const CELL_POINTERS_OFFSET = 8;

/** Exchanges the first two rows of the leaf that holds a text: no longer in order, all readable. */
function swapFirstRows(file: string, text: string): void {
  const bytes = readFileSync(file);
  const leaf = bytes.indexOf(text) - (bytes.indexOf(text) % PAGE_BYTES);
  const first = bytes.readUInt16BE(leaf + CELL_POINTERS_OFFSET);
  bytes.writeUInt16BE(
    bytes.readUInt16BE(leaf + CELL_POINTERS_OFFSET + 2),
    leaf + CELL_POINTERS_OFFSET,
  );
  bytes.writeUInt16BE(first, leaf + CELL_POINTERS_OFFSET + 2);
  writeFileSync(file, bytes);
}

test("backup refuses a damaged database, whose copy could pass for a good one", async () => {
  const sandbox = await openSandbox();
  const lines = Array.from({ length: 5 }, (_, index) =>
    JSON.stringify({
      kind: "tweet",
      observedAt: "2026-11-01",
      username: "a",
      id: `t${index}`,
      text: `needle ${index}`,
    }),
  );
  await sandbox.runOrThrow("import", await sandbox.write("a.ndjson", lines.join("\n")));
  await sandbox.runOrThrow("backup", join(sandbox.folder, "good.copy"));
  swapFirstRows(sandbox.file, "needle 0");
  expect(await sandbox.run(["backup", join(sandbox.folder, "bad.copy")])).toEqual({
    status: 1,
    out: "",
    err: expect.stringContaining("the database is damaged: "),
  });
  const copies = readdirSync(sandbox.folder).filter((name) => name.includes(".copy"));
  expect(copies).toEqual(["good.copy"]);
  await sandbox.close();
});
