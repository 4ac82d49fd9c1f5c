/** Reads items of owners, shorts and tweets, by identifier: details and histories. */
import type { ItemKind, OwnerKind } from "../../../core/kinds.ts";
import { createNotFoundError } from "../../../core/errors.ts";
import type { HistoryRequest } from "../../../core/history-request.ts";
import type { Database } from "../database/database.ts";
import type { CacheableResult } from "../history/cache-metadata.ts";
import { readHistoryPage, type RangeOrigin } from "../history/history-pages.ts";
import type { createHistoryReader, HistoryRow } from "../history/thinned-history.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import { readOwner, selectOwnerSql, type Owner } from "./owners.ts";

/** How the items of a kind are found, and how responses call them. */
interface Item<Kind extends ItemKind, OwnerField extends object, IdField extends object> {
  readonly kind: Kind;
  readonly owner: Owner<OwnerKind, OwnerField>;
  /** The column with the instant of publication; an item without it is not listed. */
  readonly publishedColumn: string;
  /** Creates the field of a response that has the identifier. */
  readonly createIdField: (id: string) => IdField;
}

/** How an item with its thinned history is read. */
interface ItemDetails<Fields, Point, Details> {
  /** JSON of the fields of the row `item`, as SQL. */
  readonly fieldsSql: string;
  readonly history: ReturnType<typeof createHistoryReader<Point>>;
  /** @param name How responses call the owner. */
  readonly create: (fields: Fields, history: Point[], name: string) => Details;
}

/** Creates the reads of the items of a kind. */
export function createItemReads<
  Kind extends ItemKind,
  OwnerField extends object,
  IdField extends object,
  Fields,
  Point,
  Details,
>(
  database: Database,
  { kind, owner, publishedColumn, createIdField }: Item<Kind, OwnerField, IdField>,
  details: ItemDetails<Fields, Point, Details>,
) {
  const { entityTable, owner: columns } = KIND_TABLES[kind];

  /** Creates the read of JSON of the row `item`. It throws a `DomainError` if there is none. */
  function createRead<Row>(jsonSql: string) {
    const sql = selectOwnerSql(
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
    type OwnerRow = Readonly<{ ownerId: string; name: string; item: Row | null }>;
    return async (ownerName: string, id: string) => {
      const row = await readOwner<OwnerRow>(database, owner, sql, [ownerName, id]);
      const { ownerId, name, item } = row;
      if (item === null) throw createNotFoundError(kind, ownerName, id);
      return { name, item, tags: owner.listTags(ownerName, ownerId) };
    };
  }

  const readItem = createRead<{ readonly key: number; readonly observedAt: number }>(
    "json_object('key', key, 'observedAt', observed_at)",
  );
  const readDetails = createRead<
    Readonly<{ observedAt: number; fields: Fields; history: HistoryRow }>
  >(
    `json_object(
      'observedAt', observed_at,
      'fields', ${details.fieldsSql},
      'history', ${details.history.selectSql("item.key")}
    )`,
  );

  return {
    async details(ownerName: string, id: string): Promise<CacheableResult<Details>> {
      const { name, item, tags } = await readDetails(ownerName, id);
      const { points, isThinned } = details.history.format(item.history);
      const body = details.create(item.fields, points, name);
      return { body, tags, observedAt: item.observedAt, isThinned };
    },

    async history(ownerName: string, id: string, request: HistoryRequest & RangeOrigin) {
      const { name, item, tags } = await readItem(ownerName, id);
      const { page, caching } = await readHistoryPage(database, kind, item, request);
      const body = { ...owner.createNameField(name), ...createIdField(id), ...page };
      return { body, tags, ...caching };
    },
  };
}
