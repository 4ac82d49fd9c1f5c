/**
 * The SQL of lists that are sorted by a figure. Their order and filters restate
 * `compareListPositions()` and `matchesListFilters()` of core, so that a page reads no whole list;
 * `tests/store/reads/lists/entity-lists.test.ts` compares both.
 *
 * The arguments of statements that select a page are the position ?1 and ?2, the limit ?3, and the
 * filters' values.
 */
import type { ListPosition, ListRequest } from "../../../../core/lists.ts";
import { PUBLICATION_FIELDS, SORT_FIELDS } from "../../../../core/list-sorts.ts";
import { METRICS } from "../../../../core/metrics/catalog.ts";
import { exactNumberSql, KIND_TABLES } from "../../tables/entity-sql.ts";
import { OWNER_LISTS, toColumnName } from "../../tables/entity-tables.ts";
import { STORED_METRICS } from "../../tables/figure-tables.ts";
import {
  planItemFilters,
  planOwnerFilters,
  type FilterPlan,
  type ListFilter,
  type ListTable,
} from "./list-filters.ts";

interface ListSelection extends ListTable {
  readonly order: ListRequest["order"];
  readonly filters: readonly ListFilter[];
  /** The placeholders of the values of each filter. */
  readonly placeholders: ReadonlyMap<ListFilter, readonly string[]>;
}

/** The field that a list is sorted by. */
export function getSortField({ kind, sort }: Pick<ListRequest, "kind" | "sort">): string {
  const fields: Readonly<Record<string, string>> = SORT_FIELDS[kind];
  return fields[sort] ?? sort;
}

/** Plans where a list is read from: lists of items are sorted by figures only. */
function planList(
  request: ListRequest,
  ownerKeys: readonly number[] | undefined,
): FilterPlan & { readonly list: ListTable } {
  const { kind } = request;
  const field = getSortField(request);
  if (kind === "short" || kind === "tweet") {
    const figure = field === PUBLICATION_FIELDS[kind] ? "published_at" : toColumnName(field);
    const list = { table: `${kind}_figures`, isListed: "true", figure, isFigures: true };
    return { list, ...planItemFilters(kind, request, ownerKeys) };
  }
  const isFigures = STORED_METRICS[kind].includes(field);
  const list = {
    table: isFigures ? `${kind}_figures` : KIND_TABLES[kind].entityTable,
    isListed: isFigures ? "true" : OWNER_LISTS[kind].isListed,
    figure: toColumnName(field),
    isFigures,
  };
  return { list, ...planOwnerFilters(kind, request, list) };
}

/**
 * Creates the statements that read the list of a request; each returns the JSON of its rows.
 *
 * @param summaryJson JSON of an entity, as SQL; without it, the rows have keys and figures only.
 * @param ownerKeys The keys of the owners whose items are listed.
 */
