/**
 * Reads the rows of a page of a list, sorted by a figure.
 *
 * The SQL restates order and selection of core/lists.ts; `tests/store/reads/entity-lists.test.ts`
 * compares both. A page is at most three scans of the index of its figure: the rest of the entities
 * with the same figure as the last one, those with the next figures, and those without one. With a
 * filter, the entities that match it are found by an index and sorted if they are few, else the list
 * is scanned; both in steps, between which the process serves other requests.
 */
import type { TSchema } from "@sinclair/typebox";
import {
  compareListPositions,
  SEARCH_SUBSTRING_MIN_CHARACTERS,
  type ListPosition,
  type ListRequest,
} from "../../../core/lists.ts";
import type { Database } from "../database/database.ts";
import { yieldToEventLoop } from "../database/paged-scan.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { toColumnName } from "../tables/entity-tables.ts";

/** Entities that one step of a filter reads: about a millisecond. */
const STEP_ENTITIES = 500;

/** If more entities match a filter, a scan of the list finds a page of them faster. */
const MATCHES_MAX = 5000;

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

/** A row of a page. */
export interface ListRow<Summary> extends ListPosition {
  readonly summary: Summary;
}

/** A row of the list; without a summary if it does not match the filter. */
interface ScannedRow<Summary> extends ListPosition {
  readonly summary: Summary | null;
}

/** Reads the rows of a page, and one more if there is a next page. */
export function readListRows<Sort extends string, Summary>(
  database: Database,
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
): Promise<ListRow<Summary>[]> {
  const read = isFiltered(request) ? readFilteredRows : scanList;
  return read(database, list, request);
}

/** The direction of a list as SQL. */
function orderSql<Sort extends string>(
  { fields }: SortableList<Sort>,
  { sort, order }: ListRequest<Sort>,
) {
  const figure = toColumnName(fields[sort]);
  return order === "desc"
    ? { figure, next: "<", nextId: ">", orderBy: `${figure} DESC NULLS LAST, id ASC` }
    : { figure, next: ">", nextId: "<", orderBy: `${figure} ASC NULLS LAST, id DESC` };
}

/** The JSON array of the rows that a subquery selects. */
function rowsJsonSql<Sort extends string>(
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
  subquery: string,
): string {
  return `
    SELECT json_group_array(json_object(
      'id', id,
      'figure', ${orderSql(list, request).figure},
      'summary', iif(${matchSql(list, request)}, ${fieldsJsonSql(list.summary)}, NULL)
    ))
    FROM (${subquery})`;
}

/**
 * Returns the conditions of the scans that a page needs, in order; each is needed only if the ones
 * before it don't fill the page. ?1 is the figure of the last entity of the page before, ?2 its
 * identifier.
 */
function listScanConditions<Sort extends string>(
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
  after: ListPosition | undefined,
): string[] {
  const { figure, next, nextId } = orderSql(list, request);
  const unknown = `${figure} IS NULL`;
  if (after === undefined) return [`${figure} IS NOT NULL`, unknown];
  if (after.figure === null) return [`${unknown} AND id ${nextId} ?2`];
  return [`${figure} = ?1 AND id ${nextId} ?2`, `${figure} ${next} ?1`, unknown];
}

/**
 * Reads the next entities in the order of the list, whether they match the filter or not.
 *
 * @param after The last entity before them.
 */
async function readNextRows<Sort extends string, Summary>(
  database: Database,
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
  after: ListPosition | undefined,
  count: number,
): Promise<ScannedRow<Summary>[]> {
  const { orderBy } = orderSql(list, request);
  const rows: ScannedRow<Summary>[] = [];
  for (const condition of listScanConditions(list, request, after)) {
    const sql = rowsJsonSql(
      list,
      request,
      `
      SELECT *
      FROM ${list.table}
      WHERE ${condition} AND ${list.isListed}
      ORDER BY ${orderBy}
      LIMIT ?5`,
    );
    const args = listScanArguments(request, after, count - rows.length);
    rows.push(...((await database.queryJson<ScannedRow<Summary>[]>(sql, args)) ?? []));
    if (rows.length === count) break;
  }
  return rows;
}

