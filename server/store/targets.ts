/** What is observed again and again, and when next. All instants are milliseconds since 1970 UTC. */
import type {
  AddedItem,
  DueTarget,
  Errand,
  Memo,
  ObservedPlatform,
  SettledTarget,
} from "../../core/collection.ts";
import type { AgeSpan } from "../../core/schedule.ts";
import type { Database } from "./database.ts";
import { element } from "./json.ts";

const RELAXED = { isRelaxed: true, isRepeatable: true };

/** Targets as one JSON text; see {@link TargetRow}. */
const SELECTED =
  "SELECT json_group_array(json_array(id, json(memo), owner, due_at, succeeded_at, " +
  "published_at, failures)) FROM ";

type TargetRow = [
  id: string,
  memo: Memo,
  owner: string | null,
  dueAt: number,
  succeededAt: number | null,
  publishedAt: number | null,
  failures: number,
];

const DUE =
  SELECTED +
  "(SELECT * FROM targets WHERE platform = ? AND errand = ? AND due_at <= ? " +
  "ORDER BY due_at, id LIMIT ?)";

const NEXT_DUE =
  "SELECT min(due) AS due FROM (SELECT (SELECT min(due_at) FROM targets " +
  "WHERE platform = ? AND errand = asked.errand) AS due FROM (SELECT 'profile' AS errand " +
  "UNION ALL SELECT 'items' UNION ALL SELECT 'counts') AS asked)";

const COUNT_TARGETS = "SELECT count(*) AS targets FROM targets WHERE platform = ? AND errand = ?";

const COUNT_BY_AGE =
  "SELECT (SELECT count(*) FROM targets WHERE platform = ?1 AND errand = ?2 " +
  `AND published_at > ${element(0)} AND published_at <= ${element(1)}) AS targets ` +
  "FROM json_each(?3) ORDER BY key";

const KNOWN_ITEMS =
  SELECTED +
  "targets WHERE platform = ? AND errand = 'counts' AND id IN (SELECT value FROM json_each(?))";

const ADD_ITEMS =
  "INSERT INTO targets (platform, errand, id, owner, published_at, due_at, memo) " +
  `SELECT ?1, 'counts', ${element(0)}, ?2, ${element(1)}, ${element(2)}, ${element(3)} ` +
  "FROM json_each(?3) WHERE EXISTS (SELECT 1 FROM targets WHERE platform = ?1 " +
  "AND errand = 'items' AND id = ?2) ON CONFLICT DO NOTHING";

/**
 * What is settled meets the target that it is of, which is searched for; a new row never comes of
 * it. Done again it changes nothing more: a failure is known by its instant.
 */
const SETTLE =
  "INSERT INTO targets (platform, errand, id, due_at, memo, succeeded_at, failed_at, failure, " +
  `published_at) SELECT ?1, ?2, known.id, ${element(1)}, ifnull(${element(2)}, known.memo), ` +
  `${element(3)}, ${element(4)}, ${element(5)}, ${element(6)} ` +
  "FROM json_each(?3) CROSS JOIN targets AS known " +
  `ON known.platform = ?1 AND known.errand = ?2 AND known.id = ${element(0)} WHERE true ` +
  "ON CONFLICT DO UPDATE SET due_at = excluded.due_at, memo = excluded.memo, " +
  "succeeded_at = ifnull(excluded.succeeded_at, succeeded_at), " +
  "failed_at = ifnull(excluded.failed_at, failed_at), " +
  "failure = ifnull(excluded.failure, failure), " +
  "published_at = ifnull(excluded.published_at, published_at), " +
  "failures = CASE WHEN excluded.succeeded_at IS NOT NULL THEN 0 " +
  "WHEN excluded.failed_at IS NULL OR excluded.failed_at = failed_at THEN failures " +
  "ELSE failures + 1 END";

/**
 * What profiles told that their lists of items need to know: what to remember, beside what they
 * remember themselves, and how many items there are; another number than before makes the list
 * due, unless it fails. Takes the platform, and the rows that {@link SETTLE} takes.
 */
