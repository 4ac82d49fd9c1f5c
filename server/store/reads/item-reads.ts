/**
 * Reads shorts and tweets: details and histories by the owner's name and the item's identifier; and
 * by identifiers alone, details of several, and comparisons of one count by date or by the hours
 * since each was published.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { HistoryBucket } from "../../../core/buckets.ts";
import {
  createItemNotFoundError,
  createNotFoundError,
  type DomainError,
} from "../../../core/errors.ts";
import { createComparisonPage, type HistoryRequest } from "../../../core/histories.ts";
import {
  createAgeTable,
  findFirstHours,
  listAgeValues,
  type AgeComparisonRequest,
  type AgeValue,
  type DateComparisonRequest,
  type ItemComparisonRequest,
} from "../../../core/item-comparison.ts";
import type { ItemKind, OwnerKind } from "../../../core/kinds.ts";
import { HISTORY_MAX_POINTS } from "../../../core/limits.ts";
import type { ComparedItem, FoundItem, ItemComparison } from "../../../core/stores.ts";
import { HOUR_MS, LAST_INSTANT } from "../../../core/time.ts";
import type { DatabaseReads } from "../database/database.ts";
import { createOwnerTag, LIST_TAGS } from "../history/change-log.ts";
import type { PointFields } from "../history/history-json.ts";
import { createHistoryReader, type HistoryRow } from "../history/thinned-history.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import { OWNER_LISTS } from "../tables/entity-tables.ts";
import {
  computePageValidity,
  readBuckets,
  readHistoryPage,
  readPoints,
  type RangeOrigin,
} from "./history-pages.ts";
import { createOwnerRead, type Owner } from "./owners.ts";
import type { CacheableResult } from "./read-types.ts";

type OwnedItem<Row> = Readonly<{ ownerId: string; name: string; item: Row | null }>;

type ItemDetailsRow<Fields> = Readonly<{
  observedAt: number;
  fields: Fields;
  history: HistoryRow;
}>;

export function createItemReads<
  Kind extends ItemKind,
  OwnerField extends object,
  IdField extends object,
  Fields,
  Point,
  Details,
>(
  database: DatabaseReads,
  item: {
    readonly kind: Kind;
    readonly owner: Owner<OwnerKind, OwnerField>;
    readonly createIdField: (id: string) => IdField;
    /** JSON of the fields of the row `item`, as SQL. */
    readonly fieldsSql: string;
    readonly pointFields: PointFields;
    readonly createDetails: (fields: Fields, history: Point[], name: string) => Details;
  },
) {
  const { kind, owner, pointFields: fields } = item;
  const { entityTable, owner: columns, publishedColumn } = KIND_TABLES[kind];
  const history = createHistoryReader<Point>({ kind, fields, maxPoints: HISTORY_MAX_POINTS });

  function createItemRead<Row>(jsonSql: string) {
    const readOwner = createOwnerRead<OwnedItem<Row>>(
      database,
      owner,
      `json_object(
        'ownerId', owner.id,
        'name', ${owner.nameSql},
        'item', (
          SELECT ${jsonSql}
          FROM ${entityTable} AS item
          WHERE item.id = ?3 AND ${columns.keyColumn} = owner.key
            AND ${publishedColumn} IS NOT NULL
        )
      )`,
    );
    return async (ownerName: string, id: string) => {
      const row = await readOwner(ownerName, id);
      if (row.item === null) throw createNotFoundError(kind, ownerName, id);
      return { name: row.name, row: row.item, tags: owner.listTags(ownerName, row.ownerId) };
    };
  }

  const readRow = createItemRead<Readonly<{ key: number; observedAt: number }>>(
    "json_object('key', key, 'observedAt', observed_at)",
  );
  const detailsSql = `json_object(
    'observedAt', observed_at,
    'fields', ${item.fieldsSql},
    'history', ${history.selectSql("item.key")}
  )`;
  const readDetails = createItemRead<ItemDetailsRow<Fields>>(detailsSql);
  function createDetails(row: ItemDetailsRow<Fields>, name: string) {
    const { points, isThinned } = history.format(row.history);
    return { details: item.createDetails(row.fields, points, name), isThinned };
  }
  return {
    ...createFoundItemReads(database, { kind, owner, detailsSql, createDetails }),

    async details(ownerName: string, id: string): Promise<CacheableResult<Details>> {
      const { name, row, tags } = await readDetails(ownerName, id);
      const { details, isThinned } = createDetails(row, name);
      return { body: details, tags, observedAt: row.observedAt, isThinned };
    },

    async history(ownerName: string, id: string, request: HistoryRequest & RangeOrigin) {
      const { name, row, tags } = await readRow(ownerName, id);
      const { page, caching } = await readHistoryPage(database, kind, row, request);
      const body = { ...owner.createNameField(name), ...item.createIdField(id), ...page };
      return { body, tags, ...caching };
    },
  };
}

interface FoundRow<Row> {
  readonly owner: string;
  readonly row: Row;
}

interface ComparedRow {
  readonly key: number;
  readonly ownerId: string;
  readonly item: ComparedItem;
}

interface ItemDetails<Details> {
  readonly details: Details;
  readonly isThinned: boolean;
}

/** The title of an item, by kind. */
const TITLE_COLUMNS: Readonly<Record<ItemKind, string>> = { short: "title", tweet: "text" };

