/** The fake platforms have the limits on which other tests rely. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { openFakeBluesky } from "../support/platforms/fake-bluesky.ts";
import type { FakeServer } from "../support/platforms/fake-server.ts";
import { failWithStatus } from "../support/platforms/faults.ts";
import { countsOfChannel } from "../support/platforms/world-counts.ts";
import { createWorld, NOW } from "../support/platforms/world.ts";
import { openFakeX } from "../support/platforms/fake-x.ts";
import { openFakeYoutube } from "../support/platforms/fake-youtube.ts";

const PLAN = {
  beganAt: NOW - 30 * DAY_MS,
  endsAt: NOW + DAY_MS,
  channels: 3,
  shortsEach: 70,
  creators: 3,
  postsEach: 130,
};
const clock = { now: NOW };
const world = createWorld(PLAN);
const options = { world, now: () => clock.now, logSize: 3 };
let youtube: Awaited<ReturnType<typeof openFakeYoutube>>;
let x: Awaited<ReturnType<typeof openFakeX>>;
let bluesky: Awaited<ReturnType<typeof openFakeBluesky>>;
beforeEach(async () => {
  clock.now = NOW;
  youtube = await openFakeYoutube({ ...options, apiKey: "key", generalUnits: 30, statsUnits: 1 });
  x = await openFakeX({ ...options, bearerToken: "token" });
  bluesky = await openFakeBluesky(options);
});
afterEach(() => Promise.all([youtube.close(), x.close(), bluesky.close()]));

const get = async (fake: FakeServer, path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${fake.baseUrl}${path}`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const statusOf = async (fake: FakeServer, path: string, headers = {}) =>
  (await get(fake, path, headers)).status;
const numbersBelow = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);
const AUTHORIZATION = { authorization: "Bearer token" };

describe("a fake", () => {
  test("of YouTube accepts up to 50 identifiers, and only its key", async () => {
    const path = (count: number) =>
      `/videos?key=key&part=snippet&id=${numbersBelow(count).join(",")}`;
    expect(await statusOf(youtube, path(50))).toBe(200);
    expect(await statusOf(youtube, path(51))).toBe(400);
    expect(await statusOf(youtube, "/videos?part=id&id=1&key=other")).toBe(403);
    expect(await statusOf(youtube, "/videos?id=1&key=key")).toBe(400);
    const playlist = "/playlistItems?key=key&part=contentDetails&playlistId=UUSHnobody";
    expect(await get(youtube, playlist)).toMatchObject({
      status: 404,
      text: expect.stringContaining("playlistNotFound"),
    });
  });

  test("of YouTube refuses requests over a bucket's quota until midnight Pacific time", async () => {
    const path = "/videos:batchGetStats?key=key&part=id&id=1";
    expect(await statusOf(youtube, path)).toBe(200);
    expect((await get(youtube, path)).text).toContain("quotaExceeded");
    clock.now = Date.parse("2026-11-21T07:59:59.999Z");
    expect(await statusOf(youtube, path)).toBe(403);
    expect(youtube.servedOn("stats", clock.now)).toBe(3);
    clock.now++;
    expect(await statusOf(youtube, path)).toBe(200);
    expect(youtube.servedOn("stats", clock.now)).toBe(1);
  });

  test("of X accepts up to 100 names, and counts down its window", async () => {
    const path = (count: number) => `/2/users/by?usernames=${numbersBelow(count).join(",")}`;
    const answer = await get(x, path(100), AUTHORIZATION);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-rate-limit-remaining")).toBe("299");
    expect(answer.headers.get("x-rate-limit-reset")).toBe(String(NOW / 1000 + 900));
    expect(await statusOf(x, path(101), AUTHORIZATION)).toBe(400);
    expect(await statusOf(x, path(1))).toBe(401);
    expect(await statusOf(x, "/2/users/by?usernames=a.b", AUTHORIZATION)).toBe(400);
  });

  test("of Bluesky accepts up to 25 actors", async () => {
    const path = (count: number) =>
      `/xrpc/app.bsky.actor.getProfiles?${numbersBelow(count)
        .map((name) => `actors=creator${name}.bsky.social`)
        .join("&")}`;
    expect(await statusOf(bluesky, path(25))).toBe(200);
    expect(await statusOf(bluesky, path(26))).toBe(400);
    expect(await statusOf(bluesky, "/xrpc/app.bsky.actor.getProfiles?actors=nasa")).toBe(400);
    expect(await get(bluesky, path(1).replace("creator0", "nobody"))).toMatchObject({
      status: 400,
      text: expect.stringContaining("Profile not found"),
    });
  });

  test("injects a fault as often and on the path as configured", async () => {
    x.injectFault(failWithStatus(503), { times: 2, path: "/2/tweets" });
    const statuses: number[] = [];
    for (const path of ["/2/tweets?ids=1", "/2/users/by?usernames=a", "/2/tweets?ids=1"]) {
      statuses.push(await statusOf(x, path, AUTHORIZATION));
    }
    expect(statuses).toEqual([503, 200, 503]);
    expect(x.log().map(({ status, bucket, query }) => [status, bucket, query])).toEqual([
      [503, "tweets", "ids=1"],
      [200, "users", "usernames=a"],
      [503, "tweets", "ids=1"],
    ]);
    expect(await statusOf(x, "/2/tweets?ids=1", AUTHORIZATION)).toBe(200);
  });

  test("serves the same growing world for the same plan", () => {
    const again = createWorld(PLAN);
    for (const [index, channel] of world.channels.entries()) {
      const other = again.channels[index];
      expect(other?.shorts.map(({ id }) => id)).toEqual(channel.shorts.map(({ id }) => id));
      const before = countsOfChannel(channel, NOW);
      expect(other && countsOfChannel(other, NOW)).toEqual(before);
      expect(countsOfChannel(channel, NOW + 30 * DAY_MS).viewCount).toBeGreaterThan(
        before.viewCount,
      );
    }
  });
});
