/** Blocks of observations that are larger than what a libSQL server takes at once. */
import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../core/time.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { createImporter } from "../../server/store/observations/import.ts";
import { queryRows } from "../support/store/database.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");

const encodeLines = (lines: readonly object[]) =>
  new TextEncoder().encode(lines.map((line) => JSON.stringify(line)).join("\n"));

/** So many users, each observed so many minutes ago. */
const makeUsers = (count: number, minutes: number) =>
  Array.from({ length: count }, (_, index) => ({
    kind: "user",
    observedAt: new Date(NOW - minutes * MINUTE_MS).toISOString(),
    username: `u${index}`,
    followers_count: index,
  }));

describe.skipIf(!hasSqld())("a libSQL server, which takes and gives no value of 5 MB,", () => {
  test("takes in a larger block, and a wrong line of it is named by its number", async () => {
    const server = await startSqld();
    const database = await openDatabase({ url: server.url, durability: "power" });
    const takeIn = createImporter(database, () => NOW);
    const longTexts = Array.from({ length: 100 }, (_, index) => ({
      kind: "tweet",
      observedAt: "2026-11-20",
      username: "a",
      id: `t${index}`,
      text: "x".repeat(60_000),
    }));
    const wrong = { kind: "video" };
    expect(await takeIn(encodeLines([...longTexts, wrong, ...longTexts, wrong]))).toEqual({
      read: 202,
      new: 100,
      changed: 0,
      unchanged: 100,
      rejected: [101, 202].map((line) => ({
        line,
        reason: 'kind must be one of channel, short, user, tweet, got "video"',
      })),
    });
    expect(await queryRows(database, "SELECT count(*) AS n FROM tweets")).toMatchObject([
      { n: 100 },
    ]);
    const count = 60_000;
    for (const minutes of [2, 1]) {
      expect(await takeIn(encodeLines(makeUsers(count, minutes)))).toMatchObject({ new: count });
    }
    expect(await takeIn(encodeLines(makeUsers(count, 2)))).toMatchObject({ unchanged: count });
    await database.close();
    await server.close();
  }, 60_000);
});
