/**
 * The SQL of lists that are sorted by a figure: their order, positions and filters. It restates
 * core/lists.ts and core/list-pages.ts; `tests/store/reads/entity-lists.test.ts` compares both.
 *
 * The arguments of all statements are those of {@link listArguments}.
 */
import type { TSchema } from "@sinclair/typebox";
import {
  SEARCH_SUBSTRING_MIN_CHARACTERS,
  type ListPosition,
  type ListRequest,
} from "../../../core/lists.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { toColumnName } from "../tables/entity-tables.ts";

/** A list that can be sorted. */
export interface SortableList<Sort extends string> {
  readonly table: "channels" | "users";
  /** The table of the names, for searches; its rows have the keys of the entities. */
  readonly namesTable: string;
  /** The column of the username in lower case. */
  readonly usernameColumn: string;
  /** Which rows of the table are listed, as SQL. */
  readonly isListed: string;
  /** The fields of an entity in the list. */
  readonly summary: { readonly properties: Readonly<Record<string, TSchema>> };
  /** The field of the resource that each sort compares. */
  readonly fields: Readonly<Record<Sort, string>>;
}

/** A list, and what is read of it. */
export interface ListSelection<Sort extends string = string> {
  readonly list: SortableList<Sort>;
  readonly request: ListRequest<Sort>;
}

const figureOf = <Sort extends string>({ list, request }: ListSelection<Sort>) =>
  toColumnName(list.fields[request.sort]);

/** The arguments of a statement: the position ?1 and ?2, the search ?3, the country ?4, the limit ?5. */
export function listArguments(
  { search = "", country = "" }: ListRequest<string>,
  after: ListPosition | undefined,
  limit: number,
): (string | number)[] {
  return [after?.figure ?? 0, after?.id ?? "", search, country, limit];
}

/**
 * Selects the keys of the next ?5 entities in the order of the list. Each statement is a search of
 * the index of the figure, and is needed only if those before it don't give enough.
 *
 * @param after The entity before them.
 */
export function selectNextSql<Sort extends string>(
  query: ListSelection<Sort>,
  after: ListPosition | undefined,
): string[] {
  const figure = figureOf(query);
  const select = (condition: string, orderBy: string) => selectSql(query, condition, orderBy);
  if (after?.figure === null) return [select(`${figure} IS NULL AND id > ?2`, "id")];
  const unknown = select(`${figure} IS NULL`, "id");
  const isAscending = query.request.order === "asc";
  const isBehind =
    after === undefined ? `${figure} IS NOT NULL` : `${figure} ${isAscending ? ">" : "<"} ?1`;
  const others = isAscending
    ? selectAscendingSql(query, isBehind)
    : select(isBehind, `${figure} DESC, id`);
  if (after === undefined) return [others, unknown];
  return [select(`${figure} = ?1 AND id > ?2`, "id"), others, unknown];
}

const selectSql = <Sort extends string>(
  { list }: ListSelection<Sort>,
  condition: string,
  orderBy: string,
) => `
  SELECT key
  FROM ${list.table}
  WHERE ${condition} AND ${list.isListed}
  ORDER BY ${orderBy}
  LIMIT ?5`;

/**
 * Selects keys by ascending figure, then by ascending identifier. The index is by descending
 * figure, so the other way round the identifiers of one figure descend. Any number of entities can
 * share the last figure of a page: they are read by a search of their own, and fewer than ?5 others
 * are sorted.
 */
function selectAscendingSql<Sort extends string>(query: ListSelection<Sort>, condition: string) {
  const figure = figureOf(query);
  const { table, isListed } = query.list;
  const last = `(
    SELECT ${figure}
    FROM ${table}
    WHERE ${condition} AND ${isListed}
    ORDER BY ${figure}
    LIMIT 1 OFFSET ?5 - 1
  )`;
  return `
    SELECT key
    FROM (${selectSql(query, `${condition} AND ${figure} < ifnull(${last}, 9e999)`, `${figure}, id`)})
    UNION ALL
    SELECT key
    FROM (${selectSql(query, `${figure} = ${last}`, "id")})
    LIMIT ?5`;
}

