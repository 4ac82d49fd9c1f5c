/**
 * The filters of lists in SQL, equivalent to `matchesListFilters()` of core. A filter with an index
 * finds the entities that match without a scan of the list.
 */
import { SEARCH_SUBSTRING_MIN_CHARACTERS, type ListRequest } from "../../../core/lists.ts";

/** Where filters find the entities of a list. */
export interface FilteredTable {
  readonly table: "channels" | "users";
  /** The table of the names, for searches; its rows have the keys of the entities. */
  readonly namesTable: string;
  /** The column of the username in lower case. */
  readonly usernameColumn: string;
}

/** A filter of a request. */
export interface ListFilter {
  /** The value of the filter in the request. */
  readonly value: string | number;
  /** Returns the condition for rows that match. @param value The value, as SQL. */
  readonly isMatchSql: (value: string) => string;
  /** How an index finds the rows that match. Without an index, the list is scanned. */
  readonly index?: KeySearch;
}

/** A statement that finds the keys of at most `?2` rows. */
interface KeySearch {
  readonly sql: string;
  /** The argument `?1`. */
  readonly text: string;
}

/** The fields of a request that are filters. */
type FilterName = Exclude<keyof ListRequest, "kind" | "sort" | "order" | "limit" | "after">;

/** Creates a filter, if the request has it. */
type CreateFilter = (list: FilteredTable, request: ListRequest) => ListFilter | undefined;

/** How each filter is applied: the types require an entry for every filter of a request. */
const FILTERS: Readonly<Record<FilterName, CreateFilter>> = {
  country({ table }, { country }) {
    if (country === undefined) return undefined;
    const isMatchSql = (value: string) => `lower(country) = ${value}`;
    const condition = isMatchSql("?1");
    return {
      value: country,
      isMatchSql,
      index: { sql: selectKeysSql({ from: table, key: "key", condition }), text: country },
    };
  },

  search(list, { search }) {
    if (search === undefined) return undefined;
    const isShort = Array.from(search).length < SEARCH_SUBSTRING_MIN_CHARACTERS;
    return isShort ? createBeginningFilter(list, search) : createSubstringFilter(list, search);
  },
};

/** Lists the filters of a request. */
export function listFilters(list: FilteredTable, request: ListRequest): ListFilter[] {
  return Object.values(FILTERS).flatMap((createFilter) => createFilter(list, request) ?? []);
}

function createBeginningFilter({ table, usernameColumn }: FilteredTable, search: string) {
  const condition = `${usernameColumn} >= ?1 AND ${usernameColumn} < ?1 || char(1114111)`;
  return {
    value: search,
    isMatchSql: (value: string) => `substr(${usernameColumn}, 1, length(${value})) = ${value}`,
    index: { sql: selectKeysSql({ from: table, key: "key", condition }), text: search },
  };
}

function createSubstringFilter({ namesTable, usernameColumn }: FilteredTable, search: string) {
  const condition = `${namesTable} MATCH ?1`;
  return {
    value: search,
    isMatchSql: (value: string) =>
      `(instr(${usernameColumn}, ${value}) > 0 OR instr(display_name_folded, ${value}) > 0)`,
    index: {
      sql: selectKeysSql({ from: namesTable, key: "rowid", condition }),
      // FTS5 finds a quoted phrase as it is.
      text: `"${search.replaceAll('"', '""')}"`,
    },
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
