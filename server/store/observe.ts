/**
 * Observations into the database: as one transaction, in any order, any number of times.
 *
 * The join of the domain decides what is new, and packs it into the histories. What describes an
 * entity is joined in SQL: so nothing of it need be read of an entity that is merely seen again.
 */
import { KIND_NAMES, type Kind } from "../../core/kinds.ts";
import type { Observation } from "../../core/observations.ts";
import { foldCase } from "../../core/text.ts";
import type { Database } from "./database.ts";
import { tellWritten, type ChangedFold } from "./changes.ts";
import { pack, packEvenly, type Chunk, type Point } from "./chunks.ts";
import { writeDecided } from "./decided.ts";
import {
  FIND_SPELLINGS,
  FORGET_SPELLINGS,
  LAYOUTS,
  lendKeys,
  dropChunks,
  putChunks,
  upsertEntities,
  type Layout,
} from "./layout.ts";
import { joinKnown, type There } from "./known.ts";
import { foldsOf, type Fold, type Observed } from "./folds.ts";

type Statement = { readonly sql: string; readonly args: string[] };

/** What came in of a kind, by entity. */
interface Batch {
  readonly kind: Kind;
  readonly folds: ReadonlyMap<string, Fold>;
}

/** Observations that are ready to be stored. */
export type PreparedObservations = readonly Batch[];

/**
 * Prepares observations as if nothing was known of their entities: that is what nearly all turn out
 * to be stored as, and it can be done before the observations before them are there.
 */
export function prepareObservations(observations: readonly Observation[]): PreparedObservations {
  return KIND_NAMES.flatMap((kind) => {
    const folds = foldsOf(kind, observations);
    return folds.size === 0 ? [] : [{ kind, folds }];
  });
}

/**
 * Stores observations.
 *
 * @returns How many were new (an instant never observed before), changed (more about a known one)
 * or unchanged. Their sum is the number of observations.
 */
export function storeObservations(
  database: Database,
  observations: readonly Observation[],
): Promise<Observed> {
  return storePrepared(database, prepareObservations(observations));
}

/** Stores prepared observations, as {@link storeObservations} does. */
export async function storePrepared(
  database: Database,
  batches: PreparedObservations,
): Promise<Observed> {
  const { decision } = await writeDecided(database, async () => {
    const counted = { new: 0, changed: 0, unchanged: 0 };
    const statements: Statement[] = [];
    const changed: ChangedFold[] = [];
    for (const { kind, folds } of batches) {
      const layout = LAYOUTS[kind];
      const there = await joinKnown(database, layout, folds);
      const given: Fold[] = [];
      for (const fold of folds.values()) {
        const { counted: of } = fold.joined;
        counted.new += of.new;
        counted.changed += of.changed;
        counted.unchanged += of.unchanged;
        if (of.unchanged < fold.incoming.length) given.push(fold);
      }
      if (given.length === 0) continue;
      for (const { id, joined } of given) {
        changed.push({ kind, id, description: joined.description });
      }
      statements.push(...writesOf(layout, given, there));
    }
    return { tell: tellWritten(changed), statements, counted };
  });
  return decision.counted;
}

function writesOf(
  layout: Layout,
  changed: readonly Fold[],
  known: ReadonlyMap<string, There>,
): Statement[] {
  const isGiven = new Set<string>();
  for (const { joined } of changed) for (const name in joined.description) isGiven.add(name);
  const fields = Array.from(layout.described.keys()).filter((name) => isGiven.has(name));
  const entities = changed.map((fold) => entityOf(layout, fields, fold));
  const put: unknown[] = [];
  const dropped: unknown[] = [];
  for (const fold of changed) {
    const there = known.get(fold.id);
    const points = pointsOf(layout, fold);
    for (const { from, to } of rechunk(points, layout.counts.size, there)) {
      if (there !== undefined && from !== undefined) dropped.push([there.key, from[0]]);
      for (const chunk of to) put.push([fold.id, ...chunk]);
    }
  }
  return [
    ...namedBy(layout.kind, changed),
    statement(upsertEntities(layout, fields), entities),
    ...(dropped.length === 0 ? [] : [statement(dropChunks(layout), dropped)]),
    statement(putChunks(layout), put),
    ...(layout.kind === "tweet" ? [{ sql: FIND_SPELLINGS, args: [] }] : []),
  ];
}

/** An entity as `upsertEntities()` takes it. */
function entityOf(
  { counts }: Layout,
  fields: readonly string[],
  { id, joined: { description, points } }: Fold,
): unknown[] {
  const username = description["username"]?.value;
  const newest = points.at(-1);
  const row: unknown[] = [
    id,
    username === undefined ? null : foldCase(String(username)),
    newest?.observedAt ?? null,
  ];
  for (const name of counts.keys()) row.push(newest?.counts[name] ?? null);
  for (const name of fields) {
    const given = description[name];
    row.push(given?.value ?? null, given?.at ?? null);
  }
  return row;
}

function pointsOf({ counts }: Layout, { joined }: Fold): Point[] {
  const names = [...counts.keys()];
  return joined.points.map(({ observedAt, counts: of }) => ({
    at: observedAt,
    counts: names.map((name) => of[name] ?? null),
  }));
}

/** Chunks, and the one in whose place they come if it has to go. */
interface Rechunked {
  readonly from?: Chunk;
  readonly to: readonly Chunk[];
}

/** The chunks that hold what came in, those among them that it changed. */
function rechunk(points: readonly Point[], width: number, there: There | undefined): Rechunked[] {
  if (there === undefined) return [{ to: pack(points, width) }];
  if (there.isContinued) return [{ to: pack(points, width, there.chunks.at(-1)) }];
  const parts = there.chunks.map((from) => ({ from, points: [] as Point[] }));
  let part = 0;
  for (const point of points) {
    while (point.at >= (there.chunks[part + 1]?.[0] ?? Infinity)) part++;
    parts[part]?.points.push(point);
  }
  return parts.flatMap(({ from, points: of }) => {
    const to = packEvenly(of, width);
    const isSame = to.length === 1 && to[0]?.[0] === from[0] && to[0][2] === from[2];
    return isSame ? [] : [{ from, to }];
  });
}

/** What must be there before the entities of a batch: the channels and users that they name. */
function namedBy(kind: Kind, folds: readonly Fold[]): Statement[] {
  if (kind === "short") {
    const ids = folds.map(({ joined }) => joined.description["channel"]?.value ?? null);
    return [statement(lendKeys(LAYOUTS.channel), ids)];
  }
  if (kind === "tweet") {
    const names = folds.map(({ joined }) =>
      foldCase(String(joined.description["username"]?.value)),
    );
    return [
      statement(lendKeys(LAYOUTS.user), names),
      statement(
        FORGET_SPELLINGS,
        folds.map(({ id }) => id),
        names,
      ),
    ];
  }
  return [];
}

function statement(sql: string, ...rows: readonly (readonly unknown[])[]): Statement {
  return { sql, args: rows.map((of) => JSON.stringify(of)) };
}
