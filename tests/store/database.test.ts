import { describe, expect, test } from "bun:test";
import { openDatabase } from "../../server/store/database.ts";
import { withDatabase } from "../support/database.ts";

/** Another process that locks the file: locks of one process don't stop itself. */
const LOCKER = `
  const { Database } = require("bun:sqlite");
  const database = new Database(process.argv[1]);
  database.run("BEGIN EXCLUSIVE");
  console.log("locked");
  await Bun.stdin.text();
  database.run("ROLLBACK");
`;

describe("openDatabase()", () => {
  test("what is written after a lock could not be had is really stored", async () => {
    await withDatabase(async (checking, file) => {
      const options = { url: `file:${file}`, durability: "power" as const, lockTimeoutMs: 50 };
      const database = await openDatabase(options);
      const add = (name: string) =>
        database.write([
          { sql: "INSERT INTO accounts (name, created_at) VALUES (?, 0)", args: [name] },
        ]);
      await add("before");
      const locker = Bun.spawn([process.execPath, "-e", LOCKER, file], {
        stdin: "pipe",
        stdout: "pipe",
        stderr: "inherit",
      });
      await locker.stdout.getReader().read();
      for (let attempt = 0; attempt < 3; attempt++) {
        const failure: unknown = await add(`during ${attempt}`).catch((error: unknown) => error);
        expect(failure).toMatchObject({ code: "Service Unavailable" });
      }
      await locker.stdin.end();
      expect(await locker.exited).toBe(0);
      for (let count = 0; count < 50; count++) await add(`after ${count}`);
      expect((await database.select("PRAGMA synchronous"))[0]?.["synchronous"]).toBe(2);
      database.close();
      const [stored] = await checking.select(
        "SELECT count(*) AS all_names, sum(name LIKE 'during%') AS during FROM accounts",
      );
      expect(stored).toMatchObject({ all_names: 51, during: 0 });
    });
  });

  test("a write is all or none", async () => {
    await withDatabase(async (database) => {
      const insert = "INSERT INTO accounts (name, created_at) VALUES ('a', 0)";
      expect(database.write([insert, insert])).rejects.toThrow();
      await database.write([]).catch(() => undefined);
      expect(await database.select("SELECT * FROM accounts")).toEqual([]);
    });
  });
});
