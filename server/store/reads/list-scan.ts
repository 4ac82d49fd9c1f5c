/**
 * Reads the rows of a page of a list, sorted by a figure.
 *
 * Without a filter, a page is at most three searches of the index of its figure. With a filter, the
 * entities that match it are found by an index and sorted if they are few, else the list is scanned,
 * up to a number of entities: a scan that ends early continues with the next page. Both go in steps,
 * between which the process serves other requests.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import pLimit from "p-limit";
import { DomainError } from "../../../core/errors.ts";
import { FILTERED_PAGE_MAX_ENTITIES } from "../../../core/limits.ts";
import { compareListPositions, type ListPosition } from "../../../core/lists.ts";
import type { Database } from "../database/database.ts";
import {
  listArguments,
  rowsJsonSql,
  selectMatchingSql,
  selectNextSql,
  type ListSelection,
} from "./list-sql.ts";

/** Entities that one step of a filter reads: less than a millisecond. */
const STEP_ENTITIES = 200;

/** If more entities match a filter, a scan of the list finds a page of them faster. */
const MATCHES_MAX = 5000;

/** Filtered pages that are read at once in this process. Other reads go on beside them. */
const FILTERED_READS_MAX = 2;
const limitFilteredReads = pLimit(FILTERED_READS_MAX);

/** Far below the 30 seconds after which the runtime closes an idle connection. */
const WAIT_MAX_MS = 10_000;

/** A row of a page. */
interface ListRow<Summary> extends ListPosition {
  readonly summary: Summary;
}

/** The rows of a page. */
interface FoundRows<Summary> {
  /** One more than the limit shows that there is a next page. */
  readonly rows: readonly ListRow<Summary>[];
  /** The last entity that was scanned, if the scan ended early. */
  readonly scannedTo?: ListPosition | undefined;
}

/** Entities that come one after the other in a list. */
interface ScannedRows<Summary> {
  readonly matches: readonly ListRow<Summary>[];
  readonly count: number;
  /** The last of them; absent if it is that of the matches. */
  readonly last?: ListPosition | undefined;
}

/**
 * Reads the rows of a page.
 *
 * @param signal Ends a read for which nobody waits.
 * @throws {DomainError} `Service Unavailable` if too many filtered pages are read at once.
 */
export function readListRows<Summary>(
  database: Database,
  query: ListSelection,
  signal?: AbortSignal,
): Promise<FoundRows<Summary>> {
  const { request, filters } = query;
  if (filters.length === 0) return scanList(database, query, request.limit + 1);
  const startedAt = performance.now();
  return limitFilteredReads(() => {
    signal?.throwIfAborted();
    if (performance.now() - startedAt > WAIT_MAX_MS) {
      const message = "Too many lists with search or country are read at once";
      throw new DomainError("Service Unavailable", message);
    }
    return readFilteredRows(database, query, signal);
  });
}

/**
 * Reads the next entities in the order of the list, whether they match the filter or not.
 *
 * @param after The last entity before them.
 */
async function readNextRows<Summary>(
  database: Database,
  query: ListSelection,
  after: ListPosition | undefined,
  limit: number,
): Promise<ScannedRows<Summary>> {
  let rows: ScannedRows<Summary> = { matches: [], count: 0 };
  for (const subquery of selectNextSql(query, after)) {
    const args = listArguments(query, after, limit - rows.count);
    const sql = rowsJsonSql(query, subquery);
    const next = await database.queryJson<ScannedRows<Summary>>(sql, args);
    if (next === undefined || next.count === 0) continue;
    rows = {
      matches: [...rows.matches, ...next.matches],
      count: rows.count + next.count,
      last: next.last ?? next.matches.at(-1),
    };
    if (rows.count === limit) break;
  }
  return rows;
}

/** Reads a page in the order of the list, in steps of some entities. */
async function scanList<Summary>(
  database: Database,
  query: ListSelection,
  stepEntities: number,
  signal?: AbortSignal,
): Promise<FoundRows<Summary>> {
  const { limit, after } = query.request;
  const rows = new Map<string, ListRow<Summary>>();
  let scannedTo = after;
  for (let scanned = 0; scanned < FILTERED_PAGE_MAX_ENTITIES; scanned += stepEntities) {
    const step = await readNextRows<Summary>(database, query, scannedTo, stepEntities);
    // An entity whose figure changed meanwhile may come again.
    for (const row of step.matches) if (!rows.has(row.id)) rows.set(row.id, row);
    if (step.count < stepEntities || rows.size > limit) return { rows: [...rows.values()] };
    scannedTo = step.last;
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return { rows: [...rows.values()], scannedTo };
}

/**
 * Reads a page of the entities that match a filter: all of them if they are few, else by a scan of
 * the list.
 */
async function readFilteredRows<Summary>(
  database: Database,
  query: ListSelection,
  signal?: AbortSignal,
): Promise<FoundRows<Summary>> {
  const { limit, after, order } = query.request;
  const candidates = await readMatchingKeys(database, query);
  if (candidates === undefined) return scanList(database, query, STEP_ENTITIES, signal);
  const sql = rowsJsonSql(query, selectMatchingSql(query, after));
  let rows: ListRow<Summary>[] = [];
  for (let from = 0; from < candidates.length; from += STEP_ENTITIES) {
    const keys = JSON.stringify(candidates.slice(from, from + STEP_ENTITIES));
    const args = [...listArguments(query, after, limit + 1), keys];
    const step = await database.queryJson<ScannedRows<Summary>>(sql, args);
    rows = [...rows, ...(step?.matches ?? [])]
      .toSorted((a, b) => compareListPositions(a, b, order))
      .slice(0, limit + 1);
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return { rows };
}

/**
 * Reads the keys of the entities that match a filter: of the filters with an index, the one that
 * fewest entities match.
 *
 * @returns `undefined` if many match each of them, or no filter has an index.
 */
async function readMatchingKeys(
  database: Database,
  { filters }: ListSelection,
): Promise<readonly number[] | undefined> {
  let fewest: readonly number[] | undefined;
  for (const { index } of filters) {
    if (index === undefined) continue;
    const args = [index.text, MATCHES_MAX + 1];
    const keys = (await database.queryJson<number[]>(index.sql, args)) ?? [];
    if (keys.length <= (fewest?.length ?? MATCHES_MAX)) fewest = keys;
    if (keys.length === 0) break;
  }
  return fewest;
}
