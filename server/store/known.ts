/** What is there already of the entities that observations come in of. */
import type { Row } from "@libsql/client";
import { KINDS } from "../../core/kinds.ts";
import type { Counts, Description, FieldValue, Observation } from "../../core/observations.ts";
import { unpack, type Chunk, type Point } from "./chunks.ts";
import type { Database } from "./database.ts";
import { joinIncoming, type Fold } from "./folds.ts";
import { element } from "./json.ts";
import { chunksWhere, startBefore, type Layout } from "./layout.ts";

/** What is there of an entity: its key, and the chunks that what came in belongs to. */
export interface KnownChunks {
  readonly key: number;
  readonly chunks: readonly Chunk[];
  /** Whether all that came in comes after them. */
  readonly isContinued: boolean;
}

/**
 * Reads what decides whether an observation is new. One that is newer than all of its entity is,
 * whatever was known of it; for the others, the entity's row and the points in question are read,
 * and what came in of their entities is folded into that.
 */
export async function readKnown(
  database: Database,
  layout: Layout,
  folds: ReadonlyMap<string, Fold>,
): Promise<ReadonlyMap<string, KnownChunks>> {
  const all = new Map<string, KnownChunks>();
  const spans = Array.from(folds.values(), ({ id, incoming }) => [id, ...spanOf(incoming)]);
  const found = await database.document<[string, number, number, Chunk[]][]>(knownChunks(layout), [
    JSON.stringify(spans),
  ]);
  const late: [Fold, readonly Chunk[]][] = [];
  for (const [id, key, observedAt, chunks] of found ?? []) {
    const fold = folds.get(id);
    if (fold === undefined) continue;
    const isContinued = fold.incoming.every((observation) => observation.observedAt > observedAt);
    all.set(id, { key, chunks, isContinued });
    if (!isContinued) late.push([fold, chunks]);
  }
  if (late.length === 0) return all;
  const descriptions = await readDescriptions(
    database,
    layout,
    late.map(([{ id }]) => id),
  );
  for (const [fold, chunks] of late) {
    const points = unpack(chunks, layout.counts.size).map(({ at, counts }) => ({
      observedAt: at,
      counts: countsOf(layout, counts),
    }));
    const description = descriptions.get(fold.id) ?? {};
    fold.joined = joinIncoming(fold.incoming, { description, points });
  }
  return all;
}

/** The first and the last instant that came in. */
function spanOf(incoming: readonly Observation[]): [number, number] {
  let [first, last] = [Infinity, -Infinity];
  for (const { observedAt } of incoming) {
    first = Math.min(first, observedAt);
    last = Math.max(last, observedAt);
  }
  return [first, last];
}

/**
 * Reads entities that are known, and the chunks that a span of time lies in.
 *
 * Its one argument is a JSON array of arrays: identifier, first and last instant.
 */
function knownChunks(layout: Layout): string {
  const { entities } = layout;
  const first = startBefore(layout, "e.key", element(1, "given.value"));
  const last = `max(${element(2, "given.value")}, ${first})`;
  const chunks = chunksWhere(layout, "e.key", `start BETWEEN ${first} AND ${last}`);
  return (
    `SELECT json_group_array(json_array(e.id, e.key, e.observed_at, ${chunks})) ` +
    `FROM json_each(?) AS given CROSS JOIN ${entities} AS e ON e.id = ${element(0, "given.value")} ` +
    "WHERE e.observed_at IS NOT NULL"
  );
}

async function readDescriptions(
  database: Database,
  layout: Layout,
  ids: readonly string[],
): Promise<Map<string, Description>> {
  const columns = [...layout.described.values()].flatMap((column) => [
    layout.kind === "short" && column === "channel"
      ? "(SELECT id FROM channels WHERE key = channel) AS channel"
      : column,
    `${column}_at`,
  ]);
  const rows = await database.select({
    sql:
      `SELECT id, ${columns.join(", ")} FROM ${layout.entities} ` +
      "WHERE id IN (SELECT value FROM json_each(?))",
    args: [JSON.stringify(ids)],
  });
  return new Map(rows.map((row) => [String(row["id"]), descriptionOf(layout, row)]));
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

/** Counts by the names of their fields, from the order in which they are packed. */
export function countsOf(layout: Layout, packed: Point["counts"]): Counts {
  const counts: Record<string, number | null> = {};
  let place = 0;
  for (const field of layout.counts.keys()) counts[field] = packed[place++] ?? null;
  return counts;
}
