/** Reads items of owners: shorts and tweets. */
import type { ItemKind, OwnerKind } from "../../../core/kinds.ts";
import { createNotFoundError } from "../../../core/errors.ts";
import type { Database } from "../database/database.ts";
import type { CacheableResult } from "../history/cache-metadata.ts";
import type { createHistoryReader, HistoryRow } from "../history/thinned-history.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import { readOwner, selectOwnerSql, type Owner } from "./owners.ts";

/** How the items of a kind are found, and how responses call them. */
export interface Item<
  Kind extends ItemKind = ItemKind,
  OwnerField extends object = object,
  IdField extends object = object,
> {
  readonly kind: Kind;
  readonly owner: Owner<OwnerKind, OwnerField>;
  /** The column with the instant of publication; an item without it is not listed. */
  readonly publishedColumn: string;
  /** Creates the field of a response that has the identifier. */
  readonly createIdField: (id: string) => IdField;
}

interface ItemRow<Fields> {
  readonly ownerId: string;
  readonly name: string;
  /** `null` if the owner has no such item. */
  readonly item: Fields | null;
}

/** Selects JSON of the item ?3 of the owner that a name means. */
export function selectItemSql(item: Item, jsonSql: string): string {
  const { kind, owner, publishedColumn } = item;
  const { entityTable, owner: columns } = KIND_TABLES[kind];
  return selectOwnerSql(
    owner,
    `json_object(
      'ownerId', owner.id,
      'name', ${owner.nameSql},
      'item', (
        SELECT ${jsonSql}
        FROM ${entityTable} AS item
        WHERE item.id = ?3 AND ${columns.keyColumn} = owner.key AND ${publishedColumn} IS NOT NULL
      )
    )`,
  );
}

/** Reads the item of {@link selectItemSql}. @throws {DomainError} If there is no such item. */
export async function readItem<Fields>(
  database: Database,
  { kind, owner }: Item,
  sql: string,
  [name, id]: readonly [string, string],
) {
  const row = await readOwner<ItemRow<Fields>>(database, owner, sql, [name, id]);
  if (row.item === null) throw createNotFoundError(kind, name, id);
  return { name: row.name, item: row.item, tags: owner.listTags(name, row.ownerId) };
}

/** How an item with its history is read. */
interface ItemDetails<Fields, Point, Details> {
  /** JSON of the fields of the row `item`, as SQL. */
  readonly fieldsSql: string;
  readonly history: ReturnType<typeof createHistoryReader<Point>>;
  /** @param name How responses call the owner. */
  readonly create: (fields: Fields, history: Point[], name: string) => Details;
}

/** Creates the read of an item with its history. */
export function createItemRead<Fields, Point, Details>(
  database: Database,
  item: Item,
  { fieldsSql, history, create }: ItemDetails<Fields, Point, Details>,
) {
  const sql = selectItemSql(
    item,
    `json_object(
      'observedAt', observed_at,
      'fields', ${fieldsSql},
      'history', ${history.selectSql("item.key")}
    )`,
  );
  interface Row {
    readonly observedAt: number;
    readonly fields: Fields;
    readonly history: HistoryRow;
  }
  return async (name: string, id: string): Promise<CacheableResult<Details>> => {
    const row = await readItem<Row>(database, item, sql, [name, id]);
    const { observedAt, fields, history: historyRow } = row.item;
    const { points, isThinned } = history.format(historyRow);
    return { body: create(fields, points, row.name), tags: row.tags, observedAt, isThinned };
  };
}
