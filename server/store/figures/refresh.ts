/** Computes stale figures in the background, in short steps. */
import { setTimeout as wait } from "node:timers/promises";
import { ENTITY_KINDS, type EntityKind } from "../../../core/kinds.ts";
import type { Database } from "../database/database.ts";
import { refreshItemFigures } from "./item-figures.ts";
import { refreshOwnerFigures } from "./owner-figures.ts";

const HAS_STALE = `SELECT json_quote(${ENTITY_KINDS.map(
  (kind) => `EXISTS (SELECT 1 FROM stale_${kind}_figures)`,
).join(" OR ")})`;

/**
 * Yields after each step: how many entities it computed. Returns once no figure is stale. The kinds
 * take turns, so that a long import of one does not keep the others waiting.
 */
export async function* refreshFigures(database: Database): AsyncGenerator<number, void> {
  if ((await database.queryJson<number>(HAS_STALE, [])) !== 1) return;
  const open = new Set<EntityKind>(ENTITY_KINDS);
  while (open.size > 0) {
    for (const kind of open) {
      const isItem = kind === "short" || kind === "tweet";
      const computed = isItem
        ? await refreshItemFigures(database, kind)
        : await refreshOwnerFigures(database, kind);
      if (computed === 0) open.delete(kind);
      else yield computed;
    }
  }
}

/**
 * Computes stale figures, with a pause after each step: as long as the step, times `pauseRatio`.
 *
 * @returns How many entities it computed; `undefined` if `shouldStop()` ended it.
 */
export async function refreshFiguresInBackground(
  database: Database,
  { pauseRatio, shouldStop }: { readonly pauseRatio: number; shouldStop(): boolean },
): Promise<number | undefined> {
  let total = 0;
  let startedAt = performance.now();
  for await (const computed of refreshFigures(database)) {
    if (shouldStop()) return undefined;
    total += computed;
    await wait((performance.now() - startedAt) * pauseRatio);
    startedAt = performance.now();
  }
  return total;
}
