/** Prometheus counters and gauges whose values are read at each scrape from parts of the service. */
import { Counter, Gauge, type Registry } from "prom-client";

/** The values of a metric by its labels: counts, or for a metric without labels, one number. */
export type ReadValue = number | undefined | Iterable<LabelledValue>;

export interface LabelledValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ReadMetric {
  /** Ends in `_total` exactly if the metric is a counter. */
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  /** Returns `undefined` if the value is not known, and the scrape then has none. */
  read(): ReadValue;
}

export function registerMetric(
  registry: Registry,
  { name, help, labelNames = [], read }: ReadMetric,
): void {
  const Metric = name.endsWith("_total") ? Counter : Gauge;
  const metric: Counter | Gauge = new Metric({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      // So that no label stays that is gone.
      metric.reset();
      const values = read();
      // Without labels, a reset metric has the value 0.
      if (labelNames.length === 0 && values === undefined) metric.remove();
      else if (typeof values === "number") metric.inc(values);
      else for (const { labels, value } of values ?? []) metric.inc(labels, value);
    },
  });
}

/** Turns counts by the values of a label into values of a metric. */
export const labelCounts = (
  label: string,
  counts: Readonly<Record<string, number>> | undefined,
): LabelledValue[] =>
  Object.entries(counts ?? {}).map(([name, value]) => ({ labels: { [label]: name }, value }));
