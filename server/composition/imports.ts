/** Creates the importers of requests, commands and collectors, whose work is counted and traced. */
import type { Span } from "@opentelemetry/api";
import type { OutcomeCounts } from "../../core/entities.ts";
import type { ImportResult } from "../../core/stores.ts";
import type { Database } from "../store/database/database.ts";
import { createBatchImporter, createImporter } from "../store/observations/import.ts";
import { addValue, createHistogram } from "../telemetry/histogram.ts";
import { traceWork } from "../telemetry/tracing.ts";
import { createChangeSignal } from "./figures.ts";

/** The upper bounds of the duration buckets, in seconds: collectors import little, people much. */
const BUCKET_BOUNDS_S = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600];

/** What became of the observations of an import. Only an import of lines can reject some. */
interface ImportOutcome extends OutcomeCounts {
  readonly causes?: ImportResult["causes"];
}

const countRejected = ({ causes = [] }: ImportOutcome): number =>
  causes.reduce((sum, { lines }) => sum + lines, 0);

type EntityDatabase = Readonly<Record<"entities", Database>>;

/** @param collected The database of the collector, whose writes need its role. */
export function createImporters(
  { entities }: EntityDatabase,
  collected: EntityDatabase,
  now: () => number,
  options: Parameters<typeof createImporter>[2],
) {
  const { counts, changes, track } = createTracker();
  return {
    counts,
    changes,
    importObservations: track(createImporter(entities, now, options)),
    importCollected: track(createImporter(collected.entities, now, options)),
    importBatches: track(createBatchImporter(entities, options)),
  };
}

function createTracker() {
  const lines = { new: 0, changed: 0, unchanged: 0, rejected: 0 };
  const durations = createHistogram(BUCKET_BOUNDS_S);
  const changes = createChangeSignal();
  let running = 0;

  async function run<Result extends ImportOutcome>(
    work: () => Promise<Result>,
    span: Span | undefined,
  ): Promise<Result> {
    const startedAt = performance.now();
    running++;
    changes.notify();
    try {
      const result = await work();
      const counts = { ...result, rejected: countRejected(result) };
      for (const outcome of ["new", "changed", "unchanged", "rejected"] as const) {
        lines[outcome] += counts[outcome];
        span?.setAttribute(`creator_metrics.import.${outcome}`, counts[outcome]);
      }
      return result;
    } finally {
      running--;
      changes.notify();
      addValue(durations, (performance.now() - startedAt) / 1000);
    }
  }

  return {
    counts: { lines: lines as Readonly<typeof lines>, durations, countRunning: () => running },

    /** At the start and the end of each import. */
    changes,

    /** Returns the same importer, whose calls are counted and traced. */
    track:
      <Input, Result extends ImportOutcome>(importInput: (input: Input) => Promise<Result>) =>
      (input: Input): Promise<Result> =>
        traceWork("import", (span) => run(() => importInput(input), span)),
  };
}
