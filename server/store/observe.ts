/**
 * Observations into the database: as one transaction, in any order, any number of times.
 *
 * The join of the domain decides what is new; the statements join once more in SQL, so two
 * processes that write at once lose nothing either.
 */
import type { Row } from "@libsql/client";
import { KIND_NAMES, KINDS, type Kind } from "../../core/kinds.ts";
import {
  type Counts,
  type Description,
  type FieldValue,
  type Observation,
} from "../../core/observations.ts";
import { foldCase } from "../../core/text.ts";
import type { Database } from "./database.ts";
import { tellChanges, type ChangedFold } from "./changes.ts";
import {
  FIND_SPELLINGS,
  FORGET_SPELLINGS,
  LAYOUTS,
  lendKeys,
  refreshPresent,
  upsertEntities,
  upsertObservations,
  type Layout,
} from "./layout.ts";
import { element } from "./json.ts";
import { foldIncoming, foldsOf, nothingKnown, type Fold, type Observed } from "./folds.ts";

type Statement = { readonly sql: string; readonly args: string[] };

/** What came in of a kind, and what is to be written if nothing of it was known. */
interface Batch {
  readonly kind: Kind;
  readonly folds: ReadonlyMap<string, Fold>;
  readonly statements: readonly Statement[];
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
    for (const known of folds.values()) foldIncoming(known);
    return folds.size === 0
      ? []
      : [{ kind, folds, statements: writesOf(LAYOUTS[kind], [...folds.values()]) }];
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
  const counted = { new: 0, changed: 0, unchanged: 0 };
  const statements: Statement[] = [];
  const changed: ChangedFold[] = [];
  for (const { kind, folds, statements: prepared } of batches) {
    const isKnown = await readKnown(database, LAYOUTS[kind], folds);
    const all = [...folds.values()];
    for (const { counted: of } of all) {
      counted.new += of.new;
      counted.changed += of.changed;
      counted.unchanged += of.unchanged;
    }
    const given = isKnown ? all.filter((known) => known.given.size > 0) : all;
    if (given.length === 0) continue;
    changed.push(...given.map(({ id, description }) => ({ kind, id, description })));
    statements.push(...(isKnown ? writesOf(LAYOUTS[kind], given) : prepared));
  }
  if (statements.length > 0) {
    const told = tellChanges(changed);
    await database.write([...told, ...statements], { isRelaxed: true, isRepeatable: true });
  }
  return counted;
}

/**
 * Reads what decides whether an observation is new. One that is newer than all of its entity is,
 * whatever the entity's row says; for the others, the row and the instants in question are read,
 * and what came in of their entities is folded into that.
 *
 * @returns Whether there are others.
 */
async function readKnown(
  database: Database,
  layout: Layout,
  folds: ReadonlyMap<string, Fold>,
): Promise<boolean> {
  const newest = await readNewest(database, layout, [...folds.keys()]);
  const late: Observation[] = [];
  const lateFolds = new Map<string, Fold>();
  for (const [id, at] of newest) {
    const known = folds.get(id);
    for (const observation of known?.incoming ?? []) {
      if (observation.observedAt > at) continue;
      late.push(observation);
      if (known !== undefined) lateFolds.set(id, Object.assign(known, nothingKnown()));
    }
  }
  if (late.length === 0) return false;
  await readDescriptions(database, layout, folds, [...lateFolds.keys()]);
  await readPoints(database, layout, folds, late);
  for (const known of lateFolds.values()) foldIncoming(known);
  return true;
}

async function readNewest(
  database: Database,
  { entities }: Layout,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await select(
    database,
    `SELECT id, observed_at FROM ${entities} WHERE observed_at IS NOT NULL ` +
      "AND id IN (SELECT value FROM json_each(?))",
    ids,
  );
  return new Map(rows.map((row) => [String(row["id"]), Number(row["observed_at"])]));
}

