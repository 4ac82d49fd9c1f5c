import { describe, expect, test } from "bun:test";
import { createClient, type Client, type InStatement } from "@libsql/client";
import { drizzle } from "drizzle-orm/libsql";
import { KIND_NAMES } from "../../core/kinds.ts";
import { checkObservation } from "../../core/observations.ts";
import { channelStore } from "../../server/store/channels.ts";
import { collectionStore } from "../../server/store/collection.ts";
import { creatorStore } from "../../server/store/creators.ts";
import { DAY_MS } from "../../core/time.ts";
import type { Database } from "../../server/store/database.ts";
import { exportObservations } from "../../server/store/export.ts";
import { microblogStore } from "../../server/store/microblog.ts";
import { newestObservation } from "../../server/store/newest.ts";
import { applyRetention } from "../../server/store/retention.ts";
import { storeObservations } from "../../server/store/observe.ts";
import { videoStore } from "../../server/store/video.ts";
import { withDatabase } from "../support/database.ts";
import { policyOf } from "../support/retention.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const PAGE = { days: 14, page: 0, limit: 100 };

/** The database of a file, keeping every statement that it is asked. */
function listenTo(database: Database, file: string) {
  const heard: InStatement[] = [];
  const client = createClient({ url: `file:${file}`, concurrency: 1 });
  const listening: Client = {
    protocol: client.protocol,
    closed: client.closed,
    execute: (statement: InStatement) => {
      heard.push(statement);
      return client.execute(statement);
    },
    batch: (statements: InStatement[], mode) => {
      heard.push(...statements);
      return client.batch(statements, mode);
    },
    migrate: (statements) => client.migrate(statements),
    executeMultiple: (sql) => client.executeMultiple(sql),
    transaction: () => client.transaction("write"),
    sync: () => client.sync(),
    reconnect: () => client.reconnect(),
    close: () => client.close(),
  };
  const listened: Database = {
    ...database,
    query: drizzle(listening),
    select: async (statement) => (await listening.execute(statement)).rows,
    write: (statements) => listening.batch([...statements], "write"),
    async document(sql, args) {
      const { rows } = await listening.execute({ sql, args: [...args] });
      return rows[0] === undefined ? undefined : JSON.parse(String(rows[0][0]));
    },
    close: async () => client.close(),
  };
  return { listened, heard };
}

/** What SQLite reads for a statement: a line for each table that it scans or searches. */
async function planOf(database: Database, statement: InStatement): Promise<string[]> {
  const { sql, args = [] } =
    typeof statement === "string" ? { sql: statement } : { args: [], ...statement };
  const rows = await database.select({ sql: `EXPLAIN QUERY PLAN ${sql}`, args });
  return rows.map((row) => String(row["detail"]));
}

