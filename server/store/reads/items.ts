/** Reads items of owners, shorts and tweets, by identifier: details and histories. */
import type { ItemKind, OwnerKind } from "../../../core/kinds.ts";
import { createNotFoundError } from "../../../core/errors.ts";
import { HISTORY_MAX_POINTS } from "../../../core/limits.ts";
import type { HistoryRequest } from "../../../core/histories.ts";
import type { Database } from "../database/database.ts";
import type { CacheableResult } from "./read-types.ts";
import { readHistoryPage, type RangeOrigin } from "./history-pages.ts";
import type { PointFields } from "../history/history-json.ts";
import { createHistoryReader, type HistoryRow } from "../history/thinned-history.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import { createOwnerRead, type Owner } from "./owners.ts";

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
  item: {
    readonly kind: Kind;
    readonly owner: Owner<OwnerKind, OwnerField>;
    /** The column with the instant of publication; an item without it is not listed. */
    readonly publishedColumn: string;
    /** Creates the field of a response that has the identifier. */
    readonly createIdField: (id: string) => IdField;
    /** JSON of the fields of the row `item`, as SQL. */
    readonly fieldsSql: string;
    /** The members of the points of the history in the details. */
    readonly pointFields: PointFields;
    /** @param name How responses call the owner. */
    readonly createDetails: (fields: Fields, history: Point[], name: string) => Details;
  },
) {
  const { kind, owner, pointFields: fields } = item;
  const { entityTable, owner: columns } = KIND_TABLES[kind];
  const history = createHistoryReader<Point>({ kind, fields, maxPoints: HISTORY_MAX_POINTS });

  /** Creates the read of JSON of the row `item`. It throws a `DomainError` if there is none. */
  function createItemRead<Row>(jsonSql: string) {
    type OwnerRow = Readonly<{ ownerId: string; name: string; item: Row | null }>;
    const readOwner = createOwnerRead<OwnerRow>(
      database,
      owner,
      `json_object(
        'ownerId', owner.id,
        'name', ${owner.nameSql},
        'item', (
          SELECT ${jsonSql}
          FROM ${entityTable} AS item
          WHERE item.id = ?3 AND ${columns.keyColumn} = owner.key
            AND ${item.publishedColumn} IS NOT NULL
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
  type DetailsRow = Readonly<{ observedAt: number; fields: Fields; history: HistoryRow }>;
  const readDetails = createItemRead<DetailsRow>(`json_object(
    'observedAt', observed_at,
    'fields', ${item.fieldsSql},
    'history', ${history.selectSql("item.key")}
  )`);
  return {
    async details(ownerName: string, id: string): Promise<CacheableResult<Details>> {
      const { name, row, tags } = await readDetails(ownerName, id);
      const { points, isThinned } = history.format(row.history);
      const body = item.createDetails(row.fields, points, name);
      return { body, tags, observedAt: row.observedAt, isThinned };
    },

    async history(ownerName: string, id: string, request: HistoryRequest & RangeOrigin) {
      const { name, row, tags } = await readRow(ownerName, id);
      const { page, caching } = await readHistoryPage(database, kind, row, request);
      const body = { ...owner.createNameField(name), ...item.createIdField(id), ...page };
      return { body, tags, ...caching };
    },
  };
}
