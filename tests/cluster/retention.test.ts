import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { openDatabase, type Database } from "../../server/store/database.ts";
import { NOW } from "../support/arbitraries.ts";
import { apply, observe, policyOf, valueOf } from "../support/retention.ts";
import { hasSqld, startServer } from "../support/sqld.ts";

describe.skipIf(!hasSqld())("applyRetention() on a libSQL server", () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let database: Database;
  /** As another process has it. */
  let other: Database;
  beforeAll(async () => {
    server = await startServer();
    database = await openDatabase({ url: server.url, durability: "power" });
    other = await openDatabase({ url: server.url, durability: "power" });
  }, 30_000);
  afterAll(async () => {
    await database.close();
    await other.close();
    await server.close();
  });

  test("removes and proves what it does on a file, also in two processes at once", async () => {
    const old = Array.from({ length: 2500 }, (_, minute) => NOW - 50 * DAY_MS - minute * 60_000);
    await observe(database, [
      ...old.map((at) => valueOf("user", "u", at)),
      valueOf("user", "u", NOW),
    ]);
    const counted = await apply(database, policyOf("user=40d/day"), "count");
    expect(counted.kinds[2]).toMatchObject({ before: 2501, removed: 2497, after: 4 });
    const both = await Promise.all(
      [database, other].map((each) => apply(each, policyOf("user=40d/day"), "prove")),
    );
    expect(both.flatMap(({ faults }) => faults)).toEqual([]);
    const removed = both.map(({ kinds }) => kinds[2]?.removed ?? 0);
    expect(removed.reduce((sum, each) => sum + each)).toBe(2497);
    const { kinds, faults, isWholeCompared } = await apply(database, policyOf("user=40d/day"));
    expect([faults, isWholeCompared]).toEqual([[], true]);
    expect(kinds[2]).toMatchObject({ before: 4, removed: 0, after: 4 });
  }, 30_000);
});
