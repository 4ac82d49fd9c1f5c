import { describe, expect, test } from "bun:test";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import { parseObservation } from "../../../core/observations.ts";
import {
  createCreatorStore,
  createTrackedChannelStore,
} from "../../../server/store/collection/watch-lists.ts";
import { createCollectionState } from "../../../server/store/collection/collection-state.ts";
import { DAY_MS } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import {
  exportObservations,
  readNewestObservedAt,
} from "../../../server/store/observations/export.ts";
import { createMicroblogReads } from "../../../server/store/reads/microblog.ts";
import { applyRetention } from "../../../server/store/history/retention.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { createVideoReads } from "../../../server/store/reads/video.ts";
import { withDatabase } from "../../support/store/database.ts";
import { explainQueryPlan, findScans, recordStatements } from "../../support/store/query-plans.ts";
import { parsePolicy } from "../../support/store/retention.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const PAGE = { days: 14, page: 0, limit: 100 };

async function fillDatabase(database: Database): Promise<void> {
  const values = Array.from({ length: 60 }, (_, index) => {
    const observedAt = new Date(NOW - index * 3_600_000).toISOString();
    const id = `x${index % 3}`;
    return [
      { kind: "channel", observedAt, id, username: id, subscribers: index },
      { kind: "short", observedAt, id, channel: "x0", publishedAt: "2026-11-19", views: index },
      { kind: "user", observedAt, username: id, followers_count: index },
      { kind: "tweet", observedAt, id, username: "x0", created_at: "2026-11-19", likes: index },
    ];
  });
  await writeObservations(
    database,
    values.flat().map((value) => parseObservation(value, NOW)),
  );
}

const READ_QUERIES: readonly [string, (database: Database) => Promise<unknown>, string[]][] = [
  ["the channels", (database) => createVideoReads(database).channels(), []],
  ["a channel by its identifier", (database) => createVideoReads(database).channel("x0"), []],
  ["a page of shorts", (database) => createVideoReads(database).shorts("X1", { limit: 10 }), []],
  [
    "a page of shorts, bounded",
    (database) =>
      createVideoReads(database).shorts("x0", {
        limit: 1,
        before: NOW,
        after: { publishedAt: NOW, id: "x" },
      }),
    [],
  ],
  ["a short", (database) => createVideoReads(database).short("x0", "x1"), []],
  ["a user", (database) => createMicroblogReads(database).user("x0"), []],
  ["a page of tweets", (database) => createMicroblogReads(database).tweets("x0", PAGE, NOW), []],
  [
    "a page of followers",
    (database) => createMicroblogReads(database).followers("x0", PAGE, NOW),
    [],
  ],
  ["a tweet", (database) => createMicroblogReads(database).tweet("x0", "x1"), []],
];

/** Adds creators, channels, and items of one of them. */
async function monitorTargets(database: Database): Promise<void> {
  const creators = createCreatorStore(database);
  const state = createCollectionState(database);
  for (const name of ["x0", "x1"]) {
    await creators.add({ platform: "microblog", creator: name }, NOW);
    await createTrackedChannelStore(database).track(`@${name}`, NOW);
  }
  await state.syncTargets(NOW);
  await state.addItems("microblog", "x0", [{ id: "t", publishedAt: NOW, dueAt: NOW }]);
}

const ITEM_IDS = ["t", "u", "v"];
const ITEMS = ITEM_IDS.map((id) => ({ id, publishedAt: NOW, dueAt: NOW, succeededAt: NOW }));

const BY_KEY = "PRIMARY KEY (platform=? AND task=? AND id=?)";
const BY_TASK = "COVERING INDEX targets_due (platform=? AND task=?)";
const BY_OWNER = "COVERING INDEX targets_owner (platform=? AND owner=?)";

const COLLECTION_QUERIES: readonly [string, (database: Database) => Promise<unknown>, string[]][] =
  [
    [
      "what is due",
      (database) => createCollectionState(database).listDue("video", "counts", NOW, 50),
      ["INDEX targets_due (platform=? AND task=? AND due_at<?)"],
    ],
    [
      "what is due next",
      (database) => createCollectionState(database).readNextDue("video"),
      [BY_TASK],
    ],
    [
      "how many there are",
      (database) => createCollectionState(database).countTargets("video", "items"),
      [BY_TASK],
    ],
    [
      "how many there are of each age",
      (database) =>
        createCollectionState(database).countByAge("video", "counts", [{ from: 0, to: 9 }], NOW),
      ["COVERING INDEX targets_published (platform=? AND published_at>? AND published_at<?)"],
    ],
    [
      "which are known",
      (database) => createCollectionState(database).listItemTargets("video", ITEM_IDS),
      [BY_KEY],
    ],
    [
      "new items",
      (database) => createCollectionState(database).addItems("video", "x", ITEMS),
      [BY_KEY],
    ],
    [
      "what became of some",
      (database) => createCollectionState(database).saveResults("microblog", "counts", ITEMS),
      [BY_KEY],
    ],
    ["the creators", (database) => Array.fromAsync(createCreatorStore(database).pages()), [BY_KEY]],
    ["the channels", (database) => createTrackedChannelStore(database).list(), [BY_KEY]],
    [
      "who is gone, and whether the clock was ahead",
      async (database) => {
        await createTrackedChannelStore(database).untrack("@x0");
        await createCollectionState(database).syncTargets(NOW);
      },
      ["PRIMARY KEY (platform=? AND task=?)", BY_TASK, BY_OWNER, "PRIMARY KEY (platform=?)"],
    ],
  ];