const TELL_LISTS =
  "INSERT INTO targets (platform, errand, id, due_at, memo, item_count) " +
  "SELECT ?1, 'items', known.id, " +
  `CASE WHEN known.failures = 0 AND ${element(7)} <> ifnull(known.item_count, -1) ` +
  `THEN min(known.due_at, ${element(3)}) ELSE known.due_at END, ` +
  `json_patch(known.memo, ifnull(${element(2)}, '{}')), ` +
  `ifnull(${element(7)}, known.item_count) FROM json_each(?2) ` +
  "CROSS JOIN targets AS known ON known.platform = ?1 AND known.errand = 'items' " +
  `AND known.id = ${element(0)} WHERE ${element(3)} IS NOT NULL ` +
  "ON CONFLICT DO UPDATE SET due_at = excluded.due_at, memo = excluded.memo, " +
  "item_count = excluded.item_count";

/** The targets of a database. */
export function targetStore(database: Database) {
  return { ...targetReads(database), ...targetWrites(database) };
}

function targetReads(database: Database) {
  const first = async (sql: string, ...args: (string | number)[]) =>
    (await database.select({ sql, args }))[0];
  return {
    /** Targets that are due, the one that waits longest first. */
    async due(
      platform: ObservedPlatform,
      errand: Errand,
      now: number,
      limit: number,
    ): Promise<DueTarget[]> {
      const rows = await database.document<TargetRow[]>(DUE, [platform, errand, now, limit]);
      return (rows ?? []).map(dueTarget);
    },

    /** The instant at which something is due next; `undefined` where nothing is. */
    async nextDue(platform: ObservedPlatform): Promise<number | undefined> {
      const due = (await first(NEXT_DUE, platform))?.["due"];
      return typeof due === "number" ? due : undefined;
    },

    /** How many targets of an errand there are. */
    async countTargets(platform: ObservedPlatform, errand: Errand): Promise<number> {
      return Number((await first(COUNT_TARGETS, platform, errand))?.["targets"]);
    },

    /** How many targets were published in each span of ages: `from` included, `to` excluded. */
    async countByAge(
      platform: ObservedPlatform,
      errand: Errand,
      spans: readonly AgeSpan[],
      now: number,
    ): Promise<number[]> {
      const published = spans.map(({ from, to }) => [instantAt(now - to), instantAt(now - from)]);
      const args = [platform, errand, JSON.stringify(published)];
      const rows = await database.select({ sql: COUNT_BY_AGE, args });
      return rows.map((row) => Number(row["targets"]));
    },

    /** Those of some items that are targets of `counts`, in any order. */
    async knownItems(platform: ObservedPlatform, ids: readonly string[]): Promise<DueTarget[]> {
      const args = [platform, JSON.stringify(ids)];
      const rows = await database.document<TargetRow[]>(KNOWN_ITEMS, args);
      return (rows ?? []).map(dueTarget);
    },
  };
}

function targetWrites(database: Database) {
  return {
    /** Adds items that are not targets of `counts` yet; of an owner that was removed, none. */
    async addItems(
      platform: ObservedPlatform,
      owner: string,
      items: readonly AddedItem[],
    ): Promise<void> {
      const added = items.map(({ id, publishedAt, dueAt, memo = {} }) => [
        id,
        publishedAt,
        dueAt,
        JSON.stringify(memo),
      ]);
      const args = [platform, owner, JSON.stringify(added)];
      await database.write([{ sql: ADD_ITEMS, args }], RELAXED);
    },

    /** Notes what became of targets; of one that was removed meanwhile, nothing. */
    async settle(
      platform: ObservedPlatform,
      errand: Errand,
      settled: readonly SettledTarget[],
    ): Promise<void> {
      const rows = settled.map(
        ({ id, dueAt, memo, succeededAt, failed, publishedAt, itemCount }) => [
          id,
          dueAt,
          memo === undefined ? null : JSON.stringify(memo),
          succeededAt ?? null,
          failed?.at ?? null,
          failed?.reason ?? null,
          publishedAt ?? null,
          itemCount ?? null,
        ],
      );
      const json = JSON.stringify(rows);
      const statements = [{ sql: SETTLE, args: [platform, errand, json] }];
      if (errand === "profile") statements.push({ sql: TELL_LISTS, args: [platform, json] });
      await database.write(statements, RELAXED);
    },
  };
}

/** What JSON can hold of an instant that may lie at either end of time. */
function instantAt(ms: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, ms));
}

function dueTarget(row: TargetRow): DueTarget {
  const [id, memo, owner, dueAt, succeededAt, publishedAt, failures] = row;
  return { id, memo, owner, dueAt, succeededAt, publishedAt, failures };
}
