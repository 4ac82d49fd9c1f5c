/** The metrics of a service, after it did something that they count. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createEventLoopSampler } from "../../../server/http/metrics/event-loop-delay.ts";
import { createSnapshot } from "../../../server/http/metrics/snapshot.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ DURABILITY: "power" });
});
afterAll(() => service.close());

async function readMetrics(): Promise<Map<string, number>> {
  const text = await (await service.send("/metrics")).text();
  return new Map(
    Array.from(text.matchAll(/^(?:creator_metrics_)?(\S+(?:\{.*\})?) (\S+)$/gm), (match) => [
      match[1] ?? "",
      Number(match[2]),
    ]),
  );
}

/** What an action adds to metrics. */
async function measure(names: readonly string[], act: () => Promise<unknown>) {
  const before = await readMetrics();
  await act();
  const after = await readMetrics();
  return names.map((name) => (after.get(name) ?? Number.NaN) - (before.get(name) ?? Number.NaN));
}

describe("GET /metrics", () => {
  test("counts commits with their requests, and the syncs of durability power", async () => {
    const names = [
      "commit_duration_seconds_count",
      "commit_requests_sum",
      "database_syncs_total",
      "commit_failures_total",
      'debit_batches_total{committed_by="process"}',
    ];
    const read = () => service.get("/api/video/nobody/details");
    expect(await measure(names, read)).toEqual([1, 1, 1, 0, 1]);
    const [commits = 0, requests = 0, syncs = 0] = await measure(names, () =>
      Promise.all(Array.from({ length: 40 }, read)),
    );
    // Those that arrive together share commits, whose number depends on the machine.
    expect([requests, syncs]).toEqual([40, commits]);
    expect(commits).toBeLessThan(40);
  });

  test("counts a read as a miss, the next one as a hit, and the size of the response", async () => {
    await service.observe({
      kind: "channel",
      observedAt: "2026-11-20T10:00:00Z",
      id: "UC1",
      username: "soup",
    });
    const names = [
      'cache_reads_total{result="miss"}',
      'cache_reads_total{result="hit"}',
      "cache_entries",
    ];
    const read = () => service.get("/api/video/soup/details");
    expect(await measure(names, read)).toEqual([1, 0, 1]);
    expect(await measure(names, read)).toEqual([0, 1, 0]);
    expect((await readMetrics()).get("cache_bytes")).toBeGreaterThan(100);
  });

  test("counts the lines of an import by what became of them", async () => {
    const observation = { kind: "user", observedAt: "2026-11-20T10:00:00Z", username: "nasa" };
    const names = ["new", "changed", "unchanged", "rejected"]
      .map((result) => `import_lines_total{result="${result}"}`)
      .concat("import_duration_seconds_count", "imports_running");
    const first = { ...observation, followers_count: 1 };
    expect(await measure(names, () => service.observe(first))).toEqual([1, 0, 0, 0, 1, 0]);
    const lines = [first, { ...observation, followers_count: 2 }, { kind: "none" }];
    expect(await measure(names, () => service.observe(...lines))).toEqual([0, 1, 1, 1, 1, 0]);
  });

  test("has the sizes of the database file and its disk, and the files of the spool", async () => {
    const spool = join(service.folder, "spool");
    await mkdir(spool, { recursive: true });
    await Bun.write(join(spool, "1-a.refunds"), "abc");
    await Bun.write(join(spool, "2-b.refunds.damaged"), "de");
    await Bun.write(join(spool, "other"), "of someone else");
    const metrics = await readMetrics();
    expect(metrics.get("database_file_bytes")).toBeGreaterThan(1000);
    expect(metrics.get("database_wal_bytes")).toBeGreaterThan(1000);
    expect(metrics.get("database_free_bytes")).toBeGreaterThan(0);
    expect(metrics.get('spool_files{state="pending"}')).toBe(1);
    expect(metrics.get('spool_files{state="damaged"}')).toBe(1);
    expect(metrics.get("spool_bytes")).toBe(5);
    expect(metrics.has("unpublished_changes")).toBe(false);
  });

  test("has nothing that waits, once every request is answered", async () => {
    const metrics = await readMetrics();
    const waiting = ['queued_requests{queue="debit"}', 'queued_requests{queue="read"}'];
    expect(waiting.concat("pending_refunds").map((name) => metrics.get(name))).toEqual([0, 0, 0]);
  });
});

describe("createEventLoopSampler()", () => {
  test("counts a delay of the event loop after a request, and no sample before", async () => {
    const { delays, wake } = createEventLoopSampler();
    const countFrom = (bound: number) =>
      delays.counts.slice(delays.bounds.indexOf(bound) + 1).reduce((sum, count) => sum + count, 0);
    const count = () => delays.counts.reduce((sum, bucket) => sum + bucket, 0);
    await Bun.sleep(50);
    expect(count()).toBe(0);
    wake();
    const until = performance.now() + 150;
    while (performance.now() < until);
    await waitUntil(() => count() > 0);
    expect(countFrom(0.1)).toBeGreaterThan(0);
    // It ends by itself: 50 samples after the last request.
    await waitUntil(() => count() === 50);
    await Bun.sleep(60);
    expect(count()).toBe(50);
  });
});

describe("createSnapshot()", () => {
  test("keeps the last value while a read fails, and reads at most once in its time", async () => {
    const clock = { now: 0 };
    const results: (() => Promise<number>)[] = [
      async () => 1,
      () => Promise.reject(new Error("away")),
      async () => 2,
    ];
    const snapshot = createSnapshot(
      () => results.shift()?.() ?? Promise.reject(),
      () => clock.now,
      10,
    );
    const valueAt = async (now: number) => {
      clock.now = now;
      await snapshot.update();
      return [snapshot.value(), snapshot.ageMs()];
    };
    expect(await valueAt(0)).toEqual([1, 0]);
    expect(await valueAt(9)).toEqual([1, 9]);
    expect(await valueAt(10)).toEqual([1, 10]);
    expect(await valueAt(11)).toEqual([2, 0]);
  });
});
