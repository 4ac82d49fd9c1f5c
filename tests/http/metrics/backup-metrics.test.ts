/** The metrics of scheduled backups. */
import { describe, expect, test } from "bun:test";
import { createBackupMetrics } from "../../../server/http/metrics/backup-metrics.ts";

const NOW = Date.parse("2026-11-20T03:00:00Z");

describe("creator_metrics_backup_age_seconds", () => {
  test.each([
    ["is the age of the newest backup", NOW - 90_000, 90],
    ["is 0 of one that begins now", NOW, 0],
    ["is absent without one", undefined, undefined],
    ["is absent if the newest one is of a clock that was ahead", NOW + 90_000, undefined],
  ])("%s", (_, newestAt, age) => {
    const status = { newestAt, results: {}, last: undefined };
    const metrics = createBackupMetrics({
      backups: { readScheduled: () => status },
      now: () => NOW,
    });
    const metric = metrics.find(({ name }) => name === "creator_metrics_backup_age_seconds");
    expect(metric?.read()).toBe(age);
  });
});
