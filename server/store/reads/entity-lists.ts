/**
 * Reads pages of the lists of channels and users, sorted by a figure.
 *
 * Without a filter, a page is at most three searches of the index of its figure. With a filter, the
 * list is scanned up to a number of entities. If few entities match the filter, they are found by
 * an index and sorted, unless a short scan fills the page; else a scan that ends early continues
 * with the next page. All go in steps, between which the process serves other requests.
 */
import pLimit from "p-limit";
import { cutPage, type CursorPage } from "../../../core/cursor.ts";
import { DomainError } from "../../../core/errors.ts";
import { FILTERED_PAGE_MAX_ENTITIES } from "../../../core/limits.ts";
import {
  compareListPositions,
  encodeListCursor,
  type ListPosition,
  type ListRequest,
} from "../../../core/lists.ts";
import type { Database } from "../database/database.ts";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { CacheableResult } from "./read-types.ts";
import { LIST_TAGS } from "../history/change-log.ts";
import { createListStatements } from "./list-sql.ts";

/** Entities of one step of a filter, whose rows are read: less than a millisecond. */
const STEP_ENTITIES = 200;

/** Steps double up to these sizes, which take a millisecond or less without a match. */
const STEP_MAX_ENTITIES = 400;
const COVERED_STEP_MAX_ENTITIES = 4000;

/** An entity of a scan takes so much less time if its row is not read. */
const COVERED_SPEEDUP = 8;

/** If more entities match a filter, a scan of the list finds a page of them faster. */
const MATCHES_MAX = 5000;

/** Filtered pages that are read at once in this process. Other reads go on beside them. */
const FILTERED_READS_MAX = 2;
const limitFilteredReads = pLimit(FILTERED_READS_MAX);

/** Far below the 30 seconds after which the runtime closes an idle connection. */
const WAIT_MAX_MS = 10_000;

type ListStatements = ReturnType<typeof createListStatements>;

export function createListRead<Sort extends string, Summary, Body>(
  database: Database,
  list: {
    readonly summary: { readonly properties: object };
    readonly sortFields: Readonly<Record<Sort, string>>;
  },
  createBody: (entities: Summary[], pagination: Omit<CursorPage<unknown>, "items">) => Body,
) {
  return async (
    request: ListRequest<Sort>,
    signal?: AbortSignal,
  ): Promise<CacheableResult<Body>> => {
    const sortField = list.sortFields[request.sort];
    const statements = createListStatements(request, sortField, list.summary);
    const { rows, scannedTo } = await readRows(database, statements, request, signal);
    const encode = (last: ListPosition) => encodeListCursor(last, request);
    const page = cutPage(rows, request.limit, encode);
    const nextCursor = page.nextCursor ?? (scannedTo === undefined ? null : encode(scannedTo));
    const entities = page.items.map(
      // The SQL selects the other fields of a summary.
      ({ figure, summary }) => Object.assign(summary, { [sortField]: figure }) as Summary,
    );
    const body = createBody(entities, { hasMore: nextCursor !== null, nextCursor });
    return { body, tags: [LIST_TAGS[request.kind]] };
  };
}

type ListRow = ListPosition & { readonly summary: object };

type ListEntry = ListPosition & { readonly key: number };

interface ScannedRows {
  readonly matches: readonly ListRow[];
  readonly count: number;
  /** The last entity; absent without a filter. */
  readonly last?: ListPosition;
}

interface FoundRows {
  /** One more than the limit shows that there is a next page. */
  readonly rows: readonly ListRow[];
  /** The last entity that was scanned, if the scan ended early. */
  readonly scannedTo?: ListPosition | undefined;
}

function readRows(
  database: Database,
  statements: ListStatements,
  request: ListRequest,
  signal: AbortSignal | undefined,
): Promise<FoundRows> {
  if (!statements.isFiltered) return readNextRows(database, statements, request);
  const startedAt = performance.now();
  return limitFilteredReads(() => {
    signal?.throwIfAborted();
    if (performance.now() - startedAt > WAIT_MAX_MS) {
      const message = "Too many lists with search or country are read at once";
      throw new DomainError("Service Unavailable", message);
    }
    return readFilteredRows(database, statements, request, signal);
  });
}

const NO_ROWS: ScannedRows = { matches: [], count: 0 };

async function readNextRows(
  database: Database,
  { selectNext }: ListStatements,
  { limit, after }: ListRequest,
): Promise<FoundRows> {
  const { sql, args } = selectNext(after, limit + 1);
  return { rows: (await database.queryJson<ScannedRows>(sql, args))?.matches ?? [] };
}

