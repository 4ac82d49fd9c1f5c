/**
 * Reads pages of the lists of channels and users, sorted by a figure.
 *
 * Without a filter, a page is at most three searches of the index of its figure. With a filter that
 * few entities match, an index finds them, and they are sorted; else the list is scanned up to a
 * number of entities, and the next page goes on from there. Filtered pages are read in steps,
 * between which the process serves other requests, and two at a time: one that waits too long fails.
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

/** Entities that one step of a filter reads: less than a millisecond. */
const STEP_ENTITIES = 200;

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

interface ScannedRows {
  readonly matches: readonly ListRow[];
  readonly count: number;
  /** The last scanned entity; absent if it is the last of the matches. */
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
  if (!statements.isFiltered) return scanList(database, statements, request, request.limit + 1);
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

async function scanList(
  database: Database,
  { selectNext }: ListStatements,
  { limit, after }: ListRequest,
  stepEntities: number,
  signal?: AbortSignal,
): Promise<FoundRows> {
  const rows = new Map<string, ListRow>();
  let scannedTo = after;
  for (let scanned = 0; scanned < FILTERED_PAGE_MAX_ENTITIES; scanned += stepEntities) {
    const { sql, args } = selectNext(scannedTo, stepEntities);
    const { matches, count, last } = (await database.queryJson<ScannedRows>(sql, args)) ?? NO_ROWS;
    // An entity whose figure changed meanwhile may come again.
    for (const row of matches) if (!rows.has(row.id)) rows.set(row.id, row);
    if (count < stepEntities || rows.size > limit) return { rows: [...rows.values()] };
    scannedTo = last ?? matches.at(-1);
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return { rows: [...rows.values()], scannedTo };
}

/** Reads a page of entities that match a filter: by their keys if they are few, else by a scan. */
async function readFilteredRows(
  database: Database,
  statements: ListStatements,
  request: ListRequest,
  signal: AbortSignal | undefined,
): Promise<FoundRows> {
  const { limit, after, order } = request;
  const matchingKeys = await readMatchingKeys(database, statements);
  if (matchingKeys === undefined) {
    return scanList(database, statements, request, STEP_ENTITIES, signal);
  }
  let rows: ListRow[] = [];
  for (let from = 0; from < matchingKeys.length; from += STEP_ENTITIES) {
    const keys = JSON.stringify(matchingKeys.slice(from, from + STEP_ENTITIES));
    const { sql, args } = statements.selectMatching(after, limit + 1, keys);
    const step = await database.queryJson<ScannedRows>(sql, args);
    rows = [...rows, ...(step?.matches ?? [])]
      .toSorted((a, b) => compareListPositions(a, b, order))
      .slice(0, limit + 1);
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return { rows };
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
