/** A metric of the notices about low balances. */
import { Gauge, type Registry } from "prom-client";
import type { NoticeStore } from "../../store/accounts/notices.ts";
import { createSnapshot } from "./snapshot.ts";

/** Registers the metric; returns the snapshot that it is read from. */
export function createNoticeMetrics(
  registry: Registry,
  countUndelivered: NoticeStore["countUndelivered"],
  now: () => number,
) {
  const snapshot = createSnapshot(countUndelivered, now);
  const gauge: Gauge = new Gauge({
    name: "undelivered_notices",
    help: "Notices about low balances by state: pending ones are tried again, failed ones are not",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(snapshot.value() ?? {})) {
        gauge.set({ state }, count);
      }
    },
  });
  return snapshot;
}
