/** A histogram of Prometheus from histograms that parts of the service fill. */
import { Histogram as PrometheusHistogram, type Registry } from "prom-client";
import type { Histogram } from "../../telemetry/histogram.ts";

interface HistogramMetric {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

interface LabelledHistogram {
  readonly labels: Readonly<Record<string, string>>;
  readonly histogram: Histogram;
}

/** Registers a histogram, whose values are read at each scrape. */
export function registerHistogram(
  registry: Registry,
  metric: HistogramMetric,
  readHistograms: () => Iterable<LabelledHistogram>,
): void {
  const { name, help, labelNames = [] } = metric;

  const histogram = new PrometheusHistogram({ name, help, labelNames, registers: [registry] });
  Object.assign(histogram, {
    /** The registry of prom-client reads the samples here. */
    async getForPromString() {
      const values = Array.from(readHistograms(), (read) => createSamples(name, read)).flat();
      return { name, help, type: "histogram", values };
    },
  });
}

function createSamples(name: string, { labels, histogram }: LabelledHistogram) {
  const { bounds, counts, sum } = histogram;
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    const le = bounds[index] ?? "+Inf";
    return { labels: { le, ...labels }, value: total, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: total, metricName: `${name}_count` },
  ];
}