/** Selects those keys of the JSON array ?6 whose entities match and come next. */
export function selectMatchingSql<Sort extends string>(
  query: ListSelection<Sort>,
  after: ListPosition | undefined,
): string {
  const { list, request } = query;
  const figure = figureOf(query);
  const next = request.order === "desc" ? "<" : ">";
  const isAfter = [
    ...(after?.figure === null ? [] : [`${figure} ${next} ?1`, `${figure} IS NULL`]),
    `${figure} IS ${after?.figure === null ? "NULL" : "?1"} AND id > ?2`,
  ].join(" OR ");
  return selectSql(
    query,
    `key IN (SELECT value FROM json_each(?6))
      AND (${after === undefined ? "true" : isAfter})
      AND ${matchSql(list, request)}`,
    `${figure} ${request.order} NULLS LAST, id`,
  );
}

/**
 * Reads the entities whose keys a subquery selects, as JSON: those that match the filter with their
 * summaries, the number of all and, if there is a filter, the position of the last.
 */
export function rowsJsonSql<Sort extends string>(
  query: ListSelection<Sort>,
  subquery: string,
): string {
  const figure = figureOf(query);
  const { list, request } = query;
  const rows = `json_group_array(json_object(
    'id', id,
    'figure', ${figure},
    'summary', ${fieldsJsonSql(list.summary)}
  ))`;
  const last = (column: string) => `json_extract(json_group_array(${column}), '$[#-1]')`;
  const members = isFiltered(request)
    ? `'matches', ${rows} FILTER (WHERE ${matchSql(list, request)}),
      'last', json_object('id', ${last("id")}, 'figure', ${last(figure)})`
    : `'matches', ${rows}`;
  return `
    SELECT json_object(${members}, 'count', count(*))
    FROM (${subquery}) AS page
    CROSS JOIN ${list.table} AS entity ON entity.key = page.key`;
}

/** Whether a list has a filter. */
export function isFiltered({ country, search }: ListRequest<string>): boolean {
  return country !== undefined || search !== undefined;
}

/** Whether a row matches the filter, as SQL. */
function matchSql<Sort extends string>(
  { usernameColumn }: SortableList<Sort>,
  { country, search }: ListRequest<Sort>,
): string {
  const conditions: string[] = [];
  if (country !== undefined) conditions.push("lower(country) = ?4");
  if (search !== undefined) {
    conditions.push(
      isSubstring(search)
        ? `(instr(${usernameColumn}, ?3) > 0 OR instr(display_name_folded, ?3) > 0)`
        : `substr(${usernameColumn}, 1, length(?3)) = ?3`,
    );
  }
  return conditions.length === 0 ? "true" : conditions.join(" AND ");
}

function isSubstring(search: string): boolean {
  return Array.from(search).length >= SEARCH_SUBSTRING_MIN_CHARACTERS;
}

/** Selects the keys of ?2 entities whose country is ?1. */
export const selectCountryKeysSql = (table: string) =>
  selectKeysSql({ from: table, key: "key", condition: "lower(country) = ?1" });

/**
 * Selects the keys of ?2 entities whose name has a text.
 *
 * @returns The statement, and its argument ?1.
 */
export function selectSearchKeysSql<Sort extends string>(
  { table, namesTable, usernameColumn }: SortableList<Sort>,
  search: string,
) {
  if (!isSubstring(search)) {
    const condition = `${usernameColumn} >= ?1 AND ${usernameColumn} < ?1 || char(1114111)`;
    return { sql: selectKeysSql({ from: table, key: "key", condition }), text: search };
  }
  const condition = `${namesTable} MATCH ?1`;
  return {
    sql: selectKeysSql({ from: namesTable, key: "rowid", condition }),
    // FTS5 finds a quoted phrase as it is.
    text: `"${search.replaceAll('"', '""')}"`,
  };
}

const selectKeysSql = ({
  from,
  key,
  condition,
}: Readonly<Record<"from" | "key" | "condition", string>>) => `
  SELECT json_group_array(key)
  FROM (
    SELECT ${key} AS key
    FROM ${from}
    WHERE ${condition}
    LIMIT ?2
  )`;
