/**
 * Computes the stale figures of shorts and tweets, one owner at a time.
 *
 * The age multiple of an item depends on the items before it. So when an item changes, the figures
 * of those that follow it are computed again too: where it is now, and where it was.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { HistoryPoint } from "../../../core/buckets.ts";
import { MAIN_COUNTS, type ItemKind } from "../../../core/kinds.ts";
import {
  computeAgeMultiple,
  findViewsAtAge,
  listViewsAtAge,
  type ItemViews,
} from "../../../core/metrics/age-multiple.ts";
import { AGE_MULTIPLE_ITEMS, RATE_WINDOWS } from "../../../core/metrics/catalog.ts";
import { listCountPoints } from "../../../core/metrics/count-points.ts";
import { computeRate, findPresentCount } from "../../../core/metrics/rates.ts";
import { FIRST_INSTANT } from "../../../core/time.ts";
import type { Database, Statement } from "../database/database.ts";
import { recordFigures } from "../history/change-log.ts";
import { decodeChunks, type Chunk } from "../history/chunk-codec.ts";
import { readLastSequence, tryWrite } from "../history/optimistic-writes.ts";
import { forEachInSlices } from "../history/time-slices.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import { STORED_METRICS } from "../tables/figure-tables.ts";
import { LISTED_ITEMS, STATEMENTS } from "./item-statements.ts";
import { unmarkStale, upsertFigures } from "./write-figures.ts";

/** Items whose histories are read at once, and their chunks: a libSQL server returns no value of 5 MB. */
const READ_HISTORIES = 50;
const READ_CHUNKS = 500;

/** Rows that one transaction writes: tens of milliseconds in the thread that writes. */
const WRITTEN_ROWS = 1000;

/** An item in the list of its owner, oldest first. */
interface ListedItem {
  readonly key: number;
  readonly id: string;
  readonly publishedAt: number;
  readonly isStale: 0 | 1;
  /** Where the list of figures has it until now; `null` if it is not there. */
  readonly storedOwner: number | null;
  readonly storedAt: number | null;
}

interface Owner {
  readonly key: number;
  readonly id: string;
}

/**
 * Computes the stale figures of the items of one owner.
 *
 * @returns How many were computed; some are still stale if others wrote meanwhile.
 */
export async function refreshItemFigures(database: Database, kind: ItemKind): Promise<number> {
  const statements = STATEMENTS[kind];
  const sequence = await readLastSequence(database);
  const owner = await database.queryJson<Owner>(statements.selectOwner, []);
  if (owner === undefined) return 0;
  const items = await listItems(database, kind, owner);
  const affected = listAffected(items, owner);
  const unlisted =
    (await database.queryJson<number[]>(statements.selectUnlisted, [owner.key])) ?? [];
  const recordChange = recordFigures(kind, KIND_TABLES[kind].owner.kind, [owner.id]);
  // With the first rows: afterwards, no figures tell where the items were.
  const isInParts = affected.length >= WRITTEN_ROWS;
  let others = [markFormerFollowers(kind, owner, items, isInParts)];
  let rows: Row[] = [];
  const write = (): Promise<boolean> => {
    const plan = {
      recordChange,
      statements: [...others, upsertFigures(kind, statements.columns, rows)],
    };
    [others, rows] = [[], []];
    return tryWrite(database, sequence, plan);
  };
  for await (const row of computeRows(database, kind, owner, items, affected)) {
    if (rows.push(row) >= WRITTEN_ROWS && !(await write())) return affected.length;
  }
  const stale = items.filter(({ isStale }) => isStale === 1).map(({ key }) => key);
  others.push(unmarkStale(kind, [...stale, ...unlisted]));
  await write();
  return affected.length + unlisted.length;
}

/**
 * Marks what followed items where they were: at another owner or, if several transactions write the
 * rows, elsewhere at this one. After the first of them, no row tells where an item was.
 */
function markFormerFollowers(
  kind: ItemKind,
  owner: Owner,
  items: readonly ListedItem[],
  isInParts: boolean,
): Statement {
  const former = items.filter(
    ({ storedOwner, storedAt, publishedAt }) =>
      storedOwner !== null &&
      (storedOwner !== owner.key || (isInParts && storedAt !== publishedAt)),
  );
  const positions = former.map(({ storedOwner, storedAt, id }) => [storedOwner, storedAt, id]);
  return { sql: STATEMENTS[kind].markFollowers, args: [JSON.stringify(positions)] };
}

async function listItems(database: Database, kind: ItemKind, owner: Owner): Promise<ListedItem[]> {
  const items: ListedItem[] = [];
  for (;;) {
    const { publishedAt = -Number.MAX_SAFE_INTEGER, id = "" } = items.at(-1) ?? {};
    const args = [owner.key, publishedAt, id];
    const page = await database.queryJson<ListedItem[]>(STATEMENTS[kind].selectItems, args);
    items.push(...(page ?? []));
    if ((page?.length ?? 0) < LISTED_ITEMS) return items;
    await yieldToEventLoop();
  }
}

/** Lists the indexes of the items that are stale, or follow one that is or was before them. */
function listAffected(items: readonly ListedItem[], owner: Owner): number[] {
  const affected = new Uint8Array(items.length);
  const affect = (from: number) => affected.fill(1, from, from + AGE_MULTIPLE_ITEMS.max + 1);
  for (const [index, item] of items.entries()) {
    if (item.isStale === 0) continue;
    affect(index);
    const { storedOwner, storedAt, publishedAt, id } = item;
    if (storedAt === null || storedOwner !== owner.key || storedAt === publishedAt) continue;
    affect(findIndexAfter(items, storedAt, id));
  }
  return items.flatMap((_, index) => (affected[index] === 1 ? [index] : []));
}

