/** Reads totals of what is stored, in short steps. A sample of histories estimates observations. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import { INTEGER_MAX } from "../../../core/limits.ts";
import type { Database } from "../database/database.ts";
import { KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";

/** Rows of entities that are read at once, in a few milliseconds. */
const PAGE_ROWS = 5000;

/** About how many entities of a kind are in the sample, whose observations are counted. */
const SAMPLE_MAX_ENTITIES = 500;

/** Histories that are read at once: one can have a hundred chunks. */
const SAMPLE_BATCH = 20;

/** Numbers and sums of all accounts; sums are `null` beyond 2^53 - 1, the last exact number. */
type Sums = Readonly<
  Record<"accounts" | "keys" | "validKeys" | "creators" | "channels", number> &
    Record<"granted" | "debited" | "refunded" | "balance", number | null>
>;

export async function readTotals(
  { ledger, entities }: Readonly<Record<"ledger" | "entities", Database>>,
  now: number,
) {
  const kinds = [];
  for (const kind of ENTITY_KINDS) kinds.push(await readKindTotals(entities, KIND_TABLES[kind]));
  const sums = await ledger.queryJson<Sums>(SELECT_SUMS, [now]);
  if (sums === undefined) throw new Error("The sums have no row");
  let bytes = 0;
  for (const { queryJson } of new Set([ledger, entities])) {
    bytes += (await queryJson<number>(SELECT_BYTES, [])) ?? 0;
  }
  return { bytes, kinds, ...sums };
}

/** The size with recent changes that are still in a log, but without the size of that log. */
const SELECT_BYTES = `
  SELECT json_quote(page_count * page_size)
  FROM pragma_page_count, pragma_page_size`;

// total() is REAL: unlike sum(), it can't overflow, and it is exact up to the largest exact number.
const selectExactSum = (column: string): string =>
  `CASE WHEN total(${column}) <= ${INTEGER_MAX} THEN CAST(total(${column}) AS INTEGER) END`;

const SELECT_SUMS = `
  SELECT json_object(
    'accounts', count(*),
    'granted', ${selectExactSum("granted")},
    'debited', ${selectExactSum("debited")},
    'refunded', ${selectExactSum("refunded")},
    'balance', ${selectExactSum("balance")},
    'keys', (SELECT count(*) FROM keys),
    'validKeys', (
      SELECT count(*)
      FROM keys
      WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1)
    ),
    'creators', (SELECT count(*) FROM creators),
    'channels', (SELECT count(*) FROM tracked_channels)
  )
  FROM accounts`;

async function readKindTotals(database: Database, tables: KindTables) {
  const selectMaxKey = `SELECT json_quote(ifnull(max(key), 0)) FROM ${tables.entityTable}`;
  const maxKey = (await database.queryJson<number>(selectMaxKey, [])) ?? 0;
  const step = Math.max(1, Math.ceil(maxKey / SAMPLE_MAX_ENTITIES));
  const { entities, newest, sample } = await scanEntities(database, tables, step);
  const counted = await countObservations(database, tables, sample);
  const observations =
    step === 1 || sample.length === 0 ? counted : Math.round((counted * entities) / sample.length);
  return {
    kind: tables.kind,
    entities,
    observations,
    /** Whether `observations` is computed from a sample. */
    isEstimated: step > 1 && entities > 0,
    newest,
  };
}

interface EntityPage {
  readonly rows: number;
  readonly lastKey: number;
  readonly entities: number;
  readonly newest: number | null;
  readonly sample: readonly number[];
}

/** Counts the observed entities. One of every `step` keys is in the sample. */
async function scanEntities(database: Database, { entityTable }: KindTables, step: number) {
  const sql = `
    SELECT json_object(
      'rows', count(*),
      'lastKey', ifnull(max(key), 0),
      'entities', count(observed_at),
      'newest', max(observed_at),
      'sample', json_group_array(key) FILTER (WHERE observed_at IS NOT NULL AND key % ?2 = 0)
    )
    FROM (
      SELECT key, observed_at
      FROM ${entityTable}
      WHERE key > ?1
      ORDER BY key
      LIMIT ${PAGE_ROWS}
    )`;
  const sample: number[] = [];
  let entities = 0;
  let newest: number | null = null;
  let key = 0;
  for (;;) {
    const page = await database.queryJson<EntityPage>(sql, [key, step]);
    if (page === undefined || page.rows === 0) return { entities, newest, sample };
    entities += page.entities;
    if (page.newest !== null) newest = Math.max(page.newest, newest ?? page.newest);
    sample.push(...page.sample);
    key = page.lastKey;
    await yieldToEventLoop();
  }
}

async function countObservations(
  database: Database,
  { historyTable, entityColumn }: KindTables,
  keys: readonly number[],
): Promise<number> {
  const sql = `
    SELECT json_quote(ifnull(sum(size), 0))
    FROM ${historyTable}
    WHERE ${entityColumn} IN (SELECT value FROM json_each(?1))`;
  let observations = 0;
  for (let start = 0; start < keys.length; start += SAMPLE_BATCH) {
    const batch = JSON.stringify(keys.slice(start, start + SAMPLE_BATCH));
    observations += (await database.queryJson<number>(sql, [batch])) ?? 0;
    await yieldToEventLoop();
  }
  return observations;
}
