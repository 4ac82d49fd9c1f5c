/**
 * The SQL of lists that are sorted by a figure. Their order and filters restate
 * `compareListPositions()` and `matchesListFilters()` of core, so that a page reads no whole list;
 * `tests/store/reads/entity-lists.test.ts` compares both.
 *
 * The arguments of all statements are those of {@link listArguments}.
 */
import type { TSchema } from "@sinclair/typebox";
import type { OwnerKind } from "../../../core/kinds.ts";
import {
  SEARCH_SUBSTRING_MIN_CHARACTERS,
  type ListPosition,
  type ListRequest,
} from "../../../core/lists.ts";
import { fieldsJsonSql, KIND_TABLES } from "../tables/entity-sql.ts";
import { toColumnName } from "../tables/entity-tables.ts";

/** A list that can be sorted. */
export interface SortableList<Sort extends string = string> {
  readonly kind: OwnerKind;
  /** Which rows of the table are listed, as SQL. */
  readonly isListed: string;
  /** The column of the username in lower case. */
  readonly usernameColumn: string;
  /** The fields of an entity in the list. */
  readonly summary: { readonly properties: Readonly<Record<string, TSchema>> };
  /** The field of the resource that each sort compares. */
  readonly fields: Readonly<Record<Sort, string>>;
}

/** A list, and the order and the filters in which it is read. */
export interface ListSelection {
  readonly list: SortableList;
  readonly table: string;
  readonly request: ListRequest;
  /** The column that the list is sorted by. */
  readonly figure: string;
  readonly filters: readonly ListFilter[];
}

export function createListSelection<Sort extends string>(
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
): ListSelection {
  return {
    list,
    table: KIND_TABLES[list.kind].entityTable,
    request,
    figure: toColumnName(list.fields[request.sort]),
    filters: Object.values(FILTERS).flatMap((createFilter) => createFilter(list, request) ?? []),
  };
}

/** A filter of a request. */
interface ListFilter {
  /** The value of the filter in the request. */
  readonly value: string | number;
  /** Returns the condition for rows that match. @param value The value, as SQL. */
  readonly isMatchSql: (value: string) => string;
  /**
   * The statement that finds the keys of at most `?2` matching rows by an index, and its argument
   * `?1`. Without it, the list is scanned.
   */
  readonly index?: { readonly sql: string; readonly text: string };
}

/** The fields of a request that are filters. */
type FilterName = Exclude<keyof ListRequest, "kind" | "sort" | "order" | "limit" | "after">;

/** How each filter is applied: the types require an entry for every filter of a request. */
const FILTERS: Readonly<
  Record<FilterName, (list: SortableList, request: ListRequest) => ListFilter | undefined>
> = {
  country({ kind }, { country }) {
    if (country === undefined) return undefined;
    const isMatchSql = (value: string) => `lower(country) = ${value}`;
    const sql = selectKeysSql(KIND_TABLES[kind].entityTable, isMatchSql("?1"));
    return { value: country, isMatchSql, index: { sql, text: country } };
  },

  search({ kind, usernameColumn: username }, { search }) {
    if (search === undefined) return undefined;
    if (Array.from(search).length < SEARCH_SUBSTRING_MIN_CHARACTERS) {
      const isInRange = `${username} >= ?1 AND ${username} < ?1 || char(1114111)`;
      const sql = selectKeysSql(KIND_TABLES[kind].entityTable, isInRange);
      return {
        value: search,
        isMatchSql: (value) => `substr(${username}, 1, length(${value})) = ${value}`,
        index: { sql, text: search },
      };
    }
    const namesTable = `${kind}_names`;
    return {
      value: search,
      isMatchSql: (value) =>
        `(instr(${username}, ${value}) > 0 OR instr(display_name_folded, ${value}) > 0)`,
      index: {
        sql: selectKeysSql(namesTable, `${namesTable} MATCH ?1`),
        // FTS5 finds a quoted phrase as it is.
        text: `"${search.replaceAll('"', '""')}"`,
      },
    };
  },
};

/** The `rowid` of an entity is its key. */
const selectKeysSql = (table: string, condition: string) => `
  SELECT json_group_array(key)
  FROM (
    SELECT rowid AS key
    FROM ${table}
    WHERE ${condition}
    LIMIT ?2
  )`;