/** Reads a page in the order of the list; with a filter in steps. */
async function scanList<Sort extends string, Summary>(
  database: Database,
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
): Promise<ListRow<Summary>[]> {
  const { limit } = request;
  const stepRows = isFiltered(request) ? STEP_ENTITIES : limit + 1;
  const found: ListRow<Summary>[] = [];
  const foundIds = new Set<string>();
  let { after }: { readonly after?: ListPosition | undefined } = request;
  for (;;) {
    const rows = await readNextRows<Sort, Summary>(database, list, request, after, stepRows);
    // An entity whose figure fell meanwhile comes again.
    found.push(...rows.filter(isMatch).filter(({ id }) => !foundIds.has(id)));
    for (const { id } of rows) foundIds.add(id);
    if (rows.length < stepRows || found.length > limit) return found;
    after = rows.at(-1);
    await yieldToEventLoop();
  }
}

function isMatch<Summary>(row: ScannedRow<Summary>): row is ListRow<Summary> {
  return row.summary !== null;
}

/**
 * Reads a page of the entities that match a filter: all of them if they are few, else by a scan of
 * the list, which then finds them soon.
 */
async function readFilteredRows<Sort extends string, Summary>(
  database: Database,
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
): Promise<ListRow<Summary>[]> {
  const { limit, after, order } = request;
  const candidates = await readMatchingKeys(database, list, request);
  if (candidates.length > MATCHES_MAX) {
    return scanList(database, list, request);
  }
  const isAfter = listScanConditions(list, request, after).map((condition) => `(${condition})`);
  const sql = rowsJsonSql(
    list,
    request,
    `
    SELECT *
    FROM ${list.table}
    WHERE key IN (SELECT value FROM json_each(?6))
      AND ${list.isListed}
      AND (${isAfter.join(" OR ")})
      AND ${matchSql(list, request)}
    ORDER BY ${orderSql(list, request).orderBy}
    LIMIT ?5`,
  );
  let found: ListRow<Summary>[] = [];
  for (let from = 0; from < candidates.length; from += STEP_ENTITIES) {
    const keys = JSON.stringify(candidates.slice(from, from + STEP_ENTITIES));
    const args = [...listScanArguments(request, after, limit + 1), keys];
    const rows = (await database.queryJson<ScannedRow<Summary>[]>(sql, args)) ?? [];
    found = [...found, ...rows.filter(isMatch)]
      .toSorted((a, b) => compareListPositions(a, b, order))
      .slice(0, limit + 1);
    await yieldToEventLoop();
  }
  return found;
}

function isFiltered({ country, search }: ListRequest<string>): boolean {
  return country !== undefined || search !== undefined;
}

/** The arguments ?1 to ?5 of a scan: the position, the search, the country and the limit. */
function listScanArguments(
  { search = "", country = "" }: ListRequest<string>,
  after: ListPosition | undefined,
  count: number,
): (string | number)[] {
  return [after?.figure ?? 0, after?.id ?? "", search, country, count];
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

/** Reads the keys of the first entities that match a search, or a country if there is no search. */
async function readMatchingKeys<Sort extends string>(
  database: Database,
  { table, namesTable, usernameColumn }: SortableList<Sort>,
  { search, country = "" }: ListRequest<Sort>,
): Promise<number[]> {
  let condition = `${usernameColumn} >= ?1 AND ${usernameColumn} < ?1 || char(1114111)`;
  let from = table as string;
  let key = "key";
  let filter = search ?? country;
  if (search === undefined) condition = "lower(country) = ?1";
  else if (isSubstring(search)) {
    from = namesTable;
    key = "rowid";
    condition = `${namesTable} MATCH ?1`;
    // FTS5 finds a quoted phrase as it is.
    filter = `"${search.replaceAll('"', '""')}"`;
  }
  const sql = `
    SELECT json_group_array(key)
    FROM (
      SELECT ${key} AS key
      FROM ${from}
      WHERE ${condition}
      LIMIT ?2
    )`;
  return (await database.queryJson<number[]>(sql, [filter, MATCHES_MAX + 1])) ?? [];
}
