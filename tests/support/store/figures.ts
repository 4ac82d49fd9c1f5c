/** Computes all stale figures, as a service does in the background within seconds. */
import type { Database } from "../../../server/store/database/database.ts";
import { refreshFigures } from "../../../server/store/figures/refresh.ts";

/** Computes all figures that are stale. @returns How many entities were computed. */
export async function refreshAllFigures(database: Database): Promise<number> {
  let computed = 0;
  for await (const step of refreshFigures(database)) computed += step;
  return computed;
}
