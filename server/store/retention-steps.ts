/**
 * The steps by which histories are thinned: short stretches of a table of histories, in its own
 * order, each looked at with one read and thinned with one write. What is left of a stretch is
 * packed anew, onto the chunk before it, so chunks do not become small however often it is thinned.
 */
import type { Row } from "@libsql/client";
import { getTableColumns } from "drizzle-orm";
import type { Kind } from "../../core/kinds.ts";
import { retainPart, type RetentionBounds } from "../../core/retention.ts";
import { LAST_INSTANT } from "../../core/time.ts";
import { tellRewritten } from "./changes.ts";
import { pack, unpack, type Chunk } from "./chunks.ts";
import type { Database } from "./database.ts";
import { writeDecided } from "./decided.ts";
import { dropChunks, LAYOUTS, putChunks, type Layout } from "./layout.ts";
import * as tables from "./tables.ts";

/** Observations, the chunks they lie in, and entities, that a step is about at most. */
export const STEP_MAX_ROWS = 1000;
export const STEP_MAX_CHUNKS = 100;
export const STEP_MAX_ENTITIES = 25;

/** A place in a table of histories: the key of an entity and an instant, where a chunk may start. */
export type Place = readonly [key: number, start: number];

/** Before all places. */
export const START: Place = [0, Number.MIN_SAFE_INTEGER];

/** A stretch of a table of histories: the chunks that start in it. */
export interface Stretch {
  /** Excluded. */
  readonly from: Place;
  /** Included. */
  readonly to: Place;
  /** The entities whose chunks these are. */
  readonly keys: readonly number[];
  /** How many observations they hold. */
  readonly rows: number;
  /** The earliest instant in it. */
  readonly earliest: number;
}

/** What a write did to a stretch. */
export interface Thinned {
  readonly found: number;
  /** What was decided to be. */
  readonly removed: number;
  /** By what the table held before and after. */
  readonly left: number;
  /** Whether the newest state of each entity is the same after as it was before. */
  readonly isStateUntouched: boolean;
  /** Changes that were noted. */
  readonly told: number;
}

/** Reads and writes the stretches of a kind. */
export function retentionSteps(database: Database, kind: Kind) {
  const layout = LAYOUTS[kind];
  const sql = sqlOf(layout);
  const within = ({ from, to }: Stretch) => [...from, ...to];
  const plan = async (stretch: Stretch, bounds: RetentionBounds) => {
    const known = await database.document<OwnedChunk[]>(sql.known, within(stretch));
    return planOf(layout, bounds, stretch.from, known ?? []);
  };
  return {
    /** The last place where a chunk starts; `undefined` where there is none. */
    async last(): Promise<Place | undefined> {
      return database.document<Place>(sql.last, []);
    },

    /** Finds the stretch behind a place, up to another; `undefined` where there is nothing more. */
    async find(from: Place, upTo: Place): Promise<Stretch | undefined> {
      const found = await database.document<FoundChunk[]>(sql.find, [...from, ...upTo]);
      return stretchOf(from, found ?? []);
    },

    /** The newest state of entities as text, a line each: their rows and newest observations. */
    async stateOf(keys: readonly number[]): Promise<string> {
      const states = await database.document<NewestState[]>(sql.state, [JSON.stringify(keys)]);
      return stateText(layout, states ?? []);
    },

    /** Counts what {@link thin} would remove. */
    async countRemovable(stretch: Stretch, bounds: RetentionBounds): Promise<number> {
      return (await plan(stretch, bounds)).removed;
    },

    /** Removes what the bounds leave out, which is decided as the observations are by then. */
    async thin(stretch: Stretch, bounds: RetentionBounds): Promise<Thinned> {
      const { decision, results } = await writeDecided(database, async () => {
        const planned = await plan(stretch, bounds);
        const { keys, rewritten, dropped, put } = planned;
        const look = { sql: sql.look, args: [...within(stretch), JSON.stringify(keys)] };
        const statements = [
          { sql: dropChunks(layout), args: [JSON.stringify(dropped)] },
          { sql: putChunks(layout, "key"), args: [JSON.stringify(put)] },
          look,
        ];
        return {
          ...planned,
          look,
          before: seenIn(layout, await database.select(look)),
          tell: tellRewritten(kind, rewritten),
          statements: rewritten.length === 0 ? [] : statements,
        };
      });
      const { found, removed, before, look, statements } = decision;
      const isWritten = statements.length > 0;
      // Where the answer to the write was lost, so was its look: it is taken again, and what others
      // did by then is not told apart.
      const rows = results.at(-1)?.rows ?? (isWritten ? await database.select(look) : undefined);
      const after = rows === undefined ? before : seenIn(layout, rows);
      return {
        found,
        removed,
        left: found - (before.rows - after.rows),
        isStateUntouched: before.state === after.state,
        told: isWritten ? 1 : 0,
      };
    },
  };
}

/** A chunk without its points. */
type FoundChunk = readonly [...Place, size: number];

/** The stretch that begins a list of chunks, of which the last only tells what comes next. */
function stretchOf(from: Place, found: readonly FoundChunk[]): Stretch | undefined {
  const keys = new Set<number>();
  let rows = 0;
  const taken = found.slice(0, STEP_MAX_CHUNKS).filter(([key, , size], index) => {
    keys.add(key);
    rows += size;
    return index === 0 || (keys.size <= STEP_MAX_ENTITIES && rows <= STEP_MAX_ROWS);
  });
  const [last, next] = [taken.at(-1), found[taken.length]];
  if (last === undefined) return undefined;
  const [key] = last;
  return {
    from,
    // Chunks may start anywhere before the next one once they are packed anew.
    to: [key, next?.[0] === key ? next[1] - 1 : LAST_INSTANT],
    keys: [...new Set(taken.map(([of]) => of))],
    rows: taken.reduce((sum, [, , size]) => sum + size, 0),
    earliest: taken.reduce((least, [, start]) => Math.min(least, start), Infinity),
  };
}

