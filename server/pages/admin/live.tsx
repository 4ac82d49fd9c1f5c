/** The request rate, the latency and the errors of the running service, from its metrics. */
import { useEffect, useState } from "preact/hooks";
import { Chart } from "../parts/chart.tsx";
import { formatExact } from "../format.ts";
import { Figures } from "../parts/figures.tsx";

/** How often the metrics are read, while the page is looked at. */
const PERIOD_MS = 2000;

/** How many readings the charts show. */
const READINGS_MAX = 150;

/** Totals since the start of the service. */
interface Totals {
  readonly at: number;
  readonly requests: number;
  readonly errors: number;
  readonly seconds: number;
}

/** What happened between two readings. */
interface Reading {
  readonly at: number;
  readonly perSecond: number;
  readonly errorsPerSecond: number;
  readonly meanMs: number | null;
}

/** Sums the samples of a metric in the text format of Prometheus. */
export function sumSamples(
  text: string,
  name: string,
  matches = (_labels: string) => true,
): number {
  let sum = 0;
  for (const line of text.split("\n")) {
    const [, metric, labels = "", value] = /^(\w+)(\{.*\})? (\S+)/.exec(line) ?? [];
    if (metric === name && matches(labels)) sum += Number(value);
  }
  return sum;
}

async function readTotals(): Promise<Totals> {
  const text = await (await fetch("/metrics")).text();
  return {
    at: Date.now(),
    requests: sumSamples(text, "http_requests_total"),
    errors: sumSamples(text, "http_requests_total", (labels) => /status="5/.test(labels)),
    seconds: sumSamples(text, "http_request_duration_seconds_sum"),
  };
}

function compareTotals(before: Totals, after: Totals): Reading {
  const seconds = (after.at - before.at) / 1000;
  const requests = after.requests - before.requests;
  return {
    at: after.at,
    perSecond: requests / seconds,
    errorsPerSecond: (after.errors - before.errors) / seconds,
    meanMs: requests === 0 ? null : ((after.seconds - before.seconds) / requests) * 1000,
  };
}

export function Live() {
  const [readings, setReadings] = useState<readonly Reading[]>([]);
  const [isFailing, setFailing] = useState(false);
  useEffect(() => {
    let before: Totals | undefined;
    const read = async () => {
      if (document.hidden) return;
      try {
        const after = await readTotals();
        // After a restart the totals begin again.
        if (before !== undefined && after.requests >= before.requests) {
          const reading = compareTotals(before, after);
          setReadings((all) => [...all, reading].slice(-READINGS_MAX));
        }
        before = after;
        setFailing(false);
      } catch {
        setFailing(true);
      }
    };
    void read();
    const timer = setInterval(() => void read(), PERIOD_MS);
    return () => clearInterval(timer);
  }, []);
  const last = readings.at(-1);
  const instants = readings.map(({ at }) => at);
  return (
    <section aria-labelledby="live">
      <h2 id="live">Now</h2>
      {isFailing && (
        <p role="alert" class="loss">
          The service does not answer.
        </p>
      )}
      <Figures
        items={[
          ["Requests a second", last === undefined ? "…" : formatExact(last.perSecond)],
          ["Mean time", last?.meanMs == null ? "–" : `${formatExact(last.meanMs)} ms`],
          ["Errors a second", last === undefined ? "…" : formatExact(last.errorsPerSecond)],
        ]}
      />
      {readings.length > 1 && (
        <Chart
          title="Requests a second"
          instants={instants}
          series={[
            { label: "Requests", values: readings.map(({ perSecond }) => perSecond) },
            { label: "Errors (5xx)", values: readings.map((reading) => reading.errorsPerSecond) },
          ]}
          getGapMs={() => 3 * PERIOD_MS}
          fileName="requests.csv"
        />
      )}
    </section>
  );
}
