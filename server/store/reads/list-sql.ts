/**
 * The SQL of lists that are sorted by a figure. Their order and filters restate
 * `compareListPositions()` and `matchesListFilters()` of core, so that a page reads no whole list;
 * `tests/store/reads/entity-lists.test.ts` compares both.
 *
 * The arguments of statements that select a page are the position ?1 and ?2, the limit ?3, and the
 * filters' values.
 */
import {
  SEARCH_SUBSTRING_MIN_CHARACTERS,
  type ListFilters,
  type ListPosition,
  type ListRequest,
} from "../../../core/lists.ts";
import { fieldsJsonSql, KIND_TABLES } from "../tables/entity-sql.ts";
import { OWNER_LISTS, toColumnName } from "../tables/entity-tables.ts";

interface ListSelection {
  readonly table: string;
  /** Which rows of the table are listed, as SQL. */
  readonly isListed: string;
  /** The column that the list is sorted by. */
  readonly figure: string;
  readonly order: ListRequest["order"];
  readonly filters: readonly ListFilter[];
}

/** Creates the statements that read the list of a request; each returns the JSON of its rows. */
export function createListStatements(
  request: ListRequest,
  sortField: string,
  summary: { readonly properties: object },
) {
  const { kind, order } = request;
  const filters = Object.values(FILTERS).flatMap((createFilter) => createFilter(request) ?? []);
  const table = KIND_TABLES[kind].entityTable;
  const { isListed } = OWNER_LISTS[kind];
  const selection = { table, isListed, figure: toColumnName(sortField), order, filters };
  const values = filters.map(({ value }) => value);
  const createStatement = (keysSql: string, after: ListPosition | undefined, limit: number) => ({
    sql: rowsJsonSql(selection, fieldsJsonSql(summary), keysSql),
    args: [after?.figure ?? 0, after?.id ?? "", limit, ...values],
  });
  return {
    isFiltered: filters.length > 0,

    /** Whether a scan compares what the indexes of the list contain, and looks up no rows. */
    isCovered: filters.every(({ isCovered }) => isCovered),

    hasOneFilter: filters.length === 1,

    /** Estimates the entities of the list: rows are not deleted. */
    countSql: `SELECT json_quote(ifnull(max(key), 0)) FROM ${table}`,

    /** Finds the keys of at most `limit` entities that match, for each filter with an index. */
    searches: (limit: number) =>
      filters.flatMap(({ index }) =>
        index === undefined ? [] : [{ sql: index.sql, args: [index.text, limit] }],
      ),

    selectNext: (after: ListPosition | undefined, limit: number) =>
      createStatement(selectNextSql(selection, after), after, limit),

    /** Selects the positions and keys of the next of the entities with a key of a JSON array. */
    selectPositions(after: ListPosition | undefined, limit: number, keys: string) {
      const sql = positionsJsonSql(selectMatchingSql(selection, after));
      return { sql, args: [after?.figure ?? 0, after?.id ?? "", limit, ...values, keys] };
    },

    /** Selects the next of the entities with a key of a JSON array. */
    selectMatching(after: ListPosition | undefined, limit: number, keys: string) {
      const { sql, args } = createStatement(selectMatchingSql(selection, after), after, limit);
      return { sql, args: [...args, keys] };
    },
  };
}

interface ListFilter {
  readonly value: string | number;
  /** Whether it compares what the indexes of the list contain. */
  readonly isCovered: boolean;
  readonly isMatchSql: (value: string) => string;
  /** Finds up to `?2` keys by an index; `?1` is `text`. Without an index, the list is scanned. */
  readonly index?: { readonly sql: string; readonly text: string };
}

/** How each filter is applied: the types require an entry for every filter of a request. */
const FILTERS: Readonly<
  Record<keyof ListFilters, (request: ListRequest) => ListFilter | undefined>
