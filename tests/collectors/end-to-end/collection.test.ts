/** The way of data from the monitoring list to the HTTP reads and the metrics. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import { handleOf, openFakeBluesky } from "../../support/platforms/fake-bluesky.ts";
import { first } from "../../support/platforms/first.ts";
import { createWorld, type World } from "../../support/platforms/world.ts";
import type { FakeServer } from "../../support/platforms/fake-server.ts";
import { retryWithin } from "../../support/wait.ts";
import { NOW, startTestService, type TestService } from "../../support/service.ts";

/** `/metrics` waits for the database for 100 ms only, so on a busy machine it can be late. */
const METRICS_WITHIN_MS = 15_000;

let world: World;
let bluesky: FakeServer;
let service: TestService;
beforeEach(async () => {
  world = createWorld({
    beganAt: NOW - 5 * DAY_MS,
    endsAt: NOW + 5 * DAY_MS,
    creators: 2,
    postsEach: 40,
  });
  const now = () => service.clock.now;
  bluesky = await openFakeBluesky({ world, now });
  service = await startTestService({ BLUESKY_API_URL: bluesky.baseUrl });
});
afterEach(async () => {
  await service.close();
  await bluesky.close();
});

const monitorCreator = async (creator: string) => {
  const response = await service.get("/api/creators", service.key, {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ platform: "microblog", creator }),
  });
  expect(response.status).toBe(201);
};

const fetchJson = async (path: string): Promise<Record<string, unknown>> => {
  const body: unknown = await (await service.get(path)).json();
  if (typeof body !== "object" || body === null)
    throw new Error(`${path} must answer with an object`);
  return { ...body };
};

describe("collection of creators", () => {
  test("GET /api/creators lists why one of three creators failed, and the others are served", async () => {
    const [creator0 = "", creator1 = ""] = world.users.map(handleOf);
    for (const creator of [creator0, creator1, "nobody.bsky.social"]) await monitorCreator(creator);
    await service.service.collecting.collect();
    for (const creator of [creator0, creator1]) {
      const path = `/api/microblog/${creator}`;
      expect(await fetchJson(`${path}/details`)).toMatchObject({ username: creator });
      const { tweets } = await fetchJson(`${path}/tweets?days=14`);
      expect(Object.keys(tweets ?? {}).length).toBeGreaterThan(10);
      expect(JSON.stringify(tweets)).toContain('"views":null');
      expect(JSON.stringify(await fetchJson(`${path}/followers?days=14`))).toContain(
        '"followers":',
      );
    }
    const { creators } = await fetchJson("/api/creators");
    const failed = { last_success: null, last_failure: new Date(NOW).toISOString() };
    expect(creators).toEqual([
      expect.objectContaining({ creator: creator0, failure: null, last_failure: null }),
      expect.objectContaining({ creator: creator1, failure: null, last_failure: null }),
      expect.objectContaining({ creator: "nobody.bsky.social", ...failed }),
    ]);
    expect(JSON.stringify(creators)).toContain("nobody.bsky.social");
  });

  test("GET /metrics has the work and the used quota, and does not change without work", async () => {
    for (const creator of [...world.users.map(handleOf), "nobody.bsky.social"]) {
      await monitorCreator(creator);
    }
    await service.service.collecting.collect();
    const readLines = async () => {
      const text = await (await service.send("/metrics")).text();
      const lines = text
        .split("\n")
        .filter((line) => line.startsWith("creator_metrics_collector_"));
      // The age of the figures always grows.
      return lines.filter(
        (line) => !line.startsWith("creator_metrics_collector_state_age_seconds"),
      );
    };
    const [source] = await service.service.collecting.sources();
    const { requests = 0, observations = 0, observed = 0, failed = 0 } = source?.work ?? {};
    expect(requests).toBe(bluesky.served());
    expect(Math.min(observations, observed, failed)).toBeGreaterThan(0);
    const once = await retryWithin(METRICS_WITHIN_MS, async () => {
      const lines = await readLines();
      expect(lines).toContain(
        `creator_metrics_collector_requests_total{source="bluesky"} ${requests}`,
      );
      return lines;
    });
    expect(once.toSorted()).toEqual([
      `creator_metrics_collector_failed_total{source="bluesky"} ${failed}`,
      'creator_metrics_collector_failing{source="bluesky"} 0',
      `creator_metrics_collector_observations_total{source="bluesky"} ${observations}`,
      `creator_metrics_collector_observed_total{source="bluesky"} ${observed}`,
      'creator_metrics_collector_quota_units_limit{source="bluesky",bucket="general"} 180000',
      `creator_metrics_collector_quota_units_used{source="bluesky",bucket="general"} ${requests}`,
      `creator_metrics_collector_requests_total{source="bluesky"} ${requests}`,
      'creator_metrics_collector_stopped{source="bluesky"} 0',
    ]);
    expect(await readLines()).toEqual(once);
  });

  test("GET /api/microblog/{username}/followers and /tweets have the history of several cycles", async () => {
    const creator = handleOf(first(world.users));
    await monitorCreator(creator);
    for (let hour = 0; hour < 4; hour++) {
      await service.service.collecting.collect();
      service.clock.now += 1.2 * HOUR_MS;
    }
    const followers = JSON.stringify(await fetchJson(`/api/microblog/${creator}/followers`));
    expect(followers.match(/"timestamp"/g)?.length).toBeGreaterThanOrEqual(3);
    const { tweets } = await fetchJson(`/api/microblog/${creator}/tweets`);
    const histories = Object.values(tweets ?? {}).map((tweet: { metrics: unknown[] }) => tweet);
    expect(Math.max(...histories.map(({ metrics }) => metrics.length))).toBeGreaterThanOrEqual(3);
  });

  test("a creator removed from the list is not polled any more, and stays readable", async () => {
    const creator = handleOf(first(world.users));
    await monitorCreator(creator);
    await service.service.collecting.collect();
    const response = await service.get("/api/creators", service.key, {
      method: "DELETE",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ platform: "microblog", creator }),
    });
    expect(response.status).toBe(200);
    const served = bluesky.served();
    service.clock.now += DAY_MS;
    await service.service.collecting.collect();
    expect(bluesky.served()).toBe(served);
    expect((await service.get(`/api/microblog/${creator}/details`)).status).toBe(200);
  });
});
