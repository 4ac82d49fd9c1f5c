/**
 * Reads pages of lists with chosen columns: first the rows, then their trends and the gains that are
 * not stored.
 */
import { ENTITY_FIELDS, type EntityFields, type EntityKind } from "../../../../core/kinds.ts";
import type { ListPosition, TableRequest } from "../../../../core/lists.ts";
import { OWNER_DISPLAY_NAME, TREND } from "../../../../core/columns.ts";
import type { CursorPagination } from "../../../../core/resources/generated/types.ts";
import { createRow, type Row } from "../../../../core/responses/rows.ts";
import type { DatabaseReads } from "../../database/database.ts";
import { LIST_TAGS } from "../../history/change-log.ts";
import { exactNumberSql, fieldValueSql, KIND_TABLES } from "../../tables/entity-sql.ts";
import { toColumnName } from "../../tables/entity-tables.ts";
import { STORED_METRICS } from "../../tables/figure-tables.ts";
import { createKeysRead, readListPage } from "./entity-lists.ts";
import { getSortField } from "./list-sql.ts";
import { createNamedKeysRead, type Owner } from "../owners.ts";
import type { CacheableResult } from "../read-types.ts";
import { readDailyValues } from "./daily-values.ts";
import { readOtherGains } from "./other-gains.ts";

/** The values of a row are those of {@link listValues}, in their order: arrays are parsed faster. */
type StoredRow = ListPosition & {
  readonly summary: readonly [
    key: number,
    id: string,
    observedAt: number | null,
    values: readonly unknown[],
  ];
};

/** Creates the read of a page of rows. `createBody` gives the rows their name and type. */
export function createTableRead<Kind extends EntityKind, Sort extends string, Body>(
  database: DatabaseReads,
  kind: Kind,
  /** How owners are found by name: the listed ones, or those of the listed items. */
  owner: Owner,
  createBody: (rows: Row<Kind>[], pagination: CursorPagination) => Body,
) {
  const isItem = owner.kind !== kind;
  const columns = listColumns(kind, owner);
  const tags = [...new Set([LIST_TAGS[kind], LIST_TAGS[owner.kind]])];
  const readNamedKeys = createNamedKeysRead(database, owner);
  return async (
    request: TableRequest<Sort>,
    signal?: AbortSignal,
  ): Promise<CacheableResult<Body>> => {
    const { fields } = request;
    const readKeys = createKeysRead(readNamedKeys, request, signal);
    const named = isItem ? { ownerKeys: await readKeys?.() } : { readKeys };
    const chosen = columns.filter(({ name, isNumber }) => isNumber || fields.includes(name));
    const summaryJson = createRowJson(kind, chosen, getSortField(request));
    const page = await readListPage<StoredRow>(database, request, {
      ...named,
      summaryJson,
      signal,
    });
    const found = page.items.map(({ summary: [key, id, observedAt, list] }) => {
      const values: Record<string, unknown> = { observedAt };
      for (const [index, { name }] of chosen.entries()) values[name] = list[index];
      return { key, id, observedAt, values };
    });
    const trends = fields.includes(TREND)
      ? await readDailyValues(database, kind, found, signal)
      : undefined;
    const gains = await readOtherGains(database, kind, fields, found);
    const rows = found.map(({ key, id, values }) =>
      createRow(kind, fields, {
        id,
        values: gains.size === 0 ? values : { ...values, ...gains.get(key) },
        trend: trends?.get(key) ?? [],
      }),
    );
    return { body: createBody(rows, page.pagination), tags };
  };
}

interface StoredColumn {
  readonly name: string;
  /** The value for JSON, as SQL. */
  readonly valueSql: string;
  /** Whether it is always read: metrics of a row are computed from counts, gains and instants. */
  readonly isNumber: boolean;
}

/** Lists the columns that rows have in the tables. */
function listColumns(kind: EntityKind, owner: Owner): readonly StoredColumn[] {
  const { attributes, counts }: EntityFields = ENTITY_FIELDS[kind];
  const { gains } = KIND_TABLES[kind];
  const createOwn = (name: string): StoredColumn => ({
    name,
    valueSql: fieldValueSql(name, `entity.${toColumnName(name)}`),
    isNumber: !(name in attributes) || attributes[name] === "instant",
  });
  const own = [...Object.keys(attributes), ...counts, ...gains.map(({ name }) => name)];
  return [...own.map(createOwn), ...(owner.kind === kind ? [] : listItemColumns(kind, owner))];
}

/** Lists the columns of items that other tables have. */
function listItemColumns(kind: EntityKind, owner: Owner): StoredColumn[] {
  const { owner: owned } = KIND_TABLES[kind];
  const ownerTable = KIND_TABLES[owner.kind].entityTable;
  const ownerSql = (value: string) =>
    `(SELECT ${value} FROM ${ownerTable} AS owner WHERE owner.key = entity.${owned?.keyColumn})`;
  const figures = STORED_METRICS[kind].map((name) => {
    const value = exactNumberSql(toColumnName(name));
    return [name, `(SELECT ${value} FROM ${kind}_figures WHERE key = entity.key)`] as const;
  });
  return [
    [owned?.field ?? "", ownerSql(owner.nameSql)] as const,
    [OWNER_DISPLAY_NAME, ownerSql("owner.display_name")] as const,
    ...figures,
  ].map(([name, valueSql]) => ({ name, valueSql, isNumber: false }));
}

/** Creates JSON of a row with some columns, as SQL. The figure of the sort is read already. */
function createRowJson(
  kind: EntityKind,
  columns: readonly StoredColumn[],
  sortField: string,
): string {
  const isSortFigure = (name: string) => name === sortField && STORED_METRICS[kind].includes(name);
  const values = columns
    .map(({ name, valueSql }) => (isSortFigure(name) ? exactNumberSql("listed_figure") : valueSql))
    .join(", ");
  const { idField } = KIND_TABLES[kind];
  return `json_array(entity.key, entity.${idField}, entity.observed_at, json_array(${values}))`;
}
