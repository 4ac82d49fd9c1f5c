/**
 * Reads pages of the lists of channels and users, sorted by a figure.
 *
 * The SQL restates order and selection of core/lists.ts; `tests/store/reads/entity-lists.test.ts`
 * compares both. A page is at most three scans of the index of its figure: the rest of the entities
 * with the same figure as the last one, those with the next figures, and those without one. With a
 * filter, all entities that match it are read in steps, between which the process serves other
 * requests, and the first of them in the order of the list are the page.
 */
import type { TSchema } from "@sinclair/typebox";
import {
  compareListPositions,
  encodeListCursor,
  SEARCH_SUBSTRING_CHARACTERS,
  type ChannelSort,
  type ListPosition,
  type ListRequest,
  type UserSort,
} from "../../../core/lists.ts";
import { UserSummary, type ListedUser } from "../../../core/schema/microblog.ts";
import { ChannelSummary, type ListedChannel } from "../../../core/schema/video.ts";
import type { MicroblogReads, VideoReads } from "../../ports/reads.ts";
import type { Database } from "../database/database.ts";
import { yieldToEventLoop } from "../database/paged-scan.ts";
import { CHANNELS_TAG, USERS_TAG } from "../history/change-log.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { toColumnName } from "../tables/entity-tables.ts";

/** Entities that one step of a filter reads: about a millisecond. */
const STEP_ENTITIES = 500;

