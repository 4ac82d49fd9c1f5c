/** What the administrator's page computes from the metrics of the service. */
import { describe, expect, test } from "bun:test";
import {
  estimateQuantile,
  parseMetrics,
  subtractCounts,
} from "../../server/pages/admin/metrics.ts";
import { startTestService } from "../support/service.ts";

const BOUNDS = [0.01, 0.1, Infinity];

describe("estimateQuantile()", () => {
  test.each([
    [[50, 100, 100], 0.5, 0.01],
    [[50, 100, 100], 0.75, 0.055],
    [[100, 100, 100], 0.5, 0.005],
    [[0, 100, 100], 0.99, 0.0991],
    [[0, 0, 4], 0.5, 0.1],
    [[0, 0, 0], 0.5, null],
    [[], 0.5, null],
  ])("buckets %j, share %p: %p s", (buckets, share, seconds) => {
    const estimate = estimateQuantile(BOUNDS, buckets, share);
    expect(estimate === null ? null : Math.round(estimate * 1e6) / 1e6).toBe(seconds);
  });
});

describe("parseMetrics() and subtractCounts()", () => {
  test("count the requests of a real service between two readings, but not the readings", async () => {
    const service = await startTestService();
    const read = async (at: number) =>
      parseMetrics(await (await fetch(`${service.address}/metrics`)).text(), at);
    await service.get("/api/video/channels");
    const before = await read(1000);
    for (let nth = 0; nth < 3; nth++) await service.get("/api/video/channels");
    await service.get("/api/video/channels?limit=x");
    await service.get("/api/video/nobody/details");
    const after = await read(3000);
    const channelsAfter = after.routes.get("/api/video/channels");
    if (channelsAfter === undefined) throw new Error("The route has no metrics");
    const channels = subtractCounts(channelsAfter, before.routes.get("/api/video/channels"));
    expect(channels).toMatchObject({ requests: 4, refused: 1, failed: 0 });
    expect(channels.buckets).toHaveLength(after.boundsS.length);
    expect(channels.buckets.at(-1)).toBe(4);
    expect(subtractCounts(channelsAfter)).toEqual(channelsAfter);
    expect(after.boundsS.at(-1)).toBe(Infinity);
    expect(after.routes.has("/metrics")).toBe(false);
    const all = subtractCounts(after.total, before.total);
    expect([all.requests, all.refused, all.buckets.at(-1)]).toEqual([5, 2, 5]);
    expect(after.memoryBytes).toBeGreaterThan(1e6);
    expect(after.cpuSeconds).toBeGreaterThan(0);
    await service.close();
  });

  test("unescape nothing: a route with quotes and braces is one route", () => {
    const text = String.raw`http_requests_total{route="/a\"},b",method="GET",status="500"} 3`;
    const counts = [...parseMetrics(text, 0).routes.values()];
    expect(counts).toEqual([{ requests: 3, refused: 0, failed: 3, buckets: [] }]);
  });
});
