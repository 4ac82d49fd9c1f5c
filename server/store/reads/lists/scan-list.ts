/** Reads the next entities of a list in the order of its figure, in steps if only some match. */
import type { ListPosition, ListRequest } from "../../../../core/lists.ts";
import type { DatabaseReads } from "../../database/database.ts";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ListStatements } from "./list-sql.ts";

/** Entities of one step of a filter, whose rows are read: less than a millisecond. */
export const STEP_ENTITIES = 200;

/** Steps double up to these sizes, which take a millisecond or less without a match. */
const STEP_MAX_ENTITIES = 400;
const COVERED_STEP_MAX_ENTITIES = 4000;

export interface ScannedRows {
  readonly matches: readonly ListPosition[];
  readonly count: number;
  /** The last entity; absent without a filter. */
  readonly last?: ListPosition;
}

export interface FoundRows {
  /** One more than the limit shows that there is a next page. */
  readonly rows: readonly ListPosition[];
  /** The last entity that was scanned, if the scan ended early. */
  readonly scannedTo?: ListPosition | undefined;
}

const NO_ROWS: ScannedRows = { matches: [], count: 0 };

/** Reads the next rows of a list that has no filter. */
export async function readNextRows(
  database: DatabaseReads,
  { selectNext }: ListStatements,
  { limit, after }: ListRequest,
): Promise<FoundRows> {
  const { sql, args } = selectNext(after, limit + 1);
  return { rows: (await database.queryJson<ScannedRows>(sql, args))?.matches ?? [] };
}

/** Scans a list for the entities of a page that match, up to a number of entities. */
export async function scanList(
  database: DatabaseReads,
  { selectNext, isCovered, isFiltered }: ListStatements,
  { limit, after }: ListRequest,
  {
    entitiesMax,
    signal,
  }: { readonly entitiesMax: number; readonly signal?: AbortSignal | undefined },
): Promise<FoundRows> {
  const rows = new Map<string, ListPosition>();
  const stepMax = isCovered ? COVERED_STEP_MAX_ENTITIES : STEP_MAX_ENTITIES;
  let scannedTo = after;
  // Nearly all entities are listed unless there is a filter.
  let stepEntities = isFiltered ? STEP_ENTITIES : limit + 1;
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