/** Finds the index of the first item after a position. */
function findIndexAfter(items: readonly ListedItem[], publishedAt: number, id: string): number {
  const index = items.findIndex(
    (item) => item.publishedAt > publishedAt || (item.publishedAt === publishedAt && item.id > id),
  );
  return index === -1 ? items.length : index;
}

type Row = readonly (string | number | null)[];

/** Computes the rows of the affected items. The histories of those before them are kept for them. */
async function* computeRows(
  database: Database,
  kind: ItemKind,
  owner: Owner,
  items: readonly ListedItem[],
  affected: readonly number[],
): AsyncGenerator<Row> {
  const histories = new Map<number, ItemHistory>();
  for (const index of affected) {
    const first = Math.max(0, index - AGE_MULTIPLE_ITEMS.max);
    for (const earlier of histories.keys()) {
      if (earlier >= first) break;
      histories.delete(earlier);
    }
    await loadHistories(database, kind, items, histories, first, index);
    yield computeRow(kind, owner, items, histories, index);
  }
}

interface ItemHistory extends ItemViews {
  /** The instant of the newest observation. */
  readonly newestAt: number;
}

/** Loads the histories of a range of items, and of some that follow, unless they are loaded. */
async function loadHistories(
  database: Database,
  kind: ItemKind,
  items: readonly ListedItem[],
  histories: Map<number, ItemHistory>,
  first: number,
  last: number,
): Promise<void> {
  for (let from = first; from <= last; from++) {
    if (histories.has(from)) continue;
    const step = items.slice(from, from + READ_HISTORIES);
    const read = await readHistories(database, kind, step);
    await forEachInSlices(read.entries(), ([offset, readPoints]) => {
      const points = readPoints();
      histories.set(from + offset, {
        publishedAt: step[offset]?.publishedAt ?? 0,
        newestAt: points.at(-1)?.at ?? 0,
        points: listCountPoints(kind, MAIN_COUNTS[kind], points),
      });
    });
    await yieldToEventLoop();
  }
}

/** Reads the histories of the first items, as many as one statement may return, to be decoded. */
async function readHistories(
  database: Database,
  kind: ItemKind,
  items: readonly ListedItem[],
): Promise<readonly (() => readonly HistoryPoint[])[]> {
  const { selectChunkCounts, selectHistories } = STATEMENTS[kind];
  const keys = items.map(({ key }) => key);
  const counts = await database.queryJson<number[]>(selectChunkCounts, [JSON.stringify(keys)]);
  let chunkCount = 0;
  const exceeding = (counts ?? []).findIndex((count) => (chunkCount += count) > READ_CHUNKS);
  const [first = 0] = keys;
  if (exceeding === 0) {
    const points = await readLongHistory(database, kind, first);
    return [() => points];
  }
  const read = keys.slice(0, exceeding === -1 ? keys.length : exceeding);
  const chunks = await database.queryJson<Chunk[][]>(selectHistories, [JSON.stringify(read)]);
  const { pointLayout } = KIND_TABLES[kind];
  return (chunks ?? []).map((ofItem) => () => decodeChunks(ofItem, pointLayout));
}

async function readLongHistory(
  database: Database,
  kind: ItemKind,
  key: number,
): Promise<readonly HistoryPoint[]> {
  const points: HistoryPoint[] = [];
  for (let from = FIRST_INSTANT; ;) {
    const args = [key, from, READ_CHUNKS];
    const chunks = await database.queryJson<Chunk[]>(STATEMENTS[kind].selectChunks, args);
    for (const point of decodeChunks(chunks ?? [], KIND_TABLES[kind].pointLayout)) {
      points.push(point);
    }
    const last = chunks?.at(-1);
    if (last === undefined || chunks?.length !== READ_CHUNKS) return points;
    from = last.start + 1;
    await yieldToEventLoop();
  }
}

function computeRow(
  kind: ItemKind,
  owner: Owner,
  items: readonly ListedItem[],
  histories: ReadonlyMap<number, ItemHistory>,
  index: number,
): Row {
  const [item, history] = [items[index], histories.get(index)];
  if (item === undefined || history === undefined) throw new Error(`There is no item ${index}`);
  const compared = findViewsAtAge(history);
  const earlier: ItemHistory[] = [];
  for (let other = Math.max(0, index - AGE_MULTIPLE_ITEMS.max); other < index; other++) {
    const found = histories.get(other);
    if (found !== undefined) earlier.push(found);
  }
  const earlierViews = compared === null ? [] : listViewsAtAge(earlier, compared.ageMs);
  const metrics: Readonly<Record<string, number | null>> = {
    ageMultiple: computeAgeMultiple(compared?.views ?? null, earlierViews).ageMultiple,
    ...Object.fromEntries(
      (Object.keys(RATE_WINDOWS) as (keyof typeof RATE_WINDOWS)[]).map((window) => [
        MAIN_COUNTS[kind] + window,
        computeRate(history, window),
      ]),
    ),
  };
  const { key, id, publishedAt } = item;
  const views = findPresentCount(history);
  const stored = STORED_METRICS[kind].map((name) => metrics[name] ?? null);
  return [key, id, owner.key, publishedAt, views, ...stored];
}
