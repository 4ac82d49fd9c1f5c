/** The filters of lists as SQL. They restate `matchesListFilters()` of core. */
import type { ItemKind, OwnerKind } from "../../../../core/kinds.ts";
import { type ListRequest } from "../../../../core/lists.ts";
import {
  SEARCH_SUBSTRING_MIN_CHARACTERS,
  type ListFilters,
} from "../../../../core/list-filters.ts";
import { KIND_TABLES } from "../../tables/entity-sql.ts";
import { OWNER_LISTS } from "../../tables/entity-tables.ts";

export interface ListFilter {
  readonly values: readonly (string | number)[];
  /** Whether it compares what the indexes of the list contain. */
  readonly isCovered: boolean;
  readonly matchSql: (...values: readonly string[]) => string;
  /** The column that it compares with its value: a list by this column is read between bounds. */
  readonly bound?: { readonly column: string; readonly edge: "min" | "max" };
}

/** A search by an index for keys of entities that match a filter. */
export interface KeySearch {
  /** `?1` is the most keys, and the arguments follow. */
  readonly sql: string;
  readonly args: readonly (string | number)[];
}

/** What a request filters, and the indexes that find matching entities. */
export interface FilterPlan {
  readonly filters: readonly ListFilter[];
  /** Without any, a list is scanned. */
  readonly searches: readonly KeySearch[];
}

/** The table of a list. */
export interface ListTable {
  readonly table: string;
  /** Which of its rows are listed, as SQL. */
  readonly isListed: string;
  /** The column that the list is sorted by. */
  readonly figure: string;
  /** Whether it is a table of figures, which has no attributes of entities. */
  readonly isFigures: boolean;
}

const createSearch = (
  table: string,
  condition: string,
  ...args: readonly (string | number)[]
): KeySearch => ({
  sql: `
    SELECT json_group_array(key)
    FROM (
      SELECT rowid AS key
      FROM ${table}
      WHERE ${condition}
      LIMIT ?1
    )`,
  args,
});

/** Plans the filters of a list of channels or users. */
export function planOwnerFilters(
  kind: OwnerKind,
  { country, search, minSubscribers, minFollowers }: ListFilters,
  list: ListTable,
): FilterPlan {
  const parts = [
    ...(country === undefined ? [] : [planCountry(kind, country, list)]),
    ...(search === undefined ? [] : [planSearch(kind, search, list)]),
    ...planFloor(kind, "subscribers", minSubscribers, list),
    ...planFloor(kind, "followers_count", minFollowers, list),
  ];
  return {
    filters: parts.map(({ filter }) => filter),
    searches: parts.map((part) => part.search),
  };
}

interface PlannedFilter {
  readonly filter: ListFilter;
  readonly search: KeySearch;
}

function planCountry(kind: OwnerKind, country: string, list: ListTable): PlannedFilter {
  const matchSql = (value: string) => `lower(country) = ${value}`;
  return {
    filter: createEntityFilter(kind, list, { value: country, isCovered: true, matchSql }),
    search: createSearch(KIND_TABLES[kind].entityTable, matchSql("?2"), country),
  };
}

function planSearch(kind: OwnerKind, search: string, list: ListTable): PlannedFilter {
  const { usernameColumn: username, usernamePrefix } = OWNER_LISTS[kind];
  if (Array.from(search).length < SEARCH_SUBSTRING_MIN_CHARACTERS) {
    const isInRange = `${username} >= ?2 AND ${username} < ?2 || char(1114111)`;
    return {
      filter: createEntityFilter(kind, list, {
        value: search,
        isCovered: true,
        matchSql: (value) => `substr(${usernamePrefix}, 1, length(${value})) = ${value}`,
      }),
      search: createSearch(KIND_TABLES[kind].entityTable, isInRange, search),
    };
  }
  const namesTable = `${kind}_names`;
  return {
    filter: createEntityFilter(kind, list, {
      value: search,
      isCovered: false,
      matchSql: (value) =>
        `(instr(${username}, ${value}) > 0 OR instr(display_name_folded, ${value}) > 0)`,
    }),
    // FTS5 finds a quoted phrase as it is.
    search: createSearch(namesTable, `${namesTable} MATCH ?2`, `"${search.replaceAll('"', '""')}"`),
  };
}

