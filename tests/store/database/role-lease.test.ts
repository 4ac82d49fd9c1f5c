import { describe, expect, test } from "bun:test";
import type { Database } from "../../../server/store/database/database.ts";
import { createRoleLease, fenceWrites } from "../../../server/store/database/role-lease.ts";
import { queryRows, resultOrError, withDatabase } from "../../support/store/database.ts";

const HOUR_MS = 3_600_000;

/** Opens two leases of one role, as of two processes. */
const withLeases = (
  work: (
    first: ReturnType<typeof createRoleLease>,
    second: ReturnType<typeof createRoleLease>,
    database: Database,
  ) => Promise<void>,
) =>
  withDatabase((database) =>
    work(
      createRoleLease(database, "collector", { address: "127.0.0.1:3100" }),
      createRoleLease(database, "collector"),
      database,
    ),
  );

const moveExpiry = (database: Database, ms: number) =>
  database.write([{ sql: "UPDATE roles SET expires_at = expires_at + ?", args: [ms] }]);

const INSERT_ACCOUNT = "INSERT INTO accounts (name, created_at) VALUES (?, 0)";

describe("RoleLease", () => {
  test("acquire() gives the role to one holder, renews it, and after release() to another", () =>
    withLeases(async (first, second) => {
      expect([await first.acquire(), await second.acquire()]).toEqual([true, false]);
      expect([first.isHeld(), second.isHeld()]).toEqual([true, false]);
      expect(await second.findOtherHolder()).toEqual({
        process: expect.stringContaining(`process ${process.pid} on `),
        address: "127.0.0.1:3100",
      });
      expect(await first.findOtherHolder()).toBeUndefined();
      expect(await first.acquire()).toBe(true);
      await second.release();
      expect(await second.acquire()).toBe(false);
      await first.release();
      expect(first.isHeld()).toBe(false);
      expect([await second.acquire(), await first.acquire()]).toEqual([true, false]);
    }));

  test("acquire() gives each role to another holder", () =>
    withLeases(async (first, _, database) => {
      const maintenance = createRoleLease(database, "maintenance");
      expect([await first.acquire(), await maintenance.acquire()]).toEqual([true, true]);
    }));

  test.each([
    ["has expired", -10_000],
    ["was made before the clock of the database was set back", HOUR_MS],
  ])("acquire() takes a role whose lease %s, and its former holder loses it", (_, ms) =>
    withLeases(async (first, second, database) => {
      await first.acquire();
      await moveExpiry(database, ms);
      expect(await second.findOtherHolder()).toBeUndefined();
      expect(await second.acquire()).toBe(true);
      expect(await first.acquire()).toBe(false);
      expect(first.isHeld()).toBe(false);
    }),
  );

  test("acquire() makes at most one of many processes the holder", () =>
    withDatabase(async (database) => {
      const leases = Array.from({ length: 20 }, () => createRoleLease(database, "collector"));
      const acquired = await Promise.all(leases.map((lease) => lease.acquire()));
      expect(acquired.filter(Boolean)).toEqual([true]);
    }));
});

describe("fenceWrites()", () => {
  test("write() stores nothing unless this process holds the role, also if it believes so", () =>
    withLeases(async (first, second, database) => {
      const fenced = fenceWrites(database, first);
      const write = (name: string) =>
        resultOrError(fenced.write([{ sql: INSERT_ACCOUNT, args: [name] }]));
      const refused = ["Conflict", "This process does not hold the role collector any more"];
      expect(await write("before")).toEqual(refused);
      await first.acquire();
      expect(await write("held")).toMatchObject([{ rowsAffected: 1 }]);
      await moveExpiry(database, -10_000);
      // No other process can have begun.
      expect(await write("expired")).toMatchObject([{ rowsAffected: 1 }]);
      await second.acquire();
      expect(first.isHeld()).toBe(true);
      expect(await write("taken")).toEqual(refused);
      expect((await queryRows(database, "SELECT name FROM accounts")).length).toBe(2);
    }));
});
