import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

describe.skipIf(!hasSqld())("Database on a libSQL server", () => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  let database: Database;
  beforeEach(async () => {
    server = await startSqld();
    database = await openDatabase({ url: server.url, durability: "process" });
  });
  afterEach(async () => {
    await database.close();
    await server.close();
  });

  const addAccount = (name: string) => ({
    sql: "INSERT INTO accounts (name, created_at) VALUES (?, 0)",
    args: [name],
  });
  const listAccounts = async () => {
    const rows = await database.queryRows("SELECT name FROM accounts ORDER BY id");
    return rows.map(({ name }) => name);
  };

  test("write() sends one write at a time, in order, and an inline one before those that wait", async () => {
    const names = ["first", "second", "third"];
    const writes = names.map((name) => database.write([addAccount(name)]));
    const inline = database.write([addAccount("inline")], { inline: true });
    await Promise.all([...writes, inline]);
    expect(await listAccounts()).toEqual(["first", "inline", "second", "third"]);
  });

  test("write() stores all statements or none, and the next one is stored", async () => {
    const failing = database.write([addAccount("a"), addAccount("b"), addAccount("a")]);
    await expect(failing).rejects.toMatchObject({ code: "SQLITE_CONSTRAINT" });
    expect(await listAccounts()).toEqual([]);
    await database.write([addAccount("a")]);
    expect(await listAccounts()).toEqual(["a"]);
  });

  test("queryRows() returns values as they were written, and no integer that is not exact", async () => {
    const bytes = new Uint8Array([0, 255, 1]);
    const values = [null, "naïve", 1.5, Number.MAX_SAFE_INTEGER, bytes];
    const sql = "SELECT ? AS none, ? AS text, ? AS real, CAST(? AS INTEGER) AS whole, ? AS bytes";
    const [row] = await database.queryRows({ sql, args: values });
    const expected = values.map((value) => (value === bytes ? bytes.buffer : value));
    expect(Object.values<unknown>(row ?? {})).toEqual(expected);
    expect(row?.[1]).toBe("naïve");
    await expect(database.queryRows("SELECT 9007199254740993")).rejects.toThrow(RangeError);
    expect(await database.queryRows("SELECT 1 AS one")).toMatchObject([{ one: 1 }]);
  });

  test("queryRows() keeps running more different statements than the server stores", async () => {
    for (let round = 0; round < 2; round++) {
      for (let count = 0; count < 300; count++) {
        const [row] = await database.queryRows(`SELECT ${count} AS count`);
        expect(row?.["count"]).toBe(count);
      }
    }
    const many = Array.from({ length: 300 }, (_, count) => addAccount(`${count}`));
    await database.write(many.map(({ sql, args }, count) => ({ sql: `${sql} -- ${count}`, args })));
    expect(await listAccounts()).toHaveLength(300);
  });
});
