import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { NOW } from "../support/arbitraries/values.ts";
import {
  applyPolicy,
  checkAndStore,
  parsePolicy,
  makeObservation,
} from "../support/store/retention.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

describe.skipIf(!hasSqld())("applyRetention() on a libSQL server", () => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  let database: Database;
  /** The same database, opened by another process. */
  let other: Database;
  beforeAll(async () => {
    server = await startSqld();
    database = await openDatabase({ url: server.url, durability: "power" });
    other = await openDatabase({ url: server.url, durability: "power" });
  }, 30_000);
  afterAll(async () => {
    await database.close();
    await other.close();
    await server.close();
  });

  test("removes the same as on a file, also in two processes at once", async () => {
    const old = Array.from({ length: 2500 }, (_, minute) => NOW - 50 * DAY_MS - minute * 60_000);
    await checkAndStore(database, [
      ...old.map((at) => makeObservation("user", "u", at)),
      makeObservation("user", "u", NOW),
    ]);
    const counted = await applyPolicy(database, parsePolicy("user=40d/day"), {
      isDryRun: true,
    });
    expect(counted.kinds[2]).toMatchObject({ before: 2501, removed: 2497, after: 4 });
    const both = await Promise.all(
      [database, other].map((each) => applyPolicy(each, parsePolicy("user=40d/day"))),
    );
    expect(both.flatMap(({ faults }) => faults)).toEqual([]);
    const removed = both.map(({ kinds }) => kinds[2]?.removed ?? 0);
    expect(removed.reduce((sum, each) => sum + each)).toBe(2497);
    const { kinds, faults } = await applyPolicy(database, parsePolicy("user=40d/day"));
    expect(faults).toEqual([]);
    expect(kinds[2]).toMatchObject({ before: 4, removed: 0, after: 4 });
  }, 30_000);
});