/** Creates a filter of columns of the entity; a table of figures has none of them. */
function createEntityFilter(
  kind: OwnerKind,
  { table, isFigures }: ListTable,
  filter: {
    readonly value: string;
    readonly isCovered: boolean;
    readonly matchSql: (value: string) => string;
  },
): ListFilter {
  const { entityTable } = KIND_TABLES[kind];
  const isSame = `${entityTable}.key = ${table}.key`;
  return {
    values: [filter.value],
    isCovered: filter.isCovered && !isFigures,
    matchSql: (value = "") =>
      isFigures
        ? `(SELECT ${filter.matchSql(value)} FROM ${entityTable} WHERE ${isSame})`
        : filter.matchSql(value),
  };
}

/** Plans the least main count. Tables of figures have it as `size`. */
function planFloor(
  kind: OwnerKind,
  count: string,
  floor: number | undefined,
  { isFigures, figure }: ListTable,
): PlannedFilter[] {
  if (floor === undefined) return [];
  const column = isFigures ? "size" : count;
  const condition = `${count} >= ?2 AND ${OWNER_LISTS[kind].isListed}`;
  const filter: ListFilter = {
    values: [floor],
    isCovered: isFigures || figure === column,
    matchSql: (value) => `${column} >= ${value}`,
    bound: { column, edge: "min" },
  };
  return [{ filter, search: createSearch(KIND_TABLES[kind].entityTable, condition, floor) }];
}

/** A channel that was never observed has no name. A user is known by any tweet. */
const IS_OWNER_KNOWN: ListFilter = {
  values: [],
  isCovered: true,
  matchSql: () => `EXISTS (
    SELECT 1
    FROM channels
    WHERE channels.key = owner AND channels.observed_at IS NOT NULL
  )`,
};

/**
 * Plans the filters of a list of shorts or tweets.
 *
 * @param ownerKeys The keys of the owners whose items are listed; without it, of all.
 */
export function planItemFilters(
  kind: ItemKind,
  { from, to }: Pick<ListRequest, "from" | "to">,
  ownerKeys: readonly number[] | undefined,
): FilterPlan {
  const keys = ownerKeys && JSON.stringify(ownerKeys);
  const isOwnedSql = (column: string, value = "") =>
    `${column} IN (SELECT value FROM json_each(${value}))`;
  const filters: ListFilter[] = [
    ...(keys === undefined
      ? []
      : [
          {
            values: [keys],
            isCovered: true,
            matchSql: (value?: string) => isOwnedSql("owner", value),
          },
        ]),
    ...planPublished(from, "min"),
    ...planPublished(to, "max"),
    ...(kind === "short" ? [IS_OWNER_KNOWN] : []),
  ];
  const { entityTable, owner, publishedColumn } = KIND_TABLES[kind];
  const range = [from ?? -Infinity, to ?? Infinity].map((at) =>
    Math.min(Math.max(at, -9e15), 9e15),
  );
  const isInRange = (column: string) => `${column} >= ?2 AND ${column} < ?3`;
  const isOwned = `${isOwnedSql(owner.keyColumn, "?4")} AND ${isInRange(publishedColumn)}`;
  return {
    filters,
    searches:
      keys === undefined
        ? from === undefined && to === undefined
          ? []
          : [createSearch(`${kind}_figures`, isInRange("published_at"), ...range)]
        : [createSearch(entityTable, isOwned, ...range, keys)],
  };
}

const planPublished = (at: number | undefined, edge: "min" | "max"): ListFilter[] =>
  at === undefined
    ? []
    : [
        {
          values: [at],
          isCovered: true,
          matchSql: (value) => `published_at ${edge === "min" ? ">=" : "<"} ${value}`,
          bound: { column: "published_at", edge },
        },
      ];