async function readDescriptions(
  database: Database,
  layout: Layout,
  folds: ReadonlyMap<string, Fold>,
  ids: readonly string[],
): Promise<void> {
  const columns = [...layout.described.values()].flatMap((column) => [
    layout.kind === "short" && column === "channel"
      ? "(SELECT id FROM channels WHERE key = channel) AS channel"
      : column,
    `${column}_at`,
  ]);
  const rows = await select(
    database,
    `SELECT id, ${columns.join(", ")} FROM ${layout.entities} ` +
      "WHERE id IN (SELECT value FROM json_each(?))",
    ids,
  );
  for (const row of rows) {
    const known = folds.get(String(row["id"]));
    if (known !== undefined) known.description = descriptionOf(layout, row);
  }
}

/** The description that an entity's row holds. */
export function descriptionOf(layout: Layout, row: Row): Description {
  const types: Readonly<Record<string, string>> = KINDS[layout.kind].described;
  const description: Record<string, { value: FieldValue; at: number }> = {};
  for (const [field, column] of layout.described) {
    const at = row[`${column}_at`];
    const value = row[column];
    if (typeof at !== "number") continue;
    if (typeof value !== "string" && typeof value !== "number") continue;
    description[field] = { value: types[field] === "boolean" ? value === 1 : value, at };
  }
  return description;
}

async function readPoints(
  database: Database,
  layout: Layout,
  folds: ReadonlyMap<string, Fold>,
  late: readonly Observation[],
): Promise<void> {
  const counts = [...layout.counts.values()].map((column) => `o.${column}`);
  const rows = await select(
    database,
    `SELECT e.id AS id, ${["o.at AS at", ...counts].join(", ")} FROM json_each(?) ` +
      `CROSS JOIN ${layout.entities} AS e ON e.id = ${element(0)} ` +
      `CROSS JOIN ${layout.observations} AS o ON o.${layout.owner} = e.key AND o.at = ${element(1)}`,
    late.map(({ entity, observedAt }) => [entity, observedAt]),
  );
  for (const row of rows) {
    folds.get(String(row["id"]))?.points.set(Number(row["at"]), countsOf(layout, row));
  }
}

/** The counts that a row of observations holds. */
export function countsOf(layout: Layout, row: Row): Counts {
  const counts: Record<string, number | null> = {};
  for (const [field, column] of layout.counts) {
    const count = row[column];
    counts[field] = typeof count === "number" ? count : null;
  }
  return counts;
}

function writesOf(layout: Layout, changed: readonly Fold[]): Statement[] {
  const isGiven = new Set<string>();
  for (const { incoming } of changed) {
    for (const { described } of incoming) for (const name in described) isGiven.add(name);
  }
  const fields = Array.from(layout.described.keys()).filter((name) => isGiven.has(name));
  const counts = [...layout.counts.keys()];
  const entities = changed.map(({ id, description, newestGiven }) => {
    const username = description["username"]?.value;
    return [
      id,
      newestGiven,
      username === undefined ? null : foldCase(String(username)),
      ...fields.flatMap((name) => [
        description[name]?.value ?? null,
        description[name]?.at ?? null,
      ]),
    ];
  });
  const points = changed.map(({ id, given, points: all }) => [
    id,
    sorted(given).map((at) => {
      const point: (number | null)[] = [at];
      for (const name of counts) point.push(all.get(at)?.[name] ?? null);
      return point;
    }),
  ]);
  const ids = changed.map(({ id }) => id);
  return [
    ...namedBy(layout.kind, changed),
    statement(upsertEntities(layout, fields), entities),
    statement(upsertObservations(layout), points),
    statement(refreshPresent(layout), ids),
    ...(layout.kind === "tweet" ? [{ sql: FIND_SPELLINGS, args: [] }] : []),
  ];
}

function sorted(instants: ReadonlySet<number>): number[] {
  return [...instants].toSorted((a, b) => a - b);
}

/** What must be there before the entities of a batch: the channels and users that they name. */
function namedBy(kind: Kind, folds: readonly Fold[]): Statement[] {
  if (kind === "short") {
    const ids = folds.map(({ description }) => description["channel"]?.value ?? null);
    return [statement(lendKeys(LAYOUTS.channel), ids)];
  }
  if (kind === "tweet") {
    const names = folds.map(({ description }) => foldCase(String(description["username"]?.value)));
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

function select(database: Database, sql: string, rows: readonly unknown[]): Promise<Row[]> {
  return database.select(statement(sql, rows));
}
