/** Measures how late the event loop runs a timer, but only while requests come. */
import { addValue, createHistogram } from "../../telemetry/histogram.ts";

/** The upper bounds of the buckets, in seconds. */
const BUCKET_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

const SAMPLE_MS = 20;

/** For so long it goes on after a request. An idle process has no timer. */
const SAMPLES_AFTER_REQUEST = 50;

export function createEventLoopSampler() {
  const delays = createHistogram(BUCKET_BOUNDS_S);
  let samplesLeft = 0;

  function schedule(): void {
    const dueAt = performance.now() + SAMPLE_MS;
    const sample = () => {
      // A timer can come a fraction of a millisecond early.
      addValue(delays, Math.max(0, performance.now() - dueAt) / 1000);
      samplesLeft--;
      if (samplesLeft > 0) schedule();
    };
    setTimeout(sample, SAMPLE_MS).unref();
  }

  return {
    delays,
    /** A request is served: samples for a second from now on. */
    wake(): void {
      const isRunning = samplesLeft > 0;
      samplesLeft = SAMPLES_AFTER_REQUEST;
      if (!isRunning) schedule();
    },
  };
}