> = {
  country({ kind, country }) {
    if (country === undefined) return undefined;
    const isMatchSql = (value: string) => `lower(country) = ${value}`;
    const sql = selectKeysSql(KIND_TABLES[kind].entityTable, isMatchSql("?1"));
    return { value: country, isCovered: true, isMatchSql, index: { sql, text: country } };
  },

  search({ kind, search }) {
    if (search === undefined) return undefined;
    const { usernameColumn: username, usernamePrefix } = OWNER_LISTS[kind];
    if (Array.from(search).length < SEARCH_SUBSTRING_MIN_CHARACTERS) {
      const isInRange = `${username} >= ?1 AND ${username} < ?1 || char(1114111)`;
      const sql = selectKeysSql(KIND_TABLES[kind].entityTable, isInRange);
      return {
        value: search,
        isCovered: true,
        isMatchSql: (value) => `substr(${usernamePrefix}, 1, length(${value})) = ${value}`,
        index: { sql, text: search },
      };
    }
    const namesTable = `${kind}_names`;
    return {
      value: search,
      isCovered: false,
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

/**
 * Selects the next ?3 entities in the order of the list: their positions and, of those that match,
 * the keys. Each part is a search of the index of the figure, and runs only if those before it don't
 * give enough.
 */
function selectNextSql(query: ListSelection, after: ListPosition | undefined): string {
  const { figure } = query;
  const select = (condition: string, orderBy: string) => selectSql(query, condition, orderBy);
  if (after?.figure === null) return select(`${figure} IS NULL AND id > ?2`, "id");
  const unknown = select(`${figure} IS NULL`, "id");
  const isAscending = query.order === "asc";
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
  ${parts.map((part) => `SELECT * FROM (${part})`).join("\n  UNION ALL\n  ")}
  LIMIT ?3`;

function selectSql(query: ListSelection, condition: string, orderBy: string): string {
  const { table, isListed, figure } = query;
  return `
  SELECT
    iif(${matchSql(query)}, key, NULL) AS matching_key,
    id AS listed_id,
    ${figure} AS listed_figure
  FROM ${table}
  WHERE ${condition} AND ${isListed}
  ORDER BY ${orderBy}
  LIMIT ?3`;
}

/**
 * Selects keys by ascending figure, then by ascending identifier. The index is by descending
 * figure: read backwards, it has the identifiers of one figure in descending order. Any number of
 * entities can share the last figure of a page: they are read by a search of their own, and fewer
 * than ?3 others are sorted.
 */
function selectAscendingSql(query: ListSelection, condition: string) {
  const { figure, isListed, table } = query;
  const last = `(
    SELECT ${figure}
    FROM ${table}
    WHERE ${condition} AND ${isListed}
    ORDER BY ${figure}
    LIMIT 1 OFFSET ?3 - 1
  )`;
  return concatSql([
    selectSql(query, `${condition} AND ${figure} < ifnull(${last}, 9e999)`, `${figure}, id`),
    selectSql(query, `${figure} = ${last}`, "id"),
  ]);
}

/** Selects keys of a JSON array, its last argument, whose entities match and come next. */
function selectMatchingSql(query: ListSelection, after: ListPosition | undefined): string {
  const { order, figure, filters } = query;
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
 * Reads the selected entities, as JSON: those that match the filters with their summaries, the
 * number of all and, if there is a filter, the position of the last.
 */
function rowsJsonSql(query: ListSelection, summaryJson: string, selectedSql: string): string {
  const { table, figure, filters } = query;
  const last = (column: string) => `json_extract(json_group_array(${column}), '$[#-1]')`;
  const lastMember =
    filters.length > 0
      ? `'last', json_object('id', ${last("listed_id")}, 'figure', ${last("listed_figure")}),`
      : "";
  return `
    SELECT json_object(
      'matches', json_group_array(json_object(
        'id', id,
        'figure', ${figure},
        'summary', ${summaryJson}
      )) FILTER (WHERE matching_key IS NOT NULL),
      ${lastMember}
      'count', count(*)
    )
    FROM (${selectedSql}) AS selected
    LEFT JOIN ${table} AS entity ON entity.key = matching_key`;
}

const positionsJsonSql = (selectedSql: string) => `
  SELECT json_group_array(
    json_object('key', matching_key, 'id', listed_id, 'figure', listed_figure)
  )
  FROM (${selectedSql})`;

function matchSql({ filters }: ListSelection): string {
  const conditions = filters.map(({ isMatchSql }, index) => isMatchSql(`?${4 + index}`));
  return conditions.join(" AND ") || "true";
}