export function createListStatements(
  request: ListRequest,
  summaryJson: string | undefined,
  ownerKeys?: readonly number[],
) {
  const { kind, order, sort } = request;
  const { list, filters, searches } = planList(request, ownerKeys);
  const { entityTable } = KIND_TABLES[kind];
  const values: (string | number)[] = [];
  const placeholders = new Map(
    filters.map((filter) => [filter, filter.values.map((value) => `?${3 + values.push(value)}`)]),
  );
  const selection = { ...list, order, filters, placeholders };
  const { unit = "count" } = METRICS[kind][sort] ?? {};
  const figureJson: FigureJson = unit === "count" ? (figure) => figure : exactNumberSql;
  const rows = { entityTable, summaryJson, figureJson };
  const createStatement = (keysSql: string, after: ListPosition | undefined, limit: number) => ({
    sql: rowsJsonSql(selection, rows, keysSql),
    args: [after?.figure ?? 0, after?.id ?? "", limit, ...values],
  });
  const rowFilters = listRowFilters(selection);
  return {
    /** Whether entities are left out, for which a page may scan many. */
    isScanned: rowFilters.length > 0 || request.names !== undefined,

    /** Whether the request has filters that leave entities out. */
    isFiltered:
      rowFilters.some((filter) => filter.values.length > 0) || request.names !== undefined,

    /** Whether a scan compares what the indexes of the list contain, and looks up no rows. */
    isCovered: filters.every(({ isCovered }) => isCovered),

    /** Whether a scan can fill a page; one for names would read far more entities than they mean. */
    hasOneFilter: filters.length === 1 && request.names === undefined,

    /** Estimates the entities of the list: rows are not deleted. */
    countSql: `SELECT json_quote(ifnull(max(key), 0)) FROM ${entityTable}`,

    /** Finds the keys of at most `limit` entities that match, for each filter with an index. */
    searches: (limit: number) => searches.map(({ sql, args }) => ({ sql, args: [limit, ...args] })),

    selectNext: (after: ListPosition | undefined, limit: number) =>
      createStatement(selectNextSql(selection, after), after, limit),

    /** Selects the positions and keys of the next of the entities with a key of a JSON array. */
    selectPositions(after: ListPosition | undefined, limit: number, keys: string) {
      const sql = positionsJsonSql(selectMatchingSql(selection, after), figureJson);
      return { sql, args: [after?.figure ?? 0, after?.id ?? "", limit, ...values, keys] };
    },

    /** Selects the next of the entities with a key of a JSON array. */
    selectMatching(after: ListPosition | undefined, limit: number, keys: string) {
      const { sql, args } = createStatement(selectMatchingSql(selection, after), after, limit);
      return { sql, args: [...args, keys] };
    },
  };
}

export type ListStatements = ReturnType<typeof createListStatements>;

/** Creates JSON of a figure, as SQL. */
type FigureJson = (figure: string) => string;

/** Whether a filter bounds the figures of the list. */
const isBound = ({ figure }: ListTable, { bound }: ListFilter) => bound?.column === figure;

const listRowFilters = (query: ListSelection) =>
  query.filters.filter((filter) => !isBound(query, filter));

const filterSql = ({ placeholders }: ListSelection, filter: ListFilter) =>
  filter.matchSql(...(placeholders.get(filter) ?? []));

const joinConditions = (conditions: readonly string[]) => conditions.join(" AND ") || "true";

/**
 * Which rows are listed, with the bounds of the figures. A bound that the position has passed is left
 * out: of two conditions that could end a search of an index, SQLite might choose the wider one.
 */
function listedSql(query: ListSelection, after: ListPosition | undefined): string {
  const passed = query.order === "asc" ? "min" : "max";
  const bounds = query.filters.filter(
    (filter) => isBound(query, filter) && (after === undefined || filter.bound?.edge !== passed),
  );
  return joinConditions([query.isListed, ...bounds.map((filter) => filterSql(query, filter))]);
}

/**
 * Selects the next ?3 entities in the order of the list: their positions and, of those that match,
 * the keys. Each part is a search of the index of the figure, and runs only if those before it don't
 * give enough.
 */
function selectNextSql(query: ListSelection, after: ListPosition | undefined): string {
  const { figure } = query;
  const isListed = listedSql(query, after);
  const select = (condition: string, orderBy: string) =>
    selectSql(query, `${condition} AND ${isListed}`, orderBy);
  if (after?.figure === null) return select(`${figure} IS NULL AND id > ?2`, "id");
  // A bound leaves unknown figures out.
  const hasBound = query.filters.some((filter) => isBound(query, filter));
  const unknown = hasBound ? [] : [select(`${figure} IS NULL`, "id")];
  const isAscending = query.order === "asc";
  const isBehind =
    after === undefined ? `${figure} IS NOT NULL` : `${figure} ${isAscending ? ">" : "<"} ?1`;
  const others = isAscending
    ? selectAscendingSql(query, isBehind, isListed)
    : select(isBehind, `${figure} DESC, id`);
  return concatSql(
    after === undefined
      ? [others, ...unknown]
      : [select(`${figure} = ?1 AND id > ?2`, "id"), others, ...unknown],
  );
}

