/** Histories: the observations of one entity, or of those of a page, thinned where they are long. */
import { historyBounds, newestOfSlices } from "../../core/history.ts";
import { writtenJson } from "../../core/json.ts";
import type { Kind } from "../../core/kinds.ts";
import { pack, unpack, type Chunk } from "./chunks.ts";
import type { Database } from "./database.ts";
import { chunksWhere, LAYOUTS } from "./layout.ts";
import { pointWriter, type PointForm, type Zone } from "./points.ts";

/** Which histories are read, and how their points are shown. */
export interface HistoryKind {
  readonly kind: Kind;
  readonly form: PointForm;
  readonly zone: Zone;
  /** How many points a history lists at most, 3 or more. */
  readonly maxPoints: number;
}

/**
 * A part of a statement: the chunks of an entity's history, or `null` where it is longer than it is
 * listed.
 *
 * @param key The entity's key, as SQL.
 */
export function historyColumn({ kind, maxPoints }: HistoryKind, key: string): string {
  const { histories, owner } = LAYOUTS[kind];
  // No chunk is empty, so one more than there are points tells whether it is longer.
  const chunks =
    `SELECT start, size, points FROM ${histories} WHERE ${owner} = ${key} ` +
    `ORDER BY start LIMIT ${maxPoints + 1}`;
  return (
    `(SELECT CASE WHEN ifnull(sum(size), 0) <= ${maxPoints} ` +
    `THEN json_group_array(json_array(start, size, points)) END FROM (${chunks}))`
  );
}

/** A history as an answer lists it. */
export interface History<Point> {
  readonly points: Point[];
  /** Whether observations were left out. */
  readonly isThinned: boolean;
}

/**
 * Makes what lists histories.
 *
 * @returns Takes what was read by {@link historyColumn}; reads what thins the history where it is
 * longer than it lists.
 */
export function historyLister<Point>(kind: HistoryKind) {
  const write = pointWriter(kind.kind, kind.form, kind.zone);
  return async (
    database: Database,
    key: number,
    chunks: readonly Chunk[] | null,
  ): Promise<History<Point>> => {
    const isThinned = chunks === null;
    const json = write(isThinned ? await readThinned(database, kind, key) : chunks);
    return { points: writtenJson(json), isThinned };
  };
}

/**
 * Reads a history that is too long to list whole: only the chunks that the newest observation of a
 * slice lies in, instead of all.
 */
async function readThinned(
  database: Database,
  { kind, maxPoints }: HistoryKind,
  key: number,
): Promise<Chunk[]> {
  const layout = LAYOUTS[kind];
  const { histories, owner, entities } = layout;
  const [first = 0, newest = 0] =
    (await database.document<[number, number]>(
      `SELECT json_array((SELECT min(start) FROM ${histories} WHERE ${owner} = ?1), observed_at) ` +
        `FROM ${entities} WHERE key = ?1`,
      [key],
    )) ?? [];
  const bounds = historyBounds(first, newest, maxPoints);
  const chosen =
    `SELECT (SELECT max(start) FROM ${histories} WHERE ${owner} = ?1 AND start < value) ` +
    "FROM json_each(?2)";
  const chunks = await database.document<Chunk[]>(
    `SELECT ${chunksWhere(layout, "?1", `start IN (${chosen})`)}`,
    [key, JSON.stringify([first + 1, ...bounds.slice(1), newest + 1])],
  );
  const width = layout.counts.size;
  return pack(newestOfSlices(unpack(chunks ?? [], width), bounds), width);
}