/** A chunk, after its entity's key and the start of that entity's next chunk. */
type OwnedChunk = readonly [key: number, next: number | null, ...chunk: Chunk];

/** What is to become of a stretch. */
interface Plan {
  readonly found: number;
  readonly removed: number;
  /** The entities that are in it, and those that lose something. */
  readonly keys: readonly number[];
  readonly rewritten: readonly number[];
  /** As {@link dropChunks} and {@link putChunks} take them. */
  readonly dropped: readonly Place[];
  readonly put: readonly (readonly [key: number, ...chunk: Chunk])[];
}

/**
 * Finds what bounds leave of a stretch. Chunks that are raw as a whole stay as they are.
 *
 * @param from Where the stretch begins.
 * @param known Its chunks, and the one before it.
 */
function planOf(
  { counts }: Layout,
  bounds: RetentionBounds,
  [fromKey, fromStart]: Place,
  known: readonly OwnedChunk[],
): Plan {
  const width = counts.size;
  const isBefore = ([key, , start]: OwnedChunk) => key === fromKey && start <= fromStart;
  const before = known.find(isBefore);
  const chunks = known.filter((chunk) => !isBefore(chunk));
  const dropped: Place[] = [];
  const put: [key: number, ...chunk: Chunk][] = [];
  let removed = 0;
  const old = chunks.filter(([, , start]) => start < bounds.rawFrom);
  for (const [key, owned] of Map.groupBy(old, ([of]) => of)) {
    const points = unpack(owned.map(chunkOf), width);
    const kept = retainPart(points, bounds, owned.at(-1)?.[1] ?? undefined);
    if (kept.length === points.length) continue;
    removed += points.length - kept.length;
    const onto = before?.[0] === key ? chunkOf(before) : undefined;
    for (const [, , start] of owned) dropped.push([key, start]);
    for (const chunk of pack(kept, width, onto)) put.push([key, ...chunk]);
  }
  return {
    found: chunks.reduce((sum, [, , , size]) => sum + size, 0),
    removed,
    keys: [...new Set(chunks.map(([key]) => key))],
    rewritten: [...new Set(dropped.map(([key]) => key))],
    dropped,
    put,
  };
}

function chunkOf([, , ...chunk]: OwnedChunk): Chunk {
  return chunk;
}

/** The row of an entity, and its last chunk. */
type NewestState = readonly [entity: unknown, chunk: Chunk | readonly [null, null, null]];

/** Newest states as text, a line each; of a chunk its last point counts, however it is packed. */
function stateText({ counts }: Layout, states: readonly NewestState[]): string {
  const lines = states.map(([entity, [start, size, points]]) => {
    const last = start === null ? [] : unpack([[start, size, points]], counts.size).slice(-1);
    return JSON.stringify([entity, ...last]);
  });
  return lines.join("\n");
}

/** What a look at a stretch found: how many observations, and the newest states. */
function seenIn(layout: Layout, [row]: readonly Row[]) {
  const [rows, states]: [number, NewestState[]] = JSON.parse(String(row?.["seen"]));
  return { rows, state: stateText(layout, states) };
}

const ENTITIES = {
  channel: tables.channels,
  short: tables.shorts,
  user: tables.users,
  tweet: tables.tweets,
} as const;

/** The first four arguments are the places that a stretch lies between, a fifth its entities. */
function sqlOf({ kind, entities, histories, owner }: Layout) {
  const until = `(${owner}, start) <= (?3, ?4)`;
  const within = `(${owner}, start) > (?1, ?2) AND ${until}`;
  // With the chunk before, which may be filled.
  const startBefore = `(SELECT max(start) FROM ${histories} WHERE ${owner} = ?1 AND start <= ?2)`;
  const reached = `(${owner}, start) >= (?1, ifnull(${startBefore}, ?2)) AND ${until}`;
  const next =
    `(SELECT min(start) FROM ${histories} AS later ` +
    `WHERE later.${owner} = page.${owner} AND later.start > page.start)`;
  const shown = Object.values(getTableColumns(ENTITIES[kind])).map(({ name }) => `e.${name}`);
  const state = (keys: string) =>
    `SELECT json_group_array(json_array(json_array(${shown.join(", ")}), ` +
    `json_array(h.start, h.size, h.points))) FROM json_each(${keys}) AS given ` +
    `LEFT JOIN ${entities} AS e ON e.key = given.value ` +
    `LEFT JOIN ${histories} AS h ON h.${owner} = given.value AND h.start = ` +
    `(SELECT max(start) FROM ${histories} WHERE ${owner} = given.value)`;
  return {
    last:
      `SELECT json_array(${owner}, start) FROM ${histories} ` +
      `ORDER BY ${owner} DESC, start DESC LIMIT 1`,
    find:
      `SELECT json_group_array(json_array(${owner}, start, size)) FROM ` +
      `(SELECT ${owner}, start, size FROM ${histories} WHERE ${within} ` +
      `ORDER BY ${owner}, start LIMIT ${STEP_MAX_CHUNKS + 1})`,
    known:
      `SELECT json_group_array(json_array(${owner}, ${next}, start, size, points)) FROM ` +
      `(SELECT * FROM ${histories} WHERE ${reached} ORDER BY ${owner}, start) AS page`,
    state: state("?1"),
    look:
      `SELECT json_array((SELECT ifnull(sum(size), 0) FROM ${histories} WHERE ${reached}), ` +
      `(${state("?5")})) AS seen`,
  };
}