const concatSql = (parts: readonly string[]) => `
  ${parts.map((part) => `SELECT * FROM (${part})`).join("\n  UNION ALL\n  ")}
  LIMIT ?3`;

function selectSql(query: ListSelection, condition: string, orderBy: string): string {
  const { table, figure } = query;
  return `
  SELECT
    iif(${matchSql(query)}, key, NULL) AS matching_key,
    id AS listed_id,
    ${figure} AS listed_figure
  FROM ${table}
  WHERE ${condition}
  ORDER BY ${orderBy}
  LIMIT ?3`;
}

/**
 * Selects keys by ascending figure, then by ascending identifier. The index is by descending
 * figure: read backwards, it has the identifiers of one figure in descending order. Any number of
 * entities can share the last figure of a page: they are read by a search of their own, and fewer
 * than ?3 others are sorted.
 */
function selectAscendingSql(query: ListSelection, isBehind: string, isListed: string) {
  const { figure, table } = query;
  const condition = `${isBehind} AND ${isListed}`;
  const last = `(
    SELECT ${figure}
    FROM ${table}
    WHERE ${condition}
    ORDER BY ${figure}
    LIMIT 1 OFFSET ?3 - 1
  )`;
  return concatSql([
    selectSql(query, `${condition} AND ${figure} < ifnull(${last}, 9e999)`, `${figure}, id`),
    selectSql(query, `${figure} = ${last} AND ${isListed}`, "id"),
  ]);
}

/** Selects keys of a JSON array, its last argument, whose entities match and come next. */
function selectMatchingSql(query: ListSelection, after: ListPosition | undefined): string {
  const { order, figure, placeholders } = query;
  const valueCount = [...placeholders.values()].flat().length;
  const next = order === "desc" ? "<" : ">";
  const isAfter = [
    ...(after?.figure === null ? [] : [`${figure} ${next} ?1`, `${figure} IS NULL`]),
    `${figure} IS ${after?.figure === null ? "NULL" : "?1"} AND id > ?2`,
  ].join(" OR ");
  return selectSql(
    query,
    `key IN (SELECT value FROM json_each(?${4 + valueCount}))
      AND (${after === undefined ? "true" : isAfter})
      AND ${listedSql(query, undefined)}
      AND ${matchSql(query)}`,
    `${figure} ${order} NULLS LAST, id`,
  );
}

/**
 * Reads the selected entities, as JSON: those that match the filters, the number of all and, if
 * there is a filter, the position of the last.
 */
function rowsJsonSql(
  query: ListSelection,
  rows: {
    readonly entityTable: string;
    readonly summaryJson: string | undefined;
    readonly figureJson: FigureJson;
  },
  selectedSql: string,
): string {
  const { entityTable, summaryJson, figureJson } = rows;
  // This operator gives JSON, with all digits of a number.
  const last = (value: string) => `json_group_array(${value}) -> '$[#-1]'`;
  const lastMember =
    listRowFilters(query).length > 0
      ? `'last', json_object('id', ${last("listed_id")}, 'figure', ${last(figureJson("listed_figure"))}),`
      : "";
  const join =
    summaryJson === undefined
      ? ""
      : `LEFT JOIN ${entityTable} AS entity ON entity.key = matching_key`;
  return `
    SELECT json_object(
      'matches', json_group_array(json_object(
        'id', listed_id,
        'figure', ${figureJson("listed_figure")},
        ${summaryJson === undefined ? "'key', matching_key" : `'summary', ${summaryJson}`}
      )) FILTER (WHERE matching_key IS NOT NULL),
      ${lastMember}
      'count', count(*)
    )
    FROM (${selectedSql}) AS selected
    ${join}`;
}

const positionsJsonSql = (selectedSql: string, figureJson: FigureJson) => `
  SELECT json_group_array(
    json_object('key', matching_key, 'id', listed_id, 'figure', ${figureJson("listed_figure")})
  )
  FROM (${selectedSql})`;

const matchSql = (query: ListSelection) =>
  joinConditions(listRowFilters(query).map((filter) => filterSql(query, filter)));