/** Creates the reads of items by identifier. An item whose owner is not known is not found. */
function createFoundItemReads<Kind extends ItemKind, Row, Details>(
  database: DatabaseReads,
  item: {
    readonly kind: Kind;
    readonly owner: Owner;
    /** JSON of the row `item`, as SQL. */
    readonly detailsSql: string;
    readonly createDetails: (row: Row, name: string) => ItemDetails<Details>;
  },
) {
  const { kind, owner } = item;
  const { entityTable, publishedColumn, owner: owned } = KIND_TABLES[kind];
  const ownerTable = KIND_TABLES[owner.kind].entityTable;
  const isOwnerKnown = `owner.${OWNER_LISTS[owner.kind].isListed}`;
  // Columns of the item have no table before their names.
  const selectDetails = `
    SELECT json_object(
      'owner', ${owner.nameSql},
      'row', (SELECT ${item.detailsSql} FROM ${entityTable} AS item WHERE item.id = ?1)
    )
    FROM ${ownerTable} AS owner
    WHERE ${isOwnerKnown} AND owner.key = (
      SELECT ${owned.keyColumn}
      FROM ${entityTable}
      WHERE id = ?1 AND ${publishedColumn} IS NOT NULL
    )`;
  const selectCompared = `
    SELECT json_group_array((
      SELECT json_object(
        'key', item.key,
        'ownerId', owner.id,
        'item', json_object(
          'owner', ${owner.nameSql},
          'title', item.${TITLE_COLUMNS[kind]},
          'publishedAt', item.${publishedColumn}
        )
      )
      FROM ${entityTable} AS item
      CROSS JOIN ${ownerTable} AS owner ON owner.key = item.${owned.keyColumn}
      WHERE item.id = given.value AND item.${publishedColumn} IS NOT NULL AND ${isOwnerKnown}
    ))
    FROM json_each(?1) AS given`;

  return {
    /** Reads one item after another, because a history can be long. */
    async batch(
      ids: readonly string[],
    ): Promise<CacheableResult<readonly (FoundItem<Details> | DomainError)[]>> {
      const results: (FoundItem<Details> | DomainError)[] = [];
      let isThinned = false;
      for (const id of ids) {
        const found = await database.queryJson<FoundRow<Row>>(selectDetails, [id]);
        if (found === undefined) results.push(createItemNotFoundError(kind, id));
        else {
          const { details, isThinned: isCut } = item.createDetails(found.row, found.owner);
          isThinned ||= isCut;
          results.push({ owner: found.owner, details });
        }
        await yieldToEventLoop();
      }
      return { body: results, tags: [], isThinned };
    },

    async comparison(
      request: ItemComparisonRequest<Kind> & RangeOrigin,
    ): Promise<CacheableResult<ItemComparison>> {
      const args = [JSON.stringify(request.ids)];
      const found = (await database.queryJson<(ComparedRow | null)[]>(selectCompared, args)) ?? [];
      const tags = listTags(kind, owner, found);
      return { ...(await compareItems(database, kind, found, request)), tags };
    },
  };
}

/** An item is found once it is published and its owner is known. */
function listTags(kind: ItemKind, owner: Owner, found: readonly (ComparedRow | null)[]): string[] {
  const tags = found.flatMap((row) =>
    row === null
      ? [LIST_TAGS[kind], LIST_TAGS[owner.kind]]
      : [createOwnerTag(owner.kind, row.ownerId)],
  );
  return [...new Set(tags)];
}

async function compareItems(
  database: DatabaseReads,
  kind: ItemKind,
  found: readonly (ComparedRow | null)[],
  request: ItemComparisonRequest & RangeOrigin,
) {
  const items = request.ids.map(
    (id, index) => found[index]?.item ?? createItemNotFoundError(kind, id),
  );
  const { table, ...caching } =
    request.by === "date"
      ? await compareByDate(database, kind, found, request)
      : await compareByAge(database, kind, found, request);
  return { body: { items, table }, ...caching };
}

async function compareByDate(
  database: DatabaseReads,
  kind: ItemKind,
  found: readonly (ComparedRow | null)[],
  request: DateComparisonRequest & RangeOrigin,
) {
  // A page of rows needs at most as many first buckets of each item.
  const histories: HistoryBucket[][] = [];
  for (const row of found) {
    histories.push(
      row === null ? [] : await readBuckets(database, kind, row.key, request, request.limit + 1),
    );
    await yieldToEventLoop();
  }
  const { first, ...page } = createComparisonPage(histories, request.countIndex, request);
  const table = { by: "date" as const, ...page };
  return { table, ...computePageValidity(request, first) };
}

async function compareByAge(
  database: DatabaseReads,
  kind: ItemKind,
  found: readonly (ComparedRow | null)[],
  request: AgeComparisonRequest,
) {
  const values: AgeValue[][] = [];
  for (const row of found) {
    values.push(row === null ? [] : await readAgeValues(database, kind, row, request));
    await yieldToEventLoop();
  }
  return { table: { by: "age" as const, ...createAgeTable(values, request) } };
}

/** Reads the values of an item for a page of rows, and for one row more. */
async function readAgeValues(
  database: DatabaseReads,
  kind: ItemKind,
  { key, item: { publishedAt } }: ComparedRow,
  request: AgeComparisonRequest,
): Promise<AgeValue[]> {
  const start = publishedAt + findFirstHours(request) * HOUR_MS;
  const values: AgeValue[] = [];
  for await (const points of readPoints(database, kind, key, { start, end: LAST_INSTANT + 1 })) {
    const next = listAgeValues(points, publishedAt, request.countIndex, request);
    if (values.at(-1)?.hours === next[0]?.hours) values.pop();
    values.push(...next);
    // The last value is the newest of its hours once another one follows it.
    if (values.length > request.limit + 1) break;
  }
  return values.slice(0, request.limit + 1);
}