/** A list that can be sorted. */
interface SortableList<Sort extends string> {
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

const GAIN_FIELDS = {
  dailyGain: "dailyGain",
  weeklyGain: "weeklyGain",
  monthlyGain: "monthlyGain",
} as const;

const CHANNEL_LIST: SortableList<ChannelSort> = {
  table: "channels",
  namesTable: "channel_names",
  usernameColumn: "username_folded",
  isListed: "observed_at IS NOT NULL",
  summary: ChannelSummary,
  fields: {
    subscribers: "subscribers",
    views: "viewCount",
    videos: "videoCount",
    ...GAIN_FIELDS,
    dailyViews: "dailyViews",
    weeklyViews: "weeklyViews",
    monthlyViews: "monthlyViews",
  },
};

const USER_LIST: SortableList<UserSort> = {
  table: "users",
  namesTable: "user_names",
  usernameColumn: "id",
  isListed: "username IS NOT NULL",
  summary: UserSummary,
  fields: { followers: "followers_count", ...GAIN_FIELDS },
};

export function createChannelPageRead(database: Database): VideoReads["channelPage"] {
  return async (request) => {
    const { entities, pagination } = await readPage<ChannelSort, ListedChannel>(
      database,
      CHANNEL_LIST,
      request,
    );
    return { body: { channels: entities, pagination }, tags: [CHANNELS_TAG] };
  };
}

export function createUserPageRead(database: Database): MicroblogReads["userPage"] {
  return async (request) => {
    const { entities, pagination } = await readPage<UserSort, ListedUser>(
      database,
      USER_LIST,
      request,
    );
    const users = entities.map((user) =>
      // SQLite stores booleans as 0 and 1.
      Object.assign(user, { verified: user.verified === null ? null : Boolean(user.verified) }),
    );
    return { body: { users, pagination }, tags: [USERS_TAG] };
  };
}

/** A row of a page. */
interface ListRow<Summary> extends ListPosition {
  readonly summary: Summary;
}

async function readPage<Sort extends string, Summary>(
  database: Database,
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
) {
  const { sort, order, limit, country, search } = request;
  const isFiltered = country !== undefined || search !== undefined;
  const read = isFiltered ? readFilteredRows : readSortedRows;
  const rows = await read<Sort, Summary>(database, list, request);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  const nextCursor = hasMore && last !== undefined ? encodeListCursor(last, sort, order) : null;
  const field = list.fields[sort];
  const entities = page.map(({ figure, summary }) =>
    Object.assign(summary as Summary & object, { [field]: figure }),
  );
  return { entities, pagination: { hasMore, nextCursor } };
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
  return `(
    SELECT json_group_array(json_object(
      'id', id,
      'figure', ${orderSql(list, request).figure},
      'summary', ${fieldsJsonSql(list.summary)}
    ))
    FROM (${subquery})
  )`;
}

/**
 * Returns the conditions of the scans that a page needs, in order; each is needed only if the ones
 * before it don't fill the page. ?1 is the figure of the last entity of the page before, ?2 its
 * identifier.
 */
function listScanConditions<Sort extends string>(
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
): string[] {
  const { figure, next, nextId } = orderSql(list, request);
  const unknown = `${figure} IS NULL`;
  const { after } = request;
  if (after === undefined) return [`${figure} IS NOT NULL`, unknown];
  if (after.figure === null) return [`${unknown} AND id ${nextId} ?2`];
  return [`${figure} = ?1 AND id ${nextId} ?2`, `${figure} ${next} ?1`, unknown];
}

async function readSortedRows<Sort extends string, Summary>(
  database: Database,
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
): Promise<ListRow<Summary>[]> {
  const { limit, after } = request;
  const { orderBy } = orderSql(list, request);
  const rows: ListRow<Summary>[] = [];
  for (const condition of listScanConditions(list, request)) {
    const subquery = `
      SELECT *
      FROM ${list.table}
      WHERE ${condition} AND ${list.isListed}
      ORDER BY ${orderBy}
      LIMIT ?3`;
    const sql = `SELECT ${rowsJsonSql(list, request, subquery)}`;
    const args = [after?.figure ?? 0, after?.id ?? "", limit + 1 - rows.length];
    rows.push(...((await database.queryJson<ListRow<Summary>[]>(sql, args)) ?? []));
    if (rows.length > limit) break;
  }
  return rows;
}

/** What a step of a filter read. */
interface FilterStep<Summary> {
  readonly size: number;
  readonly lastKey: number;
  readonly rows: readonly ListRow<Summary>[];
}

async function readFilteredRows<Sort extends string, Summary>(
  database: Database,
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
): Promise<ListRow<Summary>[]> {
  const { limit, after, order, country, search } = request;
  const sql = selectStepSql(list, request);
  const filters = [
    ...(search === undefined ? [] : [isSubstring(search) ? quotePhrase(search) : search]),
    ...(country === undefined ? [] : [country]),
  ];
  let rows: ListRow<Summary>[] = [];
  let lastKey = 0;
  for (;;) {
    const args = [after?.figure ?? 0, after?.id ?? "", limit + 1, lastKey, ...filters];
    const step = await database.queryJson<FilterStep<Summary>>(sql, args);
    rows = [...rows, ...(step?.rows ?? [])]
      .toSorted((a, b) => compareListPositions(a, b, order))
      .slice(0, limit + 1);
    if (step === undefined || step.size < STEP_ENTITIES) return rows;
    lastKey = step.lastKey;
    await yieldToEventLoop();
  }
}

function isSubstring(search: string): boolean {
  return Array.from(search).length >= SEARCH_SUBSTRING_CHARACTERS;
}

/** Quotes a text, so that FTS5 finds it as it is. */
function quotePhrase(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Argument ?4 is the last key of the step before; then come what is searched and the country. */
function selectStepSql<Sort extends string>(
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
): string {
  const { table } = list;
  const { country, search, after } = request;
  const hasBoth = country !== undefined && search !== undefined;
  const position = listScanConditions(list, request).map((condition) => `(${condition})`);
  const subquery = `
        SELECT ${table}.*
        FROM candidates
        JOIN ${table} ON ${table}.key = candidates.key
        WHERE ${list.isListed}
          AND (${after === undefined ? "true" : position.join(" OR ")})
          ${hasBoth ? "AND lower(country) = ?6" : ""}
        ORDER BY ${orderSql(list, request).orderBy}
        LIMIT ?3`;
  return `
    WITH candidates(key) AS MATERIALIZED (${selectCandidatesSql(list, request)})
    SELECT json_object(
      'size', (SELECT count(*) FROM candidates),
      'lastKey', (SELECT max(key) FROM candidates),
      'rows', ${rowsJsonSql(list, request, subquery)}
    )`;
}

/** Selects the next keys that match a filter: by the names if there is a search. */
function selectCandidatesSql<Sort extends string>(
  { table, namesTable, usernameColumn }: SortableList<Sort>,
  { search }: ListRequest<Sort>,
): string {
  const limit = `LIMIT ${STEP_ENTITIES}`;
  if (search === undefined) {
    return `SELECT key FROM ${table} WHERE lower(country) = ?5 AND key > ?4 ORDER BY key ${limit}`;
  }
  if (!isSubstring(search)) {
    return `
      SELECT key
      FROM ${table}
      WHERE ${usernameColumn} >= ?5 AND ${usernameColumn} < ?5 || char(1114111) AND key > ?4
      ORDER BY key
      ${limit}`;
  }
  return `
      SELECT rowid
      FROM ${namesTable}
      WHERE ${namesTable} MATCH ?5 AND rowid > ?4
      ORDER BY rowid
      ${limit}`;
}
