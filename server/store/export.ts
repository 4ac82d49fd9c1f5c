/** All observations out of the database, as lines that an import takes. */
import type { Row } from "@libsql/client";
import { KIND_NAMES, KINDS, type Kind } from "../../core/kinds.ts";
import type { Description } from "../../core/observations.ts";
import { FIRST_INSTANT, formatInstant } from "../../core/time.ts";
import type { Database } from "./database.ts";
import { LAYOUTS, type Layout } from "./layout.ts";
import { countsOf, descriptionOf } from "./observe.ts";

/** What is exported: all kinds or one, from the beginning or since an instant. */
export interface ExportOptions {
  readonly kind?: Kind | undefined;
  /** Milliseconds since 1970 UTC, included. */
  readonly since?: number | undefined;
}

const PAGE_ROWS = 2000;

/**
 * Reads all observations, by kind, entity and instant, in constant memory.
 *
 * What describes an entity stands on the line of the instant it came from, or on the next one where
 * retention removed that; what every line must name (a short's channel, a username) stands on each:
 * imported again, they make the same state.
 */
export async function* exportObservations(
  database: Database,
  { kind, since }: ExportOptions,
): AsyncGenerator<Record<string, unknown>> {
  for (const name of kind === undefined ? KIND_NAMES : [kind]) {
    yield* exportKind(database, LAYOUTS[name], since ?? FIRST_INSTANT);
  }
}

async function* exportKind(
  database: Database,
  layout: Layout,
  since: number,
): AsyncGenerator<Record<string, unknown>> {
  const { observations, owner } = layout;
  let [key, at] = [0, Number.MIN_SAFE_INTEGER];
  for (;;) {
    const rows = await database.select({
      sql:
        `SELECT * FROM ${observations} WHERE (${owner}, at) > (?, ?) AND at >= ? ` +
        `ORDER BY ${owner}, at LIMIT ${PAGE_ROWS}`,
      args: [key, at, since],
    });
    const entities = await readEntities(database, layout, rows);
    for (const row of rows) {
      const isNext = Number(row[owner]) === key;
      const span = { after: isNext ? at : since - 1, at: Number(row["at"]) };
      key = Number(row[owner]);
      at = span.at;
      const entity = entities.get(key);
      if (entity !== undefined) yield lineOf(layout, entity, span, row);
    }
    if (rows.length < PAGE_ROWS) return;
  }
}

interface ExportedEntity {
  readonly id: string;
  readonly description: Description;
}

async function readEntities(
  database: Database,
  layout: Layout,
  rows: readonly Row[],
): Promise<Map<number, ExportedEntity>> {
  const keys = [...new Set(rows.map((row) => Number(row[layout.owner])))];
  const channelId =
    layout.kind === "short" ? ", (SELECT id FROM channels WHERE key = channel) AS channel_id" : "";
  const entities = await database.select({
    sql: `SELECT *${channelId} FROM ${layout.entities} WHERE key IN (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(keys)],
  });
  return new Map(
    entities.map((row) => {
      const named = layout.kind === "short" ? { ...row, channel: row["channel_id"] ?? null } : row;
      const description = descriptionOf(layout, named);
      return [Number(row["key"]), { id: String(row["id"]), description }] as const;
    }),
  );
}

/** @param span The instant of the line, and after which one it tells what describes the entity. */
function lineOf(
  layout: Layout,
  { id, description }: ExportedEntity,
  { after, at }: { readonly after: number; readonly at: number },
  row: Row,
): Record<string, unknown> {
  const { identity, described } = KINDS[layout.kind];
  const line: Record<string, unknown> = { kind: layout.kind, observedAt: formatInstant(at) };
  if (identity === "id") line["id"] = id;
  for (const [field, type] of Object.entries(described)) {
    const given = description[field];
    if (given === undefined) continue;
    if (type !== "identifier" && (given.at <= after || given.at > at)) continue;
    line[field] = type === "instant" ? formatInstant(Number(given.value)) : given.value;
  }
  for (const [field, count] of Object.entries(countsOf(layout, row))) {
    if (count !== null) line[field] = count;
  }
  return line;
}
