import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../core/time.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { createImporter } from "../../server/store/observations/import.ts";
import { queryRows } from "../support/store/database.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");

const encodeLines = (lines: readonly object[]) =>
  new TextEncoder().encode(lines.map((line) => JSON.stringify(line)).join("\n"));

/** Observations of users, all made some minutes ago. */
const makeUsers = (count: number, minutes: number) =>
  Array.from({ length: count }, (_, index) => ({
    kind: "user",
    observedAt: new Date(NOW - minutes * MINUTE_MS).toISOString(),
    username: `u${index}`,
    followers_count: index,
  }));

describe.skipIf(!hasSqld())("createImporter() on a libSQL server", () => {
  test("imports more than one value of the server can hold, and numbers rejected lines", async () => {
    const server = await startSqld();
    const database = await openDatabase({ url: server.url, durability: "power" });
    const importLines = createImporter(database, () => NOW);
    const longTexts = Array.from({ length: 100 }, (_, index) => ({
      kind: "tweet",
      observedAt: "2026-11-20",
      username: "a",
      id: `t${index}`,
      text: "x".repeat(60_000),
    }));
    const wrong = { kind: "video" };
    expect(await importLines(encodeLines([...longTexts, wrong, ...longTexts, wrong]))).toEqual({
      read: 202,
      new: 100,
      changed: 0,
      unchanged: 100,
      rejected: [101, 202].map((line) => ({
        line,
        reason: 'kind must be one of channel, short, user, tweet, got "video"',
      })),
      causes: [{ cause: "kind must be one of channel, short, user, tweet", lines: 2 }],
    });
    expect(await queryRows(database, "SELECT count(*) AS n FROM tweets")).toMatchObject([
      { n: 100 },
    ]);
    const count = 30_000;
    for (const minutes of [2, 1]) {
      expect(await importLines(encodeLines(makeUsers(count, minutes)))).toMatchObject({
        new: count,
      });
    }
    expect(await importLines(encodeLines(makeUsers(count, 2)))).toMatchObject({ unchanged: count });
    await database.close();
    await server.close();
  }, 60_000);
});
