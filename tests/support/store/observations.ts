/** Writes observations without the lines that an import parses. */
import type { OutcomeCounts } from "../../../core/entities.ts";
import type { Observation } from "../../../core/observations.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { createBatchBuilder } from "../../../server/observation-batches/observation-batch.ts";
import { writeBatches } from "../../../server/store/observations/write.ts";

/** Writes observations as one transaction; returns how many were new, changed or unchanged. */
export function writeObservations(
  database: Database,
  observations: readonly Observation[],
): Promise<OutcomeCounts> {
  const builder = createBatchBuilder();
  for (const observation of observations) builder.add(observation);
  return writeBatches(database, builder.build());
}
