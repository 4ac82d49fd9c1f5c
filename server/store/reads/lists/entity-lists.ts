/**
 * Reads pages of the lists of channels and users, sorted by a figure.
 *
 * Without a filter, a page is at most three searches of the index of its figure. With a filter, the
 * list is scanned up to a number of entities; most often, its beginning fills the page. If few
 * entities match the filter, they are found by an index and sorted, unless a short scan fills the
 * page; else a scan that ends early continues with the next page. All go in steps, between which the
 * process serves other requests.
 *
 * In a list of n entities, a page of 100 takes longest with about 5 * sqrt(n) matches: of fewer, it
 * reads fewer rows, and with more, it scans. 2,200 matches in 200,000 channels take 6 ms of CPU
 * time, 3.5 of them for finding the rows, which lie on as many pages of the database. This stops
 * growing at MATCHES_MAX rows. Indexes that begin with the column of a filter would end it before,
 * but each sort needs one, and nearly every observation of a channel would change most of them.
 */
import pLimit from "p-limit";
import { cutPage } from "../../../../core/cursor.ts";
import { DomainError } from "../../../../core/errors.ts";
import { FILTERED_PAGE_MAX_ENTITIES } from "../../../../core/limits.ts";
import {
  compareListPositions,
  encodeListCursor,
  type ListPosition,
  type ListRequest,
} from "../../../../core/lists.ts";
import type { CursorPagination } from "../../../../core/resources/generated/types.ts";
import type { DatabaseReads } from "../../database/database.ts";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { CacheableResult } from "../read-types.ts";
import { LIST_TAGS } from "../../history/change-log.ts";
import { fieldsJsonSql } from "../../tables/entity-sql.ts";
import { createListStatements, getSortField, type ListStatements } from "./list-sql.ts";
import {
  readNextRows,
  scanList,
  STEP_ENTITIES,
  type FoundRows,
  type ScannedRows,
} from "./scan-list.ts";
import { createNamedKeysRead, type Owner } from "../owners.ts";

/** An entity of a scan takes so much less time if its row is not read. */
const COVERED_SPEEDUP = 8;

/** Many filters that fill a short page fill it so early: a quarter of a millisecond. */
const FIRST_SCAN_ENTITIES = 1000;

/** If more entities match a filter, a scan of the list finds a page of them faster. */
const MATCHES_MAX = 5000;

/** Filtered pages that are read at once in this process. Other reads go on beside them. */
const FILTERED_READS_MAX = 2;
const limitFilteredReads = pLimit(FILTERED_READS_MAX);

/** Far below the 30 seconds after which the runtime closes an idle connection. */
const WAIT_MAX_MS = 10_000;

export function createListRead<Sort extends string, Summary, Body>(
  database: DatabaseReads,
  list: { readonly owner: Owner; readonly summary: { readonly properties: object } },
  createBody: (entities: Summary[], pagination: CursorPagination) => Body,
) {
  const summaryJson = fieldsJsonSql(list.summary);
  const readNamedKeys = createNamedKeysRead(database, list.owner);
  return async (
    request: ListRequest<Sort>,
    signal?: AbortSignal,
  ): Promise<CacheableResult<Body>> => {
    const readKeys = createKeysRead(readNamedKeys, request, signal);
    const options = { summaryJson, readKeys, signal };
    const page = await readListPage<SummaryRow>(database, request, options);
    const sortField = getSortField(request);
    const entities = page.items.map(
      // The SQL selects the other fields of a summary.
      ({ figure, summary }) => Object.assign(summary, { [sortField]: figure }) as Summary,
    );
    return { body: createBody(entities, page.pagination), tags: [LIST_TAGS[request.kind]] };
  };
}

/** Creates the read of the keys of the channels or users that a request names, if it names any. */
export function createKeysRead(
  readNamedKeys: ReturnType<typeof createNamedKeysRead>,
  { list, names }: ListRequest,
  signal: AbortSignal | undefined,
): FilterOptions["readKeys"] {
  if (list !== undefined && names === undefined) {
    throw new Error("The names of the saved list were not read");
  }
  return names && (() => readNamedKeys(names, signal));
}

type SummaryRow = ListPosition & { readonly summary: object };

/** Reads the page of a list that a request selects. */
export async function readListPage<Row extends ListPosition>(
  database: DatabaseReads,
  request: ListRequest,
  options: {
    /** JSON of an entity, as SQL; without it, a row has the key of the entity. */
    readonly summaryJson?: string;
    /** The keys of the owners whose items are listed. */
    readonly ownerKeys?: readonly number[] | undefined;
    readonly readKeys?: FilterOptions["readKeys"];
    readonly signal?: AbortSignal | undefined;
  },
): Promise<{ readonly items: readonly Row[]; readonly pagination: CursorPagination }> {
  const statements = createListStatements(request, options.summaryJson, options.ownerKeys);
  const { readKeys, signal } = options;
  const { rows, scannedTo } = await readRows(database, statements, request, { readKeys, signal });
  const encode = (last: ListPosition) => encodeListCursor(last, request);
  const page = cutPage(rows, request.limit, encode);
  const nextCursor = page.nextCursor ?? (scannedTo === undefined ? null : encode(scannedTo));
  return {
    // The SQL selects what a row has beside its position.
    items: page.items as readonly Row[],
    pagination: { hasMore: nextCursor !== null, nextCursor },
  };
}

type ListEntry = ListPosition & { readonly key: number };

interface FilterOptions {
  /** Reads the keys of the entities of a saved list, to which the other filters are applied. */
  readonly readKeys?: (() => Promise<readonly number[]>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

function readRows(
  database: DatabaseReads,
  statements: ListStatements,
  request: ListRequest,
  options: FilterOptions,
): Promise<FoundRows> {
  const { signal } = options;
  if (!statements.isScanned) return readNextRows(database, statements, request);
  if (!statements.isFiltered) {
    const entitiesMax = FILTERED_PAGE_MAX_ENTITIES;
    return scanList(database, statements, request, { entitiesMax, signal });
  }
  const startedAt = performance.now();
  return limitFilteredReads(() => {
    signal?.throwIfAborted();
    if (performance.now() - startedAt > WAIT_MAX_MS) {
      const message = "Too many filtered lists are read at once";
      throw new DomainError("Service Unavailable", message);
    }
    return readFilteredRows(database, statements, request, options);
  });
}

/** Reads a page of entities that match a filter: by a scan, or by their keys if they are few. */
async function readFilteredRows(
  database: DatabaseReads,
  statements: ListStatements,
  request: ListRequest,
  { readKeys, signal }: FilterOptions,
): Promise<FoundRows> {
  const { limit, after } = request;
  if (statements.isCovered && readKeys === undefined) {
    const options = { entitiesMax: FIRST_SCAN_ENTITIES, signal };
    const found = await scanList(database, statements, request, options);
    if (found.scannedTo === undefined) return found;
  }
  const matchingKeys = await (readKeys?.() ?? readMatchingKeys(database, statements));
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
  database: DatabaseReads,
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
  database: DatabaseReads,
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
  database: DatabaseReads,
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
