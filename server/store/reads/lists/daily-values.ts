/**
 * Reads the daily values of the entities of a page. Of each day, only the chunk of its newest
 * observation is decoded, so that an entity that is observed each minute takes at most 30 chunks. An
 * earlier chunk of a day is read only if the newest one does not know the count.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import {
  ENTITY_FIELDS,
  mapKinds,
  MAIN_COUNT_INDEXES,
  type EntityKind,
} from "../../../../core/kinds.ts";
import { DAY_MS } from "../../../../core/time.ts";
import { listDailyValues, findFirstDay, DAILY_VALUE_DAYS } from "../../../../core/daily-values.ts";
import type { DailyValue } from "../../../../core/resources/generated/types.ts";
import type { DatabaseReads } from "../../database/database.ts";
import { forEachPoint, type Chunk } from "../../history/chunk-codec.ts";
import { CHUNK_JSON } from "../../history/chunk-sql.ts";
import { jsonExtractSql, KIND_TABLES } from "../../tables/entity-sql.ts";

/** Entities that one step reads: at most 300 chunks; with an hourly history, about 1 ms. */
const STEP_ENTITIES = 10;

interface DailyEntity {
  readonly key: number;
  /** `null` for a user that was never observed. */
  readonly observedAt: number | null;
}

/** Reads the daily values of entities, by their keys. */
export async function readDailyValues(
  database: DatabaseReads,
  kind: EntityKind,
  entities: readonly DailyEntity[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<number, DailyValue[]>> {
  const values = new Map<number, DailyValue[]>();
  for (let from = 0; from < entities.length; from += STEP_ENTITIES) {
    if (from > 0) await yieldToEventLoop();
    signal?.throwIfAborted();
    for (const [key, listed] of await readStep(
      database,
      kind,
      entities.slice(from, from + STEP_ENTITIES),
    )) {
      values.set(key, listed);
    }
  }
  return values;
}

interface DailyReading {
  readonly key: number;
  readonly observedAt: number;
  /** The newest known count of each day, in the chunks that were read. */
  readonly newest: Map<number, { readonly at: number; readonly count: number }>;
  /** The excluded end of the chunks that are read next, for each day without a known count yet. */
  open: readonly { readonly day: number; readonly end: number }[];
}

async function readStep(
  database: DatabaseReads,
  kind: EntityKind,
  entities: readonly DailyEntity[],
): Promise<[number, DailyValue[]][]> {
  const readings = entities.flatMap(({ key, observedAt }): DailyReading[] => {
    if (observedAt === null) return [];
    const start = findFirstDay(observedAt);
    const open = Array.from({ length: DAILY_VALUE_DAYS }, (_, nth) => {
      const day = start + nth * DAY_MS;
      return { day, end: day + DAY_MS };
    });
    return [{ key, observedAt, newest: new Map(), open }];
  });
  for (;;) {
    const asked = readings.filter(({ open }) => open.length > 0);
    if (asked.length === 0) break;
    const args = asked.map(({ key, open }) => [key, open.map(({ end }) => end)]);
    const rows = await database.queryJson<[number, Chunk[]][]>(SELECT_CHUNKS[kind], [
      JSON.stringify(args),
    ]);
    const chunksByKey = new Map(rows);
    for (const reading of asked) addChunks(kind, reading, chunksByKey.get(reading.key) ?? []);
  }
  return readings.map(({ key, observedAt, newest }) => {
    const points = Array.from(newest.values(), ({ at, count }) => ({
      at,
      counts: ENTITY_FIELDS[kind].counts.map((_, index) =>
        index === MAIN_COUNT_INDEXES[kind] ? count : null,
      ),
    }));
    return [key, listDailyValues(kind, points, observedAt)];
  });
}

/** Adds the known counts of chunks, and finds the days that need an earlier chunk. */
function addChunks(kind: EntityKind, reading: DailyReading, chunks: readonly Chunk[]): void {
  const known = chunks.map((chunk) => addChunk(kind, reading, chunk));
  reading.open = reading.open.flatMap(({ day, end }) => {
    const index = chunks.findLastIndex(({ start }) => start < end);
    const read = chunks[index];
    // The chunk before begins earlier, and can have points of the day too.
    const isOpen = read !== undefined && read.start > day && known[index]?.has(day) !== true;
    return isOpen ? [{ day, end: read.start }] : [];
  });
}

/** Adds the newest known counts of a chunk. @returns The days that it has one of. */
function addChunk(
  kind: EntityKind,
  { newest, observedAt }: DailyReading,
  chunk: Chunk,
): ReadonlySet<number> {
  const countIndex = MAIN_COUNT_INDEXES[kind];
  const days = new Set<number>();
  let [day, nextDay, last] = [0, -Infinity, { at: 0, count: 0 }];
  const finishDay = () => {
    if (nextDay === -Infinity) return;
    days.add(day);
    if ((newest.get(day)?.at ?? -Infinity) <= last.at) newest.set(day, last);
  };
  forEachPoint(chunk, KIND_TABLES[kind].pointLayout, (at, counts) => {
    const count = counts[countIndex];
    // The row is older than a point that was stored since it was read.
    if (typeof count !== "number" || at > observedAt) return;
    if (at >= nextDay) {
      finishDay();
      day = Math.floor(at / DAY_MS) * DAY_MS;
      nextDay = day + DAY_MS;
    }
    last = { at, count };
  });
  finishDay();
  return days;
}

/** Selects, for each of some instants, the last chunk of an entity that begins before it. */
const SELECT_CHUNKS = mapKinds((kind) => {
  const { historyTable, entityColumn } = KIND_TABLES[kind];
  const isOfEntity = `${entityColumn} = ${jsonExtractSql(0, "given.value")}`;
  return `
    SELECT json_group_array(json_array(${jsonExtractSql(0, "given.value")}, (
      SELECT json_group_array(${CHUNK_JSON})
      FROM (
        SELECT start, size, points
        FROM ${historyTable}
        WHERE ${isOfEntity} AND start IN (
          SELECT (SELECT max(start) FROM ${historyTable} WHERE ${isOfEntity} AND start < ends.value)
          FROM json_each(given.value, '$[1]') AS ends
        )
        ORDER BY start
      )
    )))
    FROM json_each(?1) AS given`;
});
