/**
 * Reads the metrics of channels and users, from the points of their last 60 days; and of shorts and
 * tweets, from those of 7 days and from the views that earlier items of the owner had at their age.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { HistoryPoint } from "../../../core/buckets.ts";
import { GAIN_PERIOD_DAYS } from "../../../core/growth.ts";
import { createNotFoundError } from "../../../core/errors.ts";
import { MAIN_COUNT_INDEXES, type ItemKind } from "../../../core/kinds.ts";
import { findViewsAtAge, type ItemViews } from "../../../core/metrics/age-multiple.ts";
import { AGE_MULTIPLE_ITEMS, RATE_WINDOWS } from "../../../core/metrics/catalog.ts";
import { interpolateCount, type CountPoint } from "../../../core/metrics/count-points.ts";
import { getItemViews, type MeasuredItem } from "../../../core/metrics/entity-metrics.ts";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import type { DatabaseReads } from "../database/database.ts";
import { forEachPoint, type Chunk } from "../history/chunk-codec.ts";
import { selectChunksSql } from "../history/chunk-sql.ts";
import { forEachInSlices } from "../history/time-slices.ts";
import { jsonExtractSql, KIND_TABLES } from "../tables/entity-sql.ts";
import { findKnownPoint, readAllPoints } from "./history-pages.ts";
import { createOwnerRead, type Owner } from "./owners.ts";
import type { CacheableResult } from "./read-types.ts";

/** The oldest counts that metrics of owners need: those of gains over a month. */
const OWNER_WINDOW_MS = 2 * GAIN_PERIOD_DAYS.monthly * DAY_MS;

/** The oldest counts that rates of items need. */
const ITEM_WINDOW_MS = RATE_WINDOWS.PerDay.maxHours * HOUR_MS;

/** Creates the read of the metrics of an owner. */
export function createOwnerMetricsRead<Metrics>(
  database: DatabaseReads,
  owner: Owner,
  createMetrics: (name: string, points: readonly HistoryPoint[]) => Metrics,
) {
  type Row = Readonly<{ key: number; id: string; observedAt: number | null; name: string }>;
  const readOwner = createOwnerRead<Row>(
    database,
    owner,
    `json_object('key', key, 'id', id, 'observedAt', observed_at, 'name', ${owner.nameSql})`,
  );
  return async (ownerName: string): Promise<CacheableResult<Metrics>> => {
    const { key, id, observedAt, name } = await readOwner(ownerName);
    const range = observedAt !== null && { from: observedAt - OWNER_WINDOW_MS, to: observedAt };
    const points = range === false ? [] : await readAllPoints(database, owner.kind, key, range);
    // Computing takes 1 ms of an observation in ten minutes, 12 ms of one a minute.
    await yieldToEventLoop();
    return { body: createMetrics(name, points), tags: owner.listTags(ownerName, id), observedAt };
  };
}

interface ItemRow {
  readonly ownerId: string;
  readonly name: string;
  readonly item: {
    readonly key: number;
    readonly observedAt: number;
    readonly publishedAt: number;
    readonly earlier: readonly EarlierItem[];
  } | null;
}

/** An array, which SQLite and JSON.parse() handle faster than an object. */
type EarlierItem = readonly [key: number, publishedAt: number];

/** Creates the read of the metrics of an item. */
export function createItemMetricsRead<Metrics>(
  database: DatabaseReads,
  {
    kind,
    owner,
    createMetrics,
  }: {
    readonly kind: ItemKind;
    readonly owner: Owner;
    readonly createMetrics: (
      item: MeasuredItem & { readonly owner: string; readonly id: string },
      earlier: readonly ItemViews[],
    ) => Metrics;
  },
) {
  const readItem = createOwnerRead<ItemRow>(database, owner, createItemSql(kind, owner));
  const readEarlierViews = createEarlierViewsRead(database, kind);
  return async (ownerName: string, id: string): Promise<CacheableResult<Metrics>> => {
    const row = await readItem(ownerName, id);
    if (row.item === null) throw createNotFoundError(kind, ownerName, id);
    const { key, observedAt, publishedAt, earlier } = row.item;
    const points = await readItemPoints(database, kind, key, observedAt);
    const age = findViewsAtAge(getItemViews(kind, { publishedAt, points }));
    const views = age === null ? [] : await readEarlierViews(earlier, age.ageMs);
    return {
      body: createMetrics({ owner: row.name, id, publishedAt, points }, views),
      tags: owner.listTags(ownerName, row.ownerId),
      observedAt,
    };
  };
}

