/** Counts, measures and traces the commits of debits and refunds. */
import { addValue, createHistogram } from "../telemetry/histogram.ts";
import {
  createSpanContext,
  endWith,
  isTracing,
  runInSpan,
  startSpan,
} from "../telemetry/tracing.ts";
import type { Batch } from "./group-commit.ts";

/** The upper bounds of the buckets: of the time in seconds, and of the debits and refunds. */
const DURATION_BOUNDS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const REQUEST_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export type CommitCounts = ReturnType<typeof createCommitObserver>["counts"];

export function createCommitObserver() {
  const counts = {
    durations: createHistogram(DURATION_BOUNDS_S),
    requests: createHistogram(REQUEST_BOUNDS),
    failures: 0,
  };
  return {
    counts: counts as Readonly<typeof counts>,

    async observe<Result>(
      uid: string,
      batch: TracedBatch,
      commit: () => Promise<Result>,
    ): Promise<Result> {
      const startedAt = performance.now();
      try {
        return await traceCommit(uid, batch, commit);
      } catch (error) {
        counts.failures++;
        throw error;
      } finally {
        addValue(counts.durations, (performance.now() - startedAt) / 1000);
        addValue(counts.requests, batch.debits.length + batch.refunds.length);
      }
    },
  };
}

type TracedBatch = Pick<Batch, "debits" | "refunds">;

/**
 * Runs a commit in a span. It is in the trace of the first debit, so that it is sampled as that one
 * is, and has links to all others. Each debit has a link to it, and the identifier of the commit.
 */
function traceCommit<Result>(
  uid: string,
  { debits, refunds }: TracedBatch,
  commit: () => Promise<Result>,
): Promise<Result> {
  if (!isTracing()) return commit();
  const spans = debits.flatMap(({ span }) => (span?.isRecording() === true ? [span] : []));
  const [first, ...others] = spans;
  if (first === undefined) return commit();
  const attributes = {
    "creator_metrics.commit.id": uid,
    "creator_metrics.commit.debits": debits.length,
    "creator_metrics.commit.refunds": refunds.length,
  };
  const links = others.map((span) => ({ context: span.spanContext() }));
  const commitSpan = startSpan("commit", { attributes, links }, createSpanContext(first));
  if (commitSpan === undefined) return commit();
  for (const span of spans) {
    span.setAttribute("creator_metrics.commit.id", uid);
    span.addLink({ context: commitSpan.spanContext() });
  }
  return endWith(commitSpan, runInSpan(commitSpan, commit));
}