/** Scans a list for the entities of a page that match, up to a number of entities. */
async function scanList(
  database: Database,
  { selectNext, isCovered }: ListStatements,
  { limit, after }: ListRequest,
  {
    entitiesMax,
    signal,
  }: { readonly entitiesMax: number; readonly signal?: AbortSignal | undefined },
): Promise<FoundRows> {
  const rows = new Map<string, ListRow>();
  const stepMax = isCovered ? COVERED_STEP_MAX_ENTITIES : STEP_MAX_ENTITIES;
  let scannedTo = after;
  let stepEntities = STEP_ENTITIES;
  for (let left = entitiesMax; left > 0;) {
    const size = Math.min(stepEntities, left);
    const { sql, args } = selectNext(scannedTo, size);
    const { matches, count, last } = (await database.queryJson<ScannedRows>(sql, args)) ?? NO_ROWS;
    // An entity whose figure changed meanwhile may come again.
    for (const row of matches) if (!rows.has(row.id)) rows.set(row.id, row);
    if (count < size || rows.size > limit) return { rows: [...rows.values()] };
    scannedTo = last;
    left -= size;
    stepEntities = Math.min(2 * stepEntities, stepMax);
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return { rows: [...rows.values()], scannedTo };
}

/** Reads a page of entities that match a filter: by a scan, or by their keys if they are few. */
async function readFilteredRows(
  database: Database,
  statements: ListStatements,
  request: ListRequest,
  signal: AbortSignal | undefined,
): Promise<FoundRows> {
  const { limit, after } = request;
  const matchingKeys = await readMatchingKeys(database, statements);
  if (matchingKeys === undefined) {
    const entitiesMax = FILTERED_PAGE_MAX_ENTITIES;
    return scanList(database, statements, request, { entitiesMax, signal });
  }
  const entitiesMax = await estimateScan(database, statements, matchingKeys.length, limit);
  if (entitiesMax !== undefined) {
    const found = await scanList(database, statements, request, { entitiesMax, signal });
    if (found.scannedTo === undefined) return found;
  }
  // The rows of a few keys are read at once.
  const nextKeys =
    matchingKeys.length <= STEP_ENTITIES
      ? matchingKeys
      : await selectNextKeys(database, statements, request, { matchingKeys, signal });
  const { sql, args } = statements.selectMatching(after, limit + 1, JSON.stringify(nextKeys));
  return { rows: (await database.queryJson<ScannedRows>(sql, args))?.matches ?? [] };
}

/** Selects the keys of the next entities of a page, without their summaries. */
async function selectNextKeys(
  database: Database,
  statements: ListStatements,
  { limit, after, order }: ListRequest,
  {
    matchingKeys,
    signal,
  }: {
    readonly matchingKeys: readonly number[];
    readonly signal: AbortSignal | undefined;
  },
): Promise<readonly number[]> {
  let next: ListEntry[] = [];
  for (let from = 0; from < matchingKeys.length; from += STEP_ENTITIES) {
    const keys = JSON.stringify(matchingKeys.slice(from, from + STEP_ENTITIES));
    const { sql, args } = statements.selectPositions(after, limit + 1, keys);
    next = [...next, ...((await database.queryJson<ListEntry[]>(sql, args)) ?? [])]
      .toSorted((a, b) => compareListPositions(a, b, order))
      .slice(0, limit + 1);
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return next.map(({ key }) => key);
}

/**
 * Estimates the entities that a scan reads to fill a page, if it takes less time than reading the
 * rows of all `matches`. Of two filters, nobody knows how many entities match both.
 *
 * @returns Twice the estimate: a scan that fills no page by then meets few matches.
 */
async function estimateScan(
  database: Database,
  { hasOneFilter, isCovered, countSql }: ListStatements,
  matches: number,
  limit: number,
): Promise<number | undefined> {
  if (!hasOneFilter || matches <= limit) return undefined;
  const entities = (await database.queryJson<number>(countSql, [])) ?? 0;
  const scanned = Math.ceil((entities * (limit + 1)) / matches);
  const rows = isCovered ? scanned / COVERED_SPEEDUP : scanned;
  return 2 * rows < matches ? 2 * scanned : undefined;
}

/**
 * Reads the keys of the entities that match the most selective filter; `undefined` if many entities
 * match each filter, or no filter has an index.
 */
async function readMatchingKeys(
  database: Database,
  { searches }: ListStatements,
): Promise<readonly number[] | undefined> {
  let fewest: readonly number[] | undefined;
  for (const { sql, args } of searches(MATCHES_MAX + 1)) {
    const keys = (await database.queryJson<number[]>(sql, args)) ?? [];
    if (keys.length <= (fewest?.length ?? MATCHES_MAX)) fewest = keys;
    if (keys.length === 0) break;
  }
  return fewest;
}
