/** The command `backup`, also of a database that is damaged, as by a disk that fails. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox();
});
afterEach(() => sandbox.close());

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
});

describe("backup", () => {
  test("copies a database in use into a file that only its user can read, and overwrites nothing", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "7");
    const service = await sandbox.serve();
    const copy = join(sandbox.folder, "copy.db");
    await sandbox.runOrThrow("backup", copy);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    expect((await sandbox.runInside(["backup", copy])).status).toBe(1);
    await service.stop();
    const other = await openSandbox({ DATABASE_URL: `file:${copy}` });
    expect(JSON.parse(await other.runOrThrow("accounts", "list", "--json"))).toMatchObject([
      { balance: 7 },
    ]);
    await other.close();
  });
});

describe("backup that fails", () => {
  test("says why and leaves nothing behind", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme");
    const missing = join(sandbox.folder, "missing", "copy.db");
    expect(await sandbox.runInside(["backup", missing])).toMatchObject({
      status: 1,
      err: expect.stringMatching(
        /^The folder .*missing does not exist; create it, or name a file elsewhere\n$/,
      ),
    });
    await corruptTable(sandbox.file);
    const copy = join(sandbox.folder, "copy.db");
    const { status, err } = await sandbox.run(["backup", copy]);
    expect([status, err]).toEqual([1, expect.stringMatching(/^The operation failed: .+\n$/)]);
    const left = (await readdir(sandbox.folder)).filter((name) => name.startsWith("copy"));
    expect(left).toEqual([]);
  });
});

describe("backup on a file system without links", () => {
  test.skipIf(Bun.which("strace") === null)(
    "creates the file, and overwrites nothing",
    async () => {
      await sandbox.runOrThrow("accounts", "create", "acme");
      const copy = join(sandbox.folder, "copy.db");
      const backUp = () => sandbox.run(["backup", copy], undefined, WITHOUT_HARD_LINKS);
      expect(await backUp()).toMatchObject({ status: 0 });
      const first = await Bun.file(copy).bytes();
      expect(await backUp()).toMatchObject({
        status: 1,
        err: `${copy} already exists; name a new file\n`,
      });
      expect(await Bun.file(copy).bytes()).toEqual(first);
      const other = await openSandbox({ DATABASE_URL: `file:${copy}` });
      expect(await other.runOrThrow("accounts", "list", "--json")).toContain('"acme"');
      await other.close();
      const left = (await readdir(sandbox.folder)).filter((name) => name.includes(".part"));
      expect(left).toEqual([]);
    },
  );
});

/** Runs a command as on a file system that has no links, as those of many sticks. */
const WITHOUT_HARD_LINKS = "strace -f -qq -o /dev/null -e inject=link,linkat:error=EPERM".split(
  " ",
);

/** Adds a table to a database, of which no page can be read. */
async function corruptTable(file: string): Promise<void> {
  const database = new Database(file);
  database.run("PRAGMA journal_mode = DELETE");
  database.run("CREATE TABLE damaged (value)");
  database.run("INSERT INTO damaged VALUES (1)");
  database.close();
  const bytes = new Uint8Array(await Bun.file(file).arrayBuffer());
  await Bun.write(file, bytes.fill(0xff, bytes.length - 4096));
}