/** The item `?3` of the row `owner`, with the newest items before it. */
function createItemSql(kind: ItemKind, { nameSql }: Owner): string {
  const { entityTable, owner: columns, publishedColumn } = KIND_TABLES[kind];
  return `json_object(
    'ownerId', owner.id,
    'name', ${nameSql},
    'item', (
      SELECT json_object(
        'key', item.key,
        'observedAt', item.observed_at,
        'publishedAt', item.${publishedColumn},
        'earlier', (
          SELECT json_group_array(json_array(key, published_at))
          FROM (
            SELECT other.key, other.${publishedColumn} AS published_at
            FROM ${entityTable} AS other
            WHERE other.${columns.keyColumn} = owner.key
              AND (other.${publishedColumn}, other.id) < (item.${publishedColumn}, item.id)
            ORDER BY other.${publishedColumn} DESC, other.id DESC
            LIMIT ${AGE_MULTIPLE_ITEMS.max}
          )
        )
      )
      FROM ${entityTable} AS item
      WHERE item.id = ?3 AND item.${columns.keyColumn} = owner.key
        AND item.${publishedColumn} IS NOT NULL
    )
  )`;
}

/** Reads the points of the last days, and, if none tells the views, the newest one that does. */
async function readItemPoints(
  database: DatabaseReads,
  kind: ItemKind,
  key: number,
  observedAt: number,
): Promise<HistoryPoint[]> {
  const from = observedAt - ITEM_WINDOW_MS;
  const points = await readAllPoints(database, kind, key, { from, to: observedAt });
  const countIndex = MAIN_COUNT_INDEXES[kind];
  if (points.some(({ counts }) => counts[countIndex] !== null)) return points;
  const known = await findKnownPoint(database, kind, { key, countIndex, at: from, isBefore: true });
  return known === undefined ? points : [known, ...points];
}

/**
 * Creates the read of the views that items had at an age: of each item, the two known points around
 * it. Nearly always, the chunk that has the instant and the one after it have both.
 */
function createEarlierViewsRead(database: DatabaseReads, kind: ItemKind) {
  const tables = KIND_TABLES[kind];
  const countIndex = MAIN_COUNT_INDEXES[kind];
  const [key, at] = [jsonExtractSql(0, "pair.value"), jsonExtractSql(1, "pair.value")];
  const selectChunks = `
    SELECT json_group_array(json_array(
      ${selectChunksSql(tables, key, `start <= ${at}`, "start DESC LIMIT 1")},
      ${selectChunksSql(tables, key, `start > ${at}`, "start LIMIT 1")}
    ))
    FROM json_each(?1) AS pair`;

  async function completePoints(itemKey: number, instant: number, points: CountPoint[]) {
    const search = { key: itemKey, countIndex, at: instant };
    for (const isBefore of [true, false]) {
      if (points.some((point) => (isBefore ? point.at <= instant : point.at >= instant))) continue;
      const found = await findKnownPoint(database, kind, { ...search, isBefore });
      const count = found?.counts[countIndex];
      if (found === undefined || typeof count !== "number") return;
      points.splice(isBefore ? 0 : points.length, 0, { at: found.at, count });
    }
  }

  return async (items: readonly EarlierItem[], ageMs: number): Promise<ItemViews[]> => {
    const searched = items.map(([itemKey, publishedAt]) => [itemKey, publishedAt + ageMs] as const);
    const json = JSON.stringify(searched);
    const chunks = (await database.queryJson<Chunk[][][]>(selectChunks, [json])) ?? [];
    const views: ItemViews[] = [];
    await forEachInSlices(chunks.entries(), async ([index, found]) => {
      const [itemKey, instant] = searched[index] ?? [0, 0];
      const points: CountPoint[] = [];
      for (const chunk of found.flat()) {
        forEachPoint(chunk, tables.pointLayout, (pointAt, counts) => {
          const count = counts[countIndex];
          if (typeof count === "number") points.push({ at: pointAt, count });
        });
      }
      if (interpolateCount(points, instant) === null) {
        await completePoints(itemKey, instant, points);
      }
      views.push({ publishedAt: instant - ageMs, points });
    });
    return views;
  };
}
