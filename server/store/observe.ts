/**
 * Observations into the database: as one transaction, in any order, any number of times.
 *
 * The join of the domain decides what is new, and packs it into the histories. What describes an
 * entity is joined in SQL: so nothing of it need be read of an entity that is merely seen again.
 */
import type { Kind } from "../../core/kinds.ts";
import type { Observation } from "../../core/observations.ts";
import { foldCase } from "../../core/text.ts";
import type { Database } from "./database.ts";
import { createGatherer, type Batch } from "./batches.ts";
import { tellWritten, type ChangedFold } from "./changes.ts";
import { pack, packEvenly, type Chunk, type Point } from "./chunks.ts";
import type { Statement } from "./connection.ts";
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
  const gatherer = createGatherer();
  for (const observation of observations) gatherer.add(observation);
  return storeBatches(database, gatherer.batches());
}

/** Stores gathered observations, as {@link storeObservations} does. */
export async function storeBatches(
  database: Database,
  batches: readonly Batch[],
): Promise<Observed> {
  const { decision } = await writeDecided(database, async () => {
    const counted = { new: 0, changed: 0, unchanged: 0 };
    const statements: Statement[] = [];
    const changed: ChangedFold[] = [];
    for (const batch of batches) {
      const { kind } = batch;
      const layout = LAYOUTS[kind];
      const folds = foldsOf(batch);
      const there = await joinKnown(database, layout, folds);
      const given: Fold[] = [];
      for (const fold of folds.values()) {
        const { counted: of } = fold.joined;
        counted.new += of.new;
        counted.changed += of.changed;
        counted.unchanged += of.unchanged;
        if (of.new + of.changed > 0) given.push(fold);
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
  const entities = changed.map((fold) => entityOf(fields, fold));
  const put: unknown[] = [];
  const dropped: unknown[] = [];
  for (const fold of changed) {
    const there = known.get(fold.id);
    for (const { from, to } of rechunk(fold.joined.points, layout.counts.size, there)) {
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
  fields: readonly string[],
  { id, joined: { description, newest } }: Fold,
): unknown[] {
  const username = description["username"]?.value;
  const row: unknown[] = [
    id,
    username === undefined ? null : foldCase(String(username)),
    newest.at,
    ...newest.counts,
  ];
  for (const name of fields) {
    const given = description[name];
    row.push(given?.value ?? null, given?.at ?? null);
  }
  return row;
}

/** Chunks, and the one in whose place they come if it has to go. */
interface Rechunked {
  readonly from?: Chunk;
  readonly to: readonly Chunk[];
}

/** The chunks that hold what came in, those among them that it changed. */
function rechunk(points: Iterable<Point>, width: number, there: There | undefined): Rechunked[] {
  if (there === undefined) return [{ to: pack(points, width) }];
  if (there.isContinued) return [{ to: pack(points, width, there.chunks.at(-1)) }];
  const parts = there.chunks.map((from) => ({ from, points: [] as Point[] }));
  let part = 0;
  for (const point of points) {
    while (point.at >= (there.chunks[part + 1]?.[0] ?? Infinity)) part++;
    // The point is lent.
    parts[part]?.points.push({ at: point.at, counts: [...point.counts] });
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