/** The arguments of a statement: the position ?1 and ?2, the limit ?3, the values of the filters. */
export function listArguments(
  { filters }: ListSelection,
  after: ListPosition | undefined,
  limit: number,
): (string | number)[] {
  return [after?.figure ?? 0, after?.id ?? "", limit, ...filters.map(({ value }) => value)];
}

/**
 * Selects the keys of the next ?3 entities in the order of the list. Each part is a search of the
 * index of the figure, and runs only if those before it don't give enough.
 *
 * @param after The entity before them.
 */
export function selectNextSql(query: ListSelection, after: ListPosition | undefined): string {
  const { figure } = query;
  const select = (condition: string, orderBy: string) => selectSql(query, condition, orderBy);
  if (after?.figure === null) return select(`${figure} IS NULL AND id > ?2`, "id");
  const unknown = select(`${figure} IS NULL`, "id");
  const isAscending = query.request.order === "asc";
  const isBehind =
    after === undefined ? `${figure} IS NOT NULL` : `${figure} ${isAscending ? ">" : "<"} ?1`;
  const others = isAscending
    ? selectAscendingSql(query, isBehind)
    : select(isBehind, `${figure} DESC, id`);
  return concatSql(
    after === undefined
      ? [others, unknown]
      : [select(`${figure} = ?1 AND id > ?2`, "id"), others, unknown],
  );
}

const concatSql = (parts: readonly string[]) => `
  ${parts.map((part) => `SELECT key FROM (${part})`).join("\n  UNION ALL\n  ")}
  LIMIT ?3`;

const selectSql = ({ list, table }: ListSelection, condition: string, orderBy: string) => `
  SELECT key
  FROM ${table}
  WHERE ${condition} AND ${list.isListed}
  ORDER BY ${orderBy}
  LIMIT ?3`;

/**
 * Selects keys by ascending figure, then by ascending identifier. The index is by descending
 * figure, so the other way round the identifiers of one figure descend. Any number of entities can
 * share the last figure of a page: they are read by a search of their own, and fewer than ?3 others
 * are sorted.
 */
function selectAscendingSql(query: ListSelection, condition: string) {
  const { figure, list, table } = query;
  const last = `(
    SELECT ${figure}
    FROM ${table}
    WHERE ${condition} AND ${list.isListed}
    ORDER BY ${figure}
    LIMIT 1 OFFSET ?3 - 1
  )`;
  return concatSql([
    selectSql(query, `${condition} AND ${figure} < ifnull(${last}, 9e999)`, `${figure}, id`),
    selectSql(query, `${figure} = ${last}`, "id"),
  ]);
}

/** Selects keys of a JSON array, its last argument, whose entities match and come next. */
export function selectMatchingSql(query: ListSelection): string {
  const { request, figure, filters } = query;
  const { order, after } = request;
  const next = order === "desc" ? "<" : ">";
  const isAfter = [
    ...(after?.figure === null ? [] : [`${figure} ${next} ?1`, `${figure} IS NULL`]),
    `${figure} IS ${after?.figure === null ? "NULL" : "?1"} AND id > ?2`,
  ].join(" OR ");
  return selectSql(
    query,
    `key IN (SELECT value FROM json_each(?${4 + filters.length}))
      AND (${after === undefined ? "true" : isAfter})
      AND ${matchSql(query)}`,
    `${figure} ${order} NULLS LAST, id`,
  );
}

/**
 * Reads the entities whose keys a subquery selects, as JSON: those that match the filter with their
 * summaries, the number of all and, if there is a filter, the position of the last.
 */
export function rowsJsonSql(query: ListSelection, subquery: string): string {
  const { list, table, figure, filters } = query;
  const rows = `json_group_array(json_object(
    'id', id,
    'figure', ${figure},
    'summary', ${fieldsJsonSql(list.summary)}
  ))`;
  const last = (column: string) => `json_extract(json_group_array(${column}), '$[#-1]')`;
  const members =
    filters.length > 0
      ? `'matches', ${rows} FILTER (WHERE ${matchSql(query)}),
      'last', json_object('id', ${last("id")}, 'figure', ${last(figure)})`
      : `'matches', ${rows}`;
  return `
    SELECT json_object(${members}, 'count', count(*))
    FROM (${subquery}) AS page
    CROSS JOIN ${table} AS entity ON entity.key = page.key`;
}

/** Whether a row matches all filters, as SQL. */
function matchSql({ filters }: ListSelection): string {
  const conditions = filters.map(({ isMatchSql }, index) => isMatchSql(`?${4 + index}`));
  return conditions.join(" AND ") || "true";
}