/** Tables (not what was given or is made on the way) that a plan reads from end to end. */
function scansOf(plan: readonly string[]): string[] {
  return plan.filter(
    (line) =>
      /^SCAN (?!CONSTANT ROW|(?:named|page|mine|ends)\b|\()/.test(line) && !/VIRTUAL/.test(line),
  );
}

async function fill(database: Database): Promise<void> {
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
  await storeObservations(
    database,
    values.flat().map((value) => checkObservation(value, NOW)),
  );
}

const READS: readonly [string, (database: Database) => Promise<unknown>, string[]][] = [
  ["the channels", (database) => videoStore(database).channels(), []],
  ["a channel by its identifier", (database) => videoStore(database).channel("x0"), []],
  ["a page of shorts", (database) => videoStore(database).shorts("X1", { limit: 10 }), []],
  [
    "a page of shorts, bounded",
    (database) =>
      videoStore(database).shorts("x0", {
        limit: 1,
        before: NOW,
        after: { publishedAt: NOW, id: "x" },
      }),
    [],
  ],
  ["a short", (database) => videoStore(database).short("x0", "x1"), []],
  ["a user", (database) => microblogStore(database).user("x0"), []],
  ["a page of tweets", (database) => microblogStore(database).tweets("x0", PAGE, NOW), []],
  ["a page of followers", (database) => microblogStore(database).followers("x0", PAGE, NOW), []],
  ["a tweet", (database) => microblogStore(database).tweet("x0", "x1"), []],
];

/** Watches some creators and channels, and items of one of them. */
async function watch(database: Database): Promise<void> {
  const creators = creatorStore(database);
  const state = collectionStore(database);
  for (const name of ["x0", "x1"]) {
    await creators.add({ platform: "microblog", creator: name }, NOW);
    await channelStore(database).track(`@${name}`, NOW);
  }
  await state.followLists(NOW);
  await state.addItems("microblog", "x0", [{ id: "t", publishedAt: NOW, dueAt: NOW }]);
}

const SOME = ["t", "u", "v"];
const ITEMS = SOME.map((id) => ({ id, publishedAt: NOW, dueAt: NOW, succeededAt: NOW }));

const BY_KEY = "PRIMARY KEY (platform=? AND errand=? AND id=?)";
const BY_ERRAND = "COVERING INDEX targets_due (platform=? AND errand=?)";
const BY_OWNER = "COVERING INDEX targets_owner (platform=? AND owner=?)";

const COLLECTION: readonly [string, (database: Database) => Promise<unknown>, string[]][] = [
  [
    "what is due",
    (database) => collectionStore(database).due("video", "counts", NOW, 50),
    ["INDEX targets_due (platform=? AND errand=? AND due_at<?)"],
  ],
  ["what is due next", (database) => collectionStore(database).nextDue("video"), [BY_ERRAND]],
  [
    "how many there are",
    (database) => collectionStore(database).countTargets("video", "items"),
    [BY_ERRAND],
  ],
  [
    "how many there are of each age",
    (database) =>
      collectionStore(database).countByAge("video", "counts", [{ from: 0, to: 9 }], NOW),
    ["COVERING INDEX targets_published (platform=? AND published_at>? AND published_at<?)"],
  ],
  ["which are known", (database) => collectionStore(database).knownItems("video", SOME), [BY_KEY]],
  ["new items", (database) => collectionStore(database).addItems("video", "x", ITEMS), [BY_KEY]],
  [
    "what became of some",
    (database) => collectionStore(database).settle("microblog", "counts", ITEMS),
    [BY_KEY],
  ],
  ["the creators", (database) => Array.fromAsync(creatorStore(database).pages()), [BY_KEY]],
  ["the channels", (database) => channelStore(database).list(), [BY_KEY]],
  [
    "who is gone, and whether the clock was ahead",
    async (database) => {
      await channelStore(database).untrack("@x0");
      await collectionStore(database).followLists(NOW);
    },
    ["PRIMARY KEY (platform=? AND errand=?)", BY_ERRAND, BY_OWNER, "PRIMARY KEY (platform=?)"],
  ],
];

describe("the plans of what is read", () => {
  test.each(READS)("%s: no history is scanned", async (_, read, scans) => {
    await withDatabase(async (database, file) => {
      await fill(database);
      const { listened, heard } = listenTo(database, file);
      await read(listened);
      expect(heard.length).toBeGreaterThan(0);
      const plans = await Promise.all(heard.map((statement) => planOf(database, statement)));
      expect(plans.flatMap(scansOf)).toEqual(scans);
      listened.close();
    });
  });

  test("a long history is thinned by searches", async () => {
    await withDatabase(async (database, file) => {
      const seen = Array.from({ length: 1001 }, (_, index) => ({
        kind: "short",
        observedAt: new Date(NOW - index * 60_000).toISOString(),
        id: "s",
        channel: "c",
        publishedAt: "2026-11-01",
      }));
      const channel = { kind: "channel", observedAt: "2026-11-01", id: "c" };
      await storeObservations(
        database,
        [channel, ...seen].map((value) => checkObservation(value, NOW)),
      );
      const { listened, heard } = listenTo(database, file);
      expect((await videoStore(listened).short("c", "s")).isThinned).toBe(true);
      const plans = await Promise.all(heard.map((statement) => planOf(database, statement)));
      expect(plans.flatMap(scansOf)).toEqual([]);
      const searches = plans.flat().filter((line) => line.startsWith("SEARCH short_histories"));
      expect(new Set(searches)).toEqual(
        new Set([
          "SEARCH short_histories USING PRIMARY KEY (short=?)",
          "SEARCH short_histories USING PRIMARY KEY (short=? AND start<?)",
          "SEARCH short_histories USING PRIMARY KEY (short=? AND start=?)",
        ]),
      );
      listened.close();
    });
  });

  test("an import and a page of an export search the histories", async () => {
    await withDatabase(async (database, file) => {
      await fill(database);
      const { listened, heard } = listenTo(database, file);
      await fill(listened);
      const late = { kind: "user", observedAt: "2026-11-01", username: "x0", tweet_count: 1 };
      await storeObservations(listened, [checkObservation(late, NOW)]);
      for await (const line of exportObservations(listened, {})) expect(line).toBeDefined();
      expect(await newestObservation(listened)).toBe(NOW);
      const plans = await Promise.all(heard.map((statement) => planOf(database, statement)));
      const histories = plans.flat().filter((line) => /\w+_histories\b/.test(line));
      expect(histories.length).toBeGreaterThan(0);
      expect(histories.filter((line) => line.startsWith("SCAN"))).toEqual([]);
      listened.close();
    });
  });

  test.each(COLLECTION)("%s: targets are searched", async (_, use, searches) => {
    await withDatabase(async (database, file) => {
      await watch(database);
      const { listened, heard } = listenTo(database, file);
      await use(listened);
      const plans = await Promise.all(heard.map((statement) => planOf(database, statement)));
      const reads = plans.flat().filter((line) => /\b(?:targets|known)\b/.test(line));
      const made = reads.map((line) => line.replace(/^SEARCH \w+ USING /, ""));
      expect([...new Set(made)]).toEqual(searches);
      listened.close();
    });
  });

  test("of 20,000 targets, those that are due and 100 that are settled are searched for in one statement each", async () => {
    await withDatabase(async (database, file) => {
      await watch(database);
      const { listened, heard } = listenTo(database, file);
      const state = collectionStore(listened);
      const items = Array.from({ length: 20_000 }, (_, index) => ({
        id: `t${index}`,
        publishedAt: NOW - index,
        dueAt: NOW - index,
      }));
      await state.addItems("microblog", "x0", items);
      heard.length = 0;
      const due = await state.due("microblog", "counts", NOW, 100);
      await state.settle(
        "microblog",
        "counts",
        due.map(({ id }) => ({ id, dueAt: NOW + 1, succeededAt: NOW })),
      );
      expect(await state.nextDue("microblog")).toBe(NOW - 19_899);
      // What is due, what is settled, and when the next is due; nothing goes through all of them.
      expect(heard.length).toBe(3);
      const plans = await Promise.all(heard.map((statement) => planOf(database, statement)));
      expect(plans.flat().filter((line) => line.startsWith("SCAN targets"))).toEqual([]);
      listened.close();
      expect(due.map(({ id }) => id)).toEqual(
        items
          .slice(-100)
          .map(({ id }) => id)
          .toReversed(),
      );
    });
  });

  test("retention searches the histories", async () => {
    await withDatabase(async (database, file) => {
      await fill(database);
      const { listened, heard } = listenTo(database, file);
      const policy = policyOf(KIND_NAMES.map((kind) => `${kind}=40d/day`).join());
      const now = NOW + 60 * DAY_MS;
      const steps = applyRetention(listened, { policy, now, mode: "prove", restRatio: 0 });
      for await (const rows of steps) expect(rows).toBeGreaterThan(0);
      const plans = await Promise.all(heard.map((statement) => planOf(database, statement)));
      // The last place is the end of the table, which is read backwards up to there.
      const isLast = (line: string) => /^SCAN \w+_histories$/.test(line);
      expect(plans.flatMap(scansOf).filter((line) => !isLast(line))).toEqual([]);
      expect(plans.filter((plan) => plan.some(isLast)).every(({ length }) => length === 1)).toBe(
        true,
      );
      listened.close();
    });
  });

  test("a scan would be noticed", async () => {
    await withDatabase(async (database) => {
      const plan = await planOf(database, "SELECT * FROM tweet_histories WHERE start > 5");
      expect(scansOf(plan)).toEqual(["SCAN tweet_histories"]);
    });
  });
});
