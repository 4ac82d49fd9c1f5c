/** The ID of a database in the names of its backups. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashDatabaseUrl } from "../../../server/composition/backups/database-id.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "database-id-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("hashDatabaseUrl()", () => {
  test("is that of the real path of a file, before and after the file is made", async () => {
    const file = join(folder, "real/a.db");
    await mkdir(join(folder, "real"));
    await symlink(join(folder, "real"), join(folder, "link"));
    const id = hashDatabaseUrl(`file:${file}`);
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(hashDatabaseUrl(`file:${join(folder, "link/a.db")}`)).toBe(id);
    await writeFile(file, "");
    await symlink(file, join(folder, "b.db"));
    for (const path of ["real/a.db", "link/a.db", "b.db"]) {
      expect(hashDatabaseUrl(`file://${join(folder, path)}`)).toBe(id);
    }
    expect(hashDatabaseUrl(`file:${join(folder, "real/c.db")}`)).not.toBe(id);
  });

  test("is that of a server, whatever the token and the interface", () => {
    const id = hashDatabaseUrl("libsql://db.example");
    for (const url of [
      "libsql://db.example?authToken=a",
      "https://user:password@db.example/",
      "wss://db.example?authToken=b",
    ]) {
      expect(hashDatabaseUrl(url)).toBe(id);
    }
    for (const url of ["libsql://db2.example", "libsql://db.example/b", "http://db.example"]) {
      expect(hashDatabaseUrl(url)).not.toBe(id);
    }
  });
});