describe("query plans", () => {
  test.each(READ_QUERIES)("of %s scan no history", async (_, read, scans) => {
    await withDatabase(async (database) => {
      await fillDatabase(database);
      const { recording, statements } = recordStatements(database);
      await read(recording);
      expect(statements.length).toBeGreaterThan(0);
      const plans = await Promise.all(
        statements.map((statement) => explainQueryPlan(database, statement)),
      );
      expect(plans.flatMap(findScans)).toEqual(scans);
    });
  });

  test("of a long history that is thinned are searches", async () => {
    await withDatabase(async (database) => {
      const seen = Array.from({ length: 1001 }, (_, index) => ({
        kind: "short",
        observedAt: new Date(NOW - index * 60_000).toISOString(),
        id: "s",
        channel: "c",
        publishedAt: "2026-11-01",
      }));
      const channel = { kind: "channel", observedAt: "2026-11-01", id: "c" };
      await writeObservations(
        database,
        [channel, ...seen].map((value) => parseObservation(value, NOW)),
      );
      const { recording, statements } = recordStatements(database);
      expect((await createVideoReads(recording).short("c", "s")).isThinned).toBe(true);
      const plans = await Promise.all(
        statements.map((statement) => explainQueryPlan(database, statement)),
      );
      expect(plans.flatMap(findScans)).toEqual([]);
      const searches = plans.flat().filter((line) => line.startsWith("SEARCH short_histories"));
      expect(new Set(searches)).toEqual(
        new Set([
          "SEARCH short_histories USING PRIMARY KEY (short=?)",
          "SEARCH short_histories USING PRIMARY KEY (short=? AND start<?)",
          "SEARCH short_histories USING PRIMARY KEY (short=? AND start=?)",
        ]),
      );
    });
  });

  test("of an import and an export search the histories", async () => {
    await withDatabase(async (database) => {
      await fillDatabase(database);
      const { recording, statements } = recordStatements(database);
      await fillDatabase(recording);
      const late = { kind: "user", observedAt: "2026-11-01", username: "x0", tweet_count: 1 };
      await writeObservations(recording, [parseObservation(late, NOW)]);
      for await (const line of exportObservations(recording, {})) expect(line).toBeDefined();
      expect(await readNewestObservedAt(recording)).toBe(NOW);
      const plans = await Promise.all(
        statements.map((statement) => explainQueryPlan(database, statement)),
      );
      const histories = plans.flat().filter((line) => /\w+_histories\b/.test(line));
      expect(histories.length).toBeGreaterThan(0);
      expect(histories.filter((line) => line.startsWith("SCAN"))).toEqual([]);
    });
  });

  test.each(COLLECTION_QUERIES)("of %s search the targets", async (_, use, searches) => {
    await withDatabase(async (database) => {
      await monitorTargets(database);
      const { recording, statements } = recordStatements(database);
      await use(recording);
      const plans = await Promise.all(
        statements.map((statement) => explainQueryPlan(database, statement)),
      );
      const reads = plans.flat().filter((line) => /\b(?:targets|stored)\b/.test(line));
      const made = reads.map((line) => line.replace(/^SEARCH \w+ USING /, ""));
      expect([...new Set(made)]).toEqual(searches);
    });
  });

  test("of listDue(), saveResults() and readNextDue() search 20,000 targets, in one statement each", async () => {
    await withDatabase(async (database) => {
      await monitorTargets(database);
      const { recording, statements } = recordStatements(database);
      const state = createCollectionState(recording);
      const items = Array.from({ length: 20_000 }, (_, index) => ({
        id: `t${index}`,
        publishedAt: NOW - index,
        dueAt: NOW - index,
      }));
      await state.addItems("microblog", "x0", items);
      statements.length = 0;
      const due = await state.listDue("microblog", "counts", NOW, 100);
      await state.saveResults(
        "microblog",
        "counts",
        due.map(({ id }) => ({ id, dueAt: NOW + 1, succeededAt: NOW })),
      );
      expect(await state.readNextDue("microblog")).toBe(NOW - 19_899);
      // listDue(), saveResults() and readNextDue().
      expect(statements.length).toBe(3);
      const plans = await Promise.all(
        statements.map((statement) => explainQueryPlan(database, statement)),
      );
      expect(plans.flat().filter((line) => line.startsWith("SCAN targets"))).toEqual([]);
      expect(due.map(({ id }) => id)).toEqual(
        items
          .slice(-100)
          .map(({ id }) => id)
          .toReversed(),
      );
    });
  });

  test("of applyRetention() search the histories", async () => {
    await withDatabase(async (database) => {
      await fillDatabase(database);
      const { recording, statements } = recordStatements(database);
      const policy = parsePolicy(ENTITY_KINDS.map((kind) => `${kind}=40d/day`).join());
      const now = NOW + 60 * DAY_MS;
      const steps = applyRetention(recording, { policy, now, isDryRun: false, pauseRatio: 0 });
      for await (const rows of steps) expect(rows).toBeGreaterThan(0);
      const plans = await Promise.all(
        statements.map((statement) => explainQueryPlan(database, statement)),
      );
      // The last position is read from the end of the table, which SQLite calls a scan.
      const isLast = (line: string) => /^SCAN \w+_histories$/.test(line);
      expect(plans.flatMap(findScans).filter((line) => !isLast(line))).toEqual([]);
      expect(plans.filter((plan) => plan.some(isLast)).every(({ length }) => length === 1)).toBe(
        true,
      );
    });
  });

  test("would show a scan", async () => {
    await withDatabase(async (database) => {
      const sql = "SELECT * FROM tweet_histories WHERE start > 5";
      const plan = await explainQueryPlan(database, { sql, args: [] });
      expect(findScans(plan)).toEqual(["SCAN tweet_histories"]);
    });
  });
});
