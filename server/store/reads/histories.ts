/** Reads the histories of channels, shorts, users and tweets, by bucket and in pages. */
import type { EntityKind, ItemKind, OwnerKind } from "../../../core/kinds.ts";
import type { HistoryRequest } from "../../../core/history-request.ts";
import { createHistoryItems } from "../../../core/responses/histories.ts";
import type { Database } from "../database/database.ts";
import {
  computePageValidity,
  readHistoryPage,
  type RangeOrigin,
} from "../history/history-pages.ts";
import { readItem, selectItemSql, type Item } from "./items.ts";
import { readOwner, selectOwnerSql, type Owner } from "./owners.ts";

/** The entity whose history is read. */
interface EntityRow {
  readonly key: number;
  /** `null` for a user who was never observed. */
  readonly observedAt: number | null;
}

/** Creates the read of the history of an owner. */
export function createOwnerHistoryRead<Kind extends OwnerKind, NameField extends object>(
  database: Database,
  owner: Owner<Kind, NameField>,
) {
  type Row = EntityRow & { readonly id: string; readonly name: string };
  const json = `json_object('key', key, 'id', id, 'observedAt', observed_at, 'name', ${owner.nameSql})`;
  const sql = selectOwnerSql(owner, json);
  return async (name: string, request: HistoryRequest & RangeOrigin) => {
    const row = await readOwner<Row>(database, owner, sql, [name]);
    const { page, ...caching } = await readPage(database, owner.kind, row, request);
    const body = { ...owner.createNameField(row.name), ...page };
    return { body, tags: owner.listTags(name, row.id), ...caching };
  };
}

/** Creates the read of the history of an item. */
export function createItemHistoryRead<
  Kind extends ItemKind,
  NameField extends object,
  IdField extends object,
>(database: Database, item: Item<Kind, NameField, IdField>) {
  const sql = selectItemSql(item, "json_object('key', key, 'observedAt', observed_at)");
  return async (name: string, id: string, request: HistoryRequest & RangeOrigin) => {
    const { tags, ...row } = await readItem<EntityRow>(database, item, sql, [name, id]);
    const { page, ...caching } = await readPage(database, item.kind, row.item, request);
    const names = { ...item.owner.createNameField(row.name), ...item.createIdField(id) };
    return { body: { ...names, ...page }, tags, ...caching };
  };
}

/** Reads the fields of a page that are the same for all kinds, and how long it may be cached. */
async function readPage<Kind extends EntityKind>(
  database: Database,
  kind: Kind,
  { key, observedAt }: EntityRow,
  request: HistoryRequest & RangeOrigin,
) {
  const owner = { kind, key };
  const { items, changes, hasMore, nextCursor } = await readHistoryPage(database, owner, request);
  const history = createHistoryItems(kind, items, changes);
  return {
    observedAt,
    page: { interval: request.interval, history, pagination: { hasMore, nextCursor } },
    ...computePageValidity(request, items[0]),
  };
}
