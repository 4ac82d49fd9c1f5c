/** What is there already of the entities that observations come in of. */
import type { Row } from "@libsql/client";
import { KINDS } from "../../core/kinds.ts";
import type { Counts, Description, FieldValue } from "../../core/observations.ts";
import { instantsOf } from "./batches.ts";
import { unpack, type Chunk, type Point } from "./chunks.ts";
import type { Database } from "./database.ts";
import { joinIncoming, type Fold } from "./folds.ts";
import { element } from "./json.ts";
import { chunksWhere, startBefore, valueIn, type Layout } from "./layout.ts";

/** What is there of an entity. */
export interface There {
  readonly key: number;
  /** Whether all that came in is newer than all that is there. */
  readonly isContinued: boolean;
  /** The last chunk if it is continued, else those that something of what came in lies in. */
  readonly chunks: readonly Chunk[];
}

/**
 * Joins what came in with what is there. An observation that is newer than all of its entity is
 * new, whatever was known of it; for the others, what describes their entity and the chunks that
 * they lie in are read.
 *
 * @returns What is there of those entities that are known.
 */
export async function joinKnown(
  database: Database,
  layout: Layout,
  folds: ReadonlyMap<string, Fold>,
): Promise<ReadonlyMap<string, There>> {
  const firsts = Array.from(folds.values(), ({ id, incoming }) => [
    id,
    instantsOf(incoming).reduce((first, instant) => Math.min(first, instant)),
  ]);
  const known =
    (await database.document<[string, number, Chunk | null][]>(selectKnown(layout), [
      JSON.stringify(firsts),
    ])) ?? [];
  const there = new Map<string, There>();
  const late = new Map<number, Fold>();
  for (const [id, key, last] of known) {
    const fold = folds.get(id);
    if (last !== null) there.set(id, { key, isContinued: true, chunks: [last] });
    else if (fold !== undefined) late.set(key, fold);
  }
  if (late.size === 0) return there;
  const descriptions = await readDescriptions(
    database,
    layout,
    Array.from(late.values(), ({ id }) => id),
  );
  for (const [key, chunks] of await readTouched(database, layout, late)) {
    const fold = late.get(key);
    if (fold === undefined) continue;
    const points = new Map(
      unpack(chunks, layout.counts.size).map(({ at, counts }) => [at, countsOf(layout, counts)]),
    );
    const description = descriptions.get(fold.id) ?? {};
    fold.joined = joinIncoming(fold.incoming, { description, points });
    there.set(fold.id, { key, isContinued: false, chunks });
  }
  return there;
}

/**
 * Selects entities that are known: identifier, key, and the last chunk where it is older than an
 * instant.
 *
 * Its one argument is a JSON array of arrays: identifier and instant.
 */
function selectKnown({ entities, histories, owner }: Layout): string {
  return (
    "SELECT json_group_array(json_array(e.id, e.key, CASE WHEN e.observed_at < " +
    `${element(1, "given.value")} THEN (SELECT json_array(start, size, points) ` +
    `FROM ${histories} WHERE ${owner} = e.key ORDER BY start DESC LIMIT 1) END)) ` +
    `FROM json_each(?) AS given CROSS JOIN ${entities} AS e ON e.id = ${element(0, "given.value")} ` +
    "WHERE e.observed_at IS NOT NULL"
  );
}

/** Reads the chunks that something of what came in lies in, by the key of the entity. */
async function readTouched(
  database: Database,
  layout: Layout,
  folds: ReadonlyMap<number, Fold>,
): Promise<[number, Chunk[]][]> {
  const instants = Array.from(folds, ([key, { incoming }]) => [
    key,
    [...new Set(instantsOf(incoming))],
  ]);
  const key = element(0, "given.value");
  const touched =
    `SELECT ${startBefore(layout, key, "instant.value")} ` +
    "FROM json_each(given.value, '$[1]') AS instant";
  const found = await database.document<[number, Chunk[]][]>(
    `SELECT json_group_array(json_array(${key}, ` +
      `${chunksWhere(layout, key, `start IN (${touched})`)})) FROM json_each(?) AS given`,
    [JSON.stringify(instants)],
  );
  return found ?? [];
}

async function readDescriptions(
  database: Database,
  layout: Layout,
  ids: readonly string[],
): Promise<Map<string, Description>> {
  const columns = [...layout.described.values()].flatMap((column) => [
    `${valueIn(layout, column, "e")} AS ${column}`,
    `${column}_at`,
  ]);
  const rows = await database.select({
    sql:
      `SELECT id, ${columns.join(", ")} FROM ${layout.entities} AS e ` +
      "WHERE id IN (SELECT value FROM json_each(?))",
    args: [JSON.stringify(ids)],
  });
  return new Map(rows.map((row) => [String(row["id"]), descriptionOf(layout, row)]));
}

/** The description that an entity's row holds. */
export function descriptionOf(
  layout: Layout,
  row: Readonly<Record<string, Row[0] | undefined>>,
): Description {
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

/** Counts by the names of their fields, from the order in which they are packed. */
export function countsOf(layout: Layout, packed: Point["counts"]): Counts {
  const counts: Record<string, number | null> = {};
  let place = 0;
  for (const field of layout.counts.keys()) counts[field] = packed[place++] ?? null;
  return counts;
}
