/**
 * The command `collect --once`, and `serve` with COLLECT=on, as processes; also killed in the middle of
 * a poll cycle. COLLECT_CRASH_ROUNDS=20 kills them more often.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { retryWithin, waitUntil } from "../support/wait.ts";
import { queryFromOtherProcess } from "../support/store/database.ts";
import {
  buildChunksSql,
  toStoredChunk,
  unpackStoredPoints,
} from "../support/store/stored-history.ts";
import { handleOf, openFakeBluesky } from "../support/platforms/fake-bluesky.ts";
import { createWorld, type World } from "../support/platforms/world.ts";
import { KEY_REFUSED, openFakeYoutube } from "../support/platforms/fake-youtube.ts";
import { respondWith, HTML_PAGE, toResponse, type Fault } from "../support/platforms/faults.ts";
import type { FakeServer } from "../support/platforms/fake-server.ts";

const ROUNDS = Number(process.env["COLLECT_CRASH_ROUNDS"] ?? 3);
const API_KEY = "AIza-not-to-be-told";

let world: World;
let youtube: FakeServer;
let bluesky: FakeServer;
let sandbox: Sandbox;
beforeEach(async () => {
  world = createWorld({
    beganAt: Date.now() - 5 * DAY_MS,
    endsAt: Date.now() + DAY_MS,
    channels: 12,
    shortsEach: 30,
    creators: 30,
    postsEach: 20,
  });
  youtube = await openFakeYoutube({ world, now: Date.now, apiKey: API_KEY });
  bluesky = await openFakeBluesky({ world, now: Date.now });
  sandbox = await openSandbox({
    COLLECT: "on",
    YOUTUBE_API_KEY: API_KEY,
    YOUTUBE_API_URL: youtube.baseUrl,
    BLUESKY_API_URL: bluesky.baseUrl,
  });
});
afterEach(async () => {
  await youtube.close();
  await bluesky.close();
  await sandbox.close();
});

/** Watches some of the world's channels and users. */
async function monitorSome(channels: number, creators: number): Promise<string> {
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "1000");
  const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
  for (const { handle } of world.channels.slice(0, channels)) {
    await sandbox.runOrThrow("channels", "track", `@${handle}`);
  }
  const handles = world.users.slice(0, creators).map(handleOf);
  await sandbox.runOrThrow("creators", "add", ...handles);
  return key;
}

const queryDatabase = async (sql: string) =>
  (await queryFromOtherProcess(sandbox.file, sql)) as Record<string, unknown>[];

/** The users whose profile was reported to be observed, although nothing of then is stored. */
async function findLostUsers(): Promise<unknown[]> {
  const reported = await queryDatabase(
    "SELECT id, succeeded_at AS at FROM targets WHERE platform = 'microblog' " +
      "AND task = 'profile' AND succeeded_at IS NOT NULL",
  );
  const points = unpackStoredPoints(
    "user",
    (await queryDatabase(buildChunksSql("user"))).map(toStoredChunk),
  );
  return reported.filter(
    ({ id, at: reportedAt }) =>
      !points.some(({ entity, at }) => entity === id && at >= Number(reportedAt) - 60_000),
  );
}

describe("collect --once", () => {
  test("observes what is due, prints the counts, and finds nothing due afterwards", async () => {
    await monitorSome(2, 3);
    const first = JSON.parse(await sandbox.runOrThrow("collect", "--once", "--json"));
    expect(first.sources).toMatchObject([
      { source: "youtube", status: "ok", work: { failed: 0 } },
      { source: "bluesky", status: "ok", work: { failed: 0 } },
    ]);
    const [stored] = await queryDatabase(
      "SELECT (SELECT count(*) FROM shorts) AS shorts, (SELECT count(*) FROM tweets) AS tweets, " +
        "(SELECT count(*) FROM channels WHERE observed_at IS NOT NULL) AS channels",
    );
    expect(stored?.["channels"]).toBe(2);
    expect(stored?.["shorts"]).toBeGreaterThan(20);
    expect(stored?.["tweets"]).toBeGreaterThan(20);
    const again = JSON.parse(await sandbox.runOrThrow("collect", "--once", "--json"));
    expect(again.sources).toMatchObject([
      { source: "youtube", work: { requests: 0 } },
      { source: "bluesky", work: { requests: 0 } },
    ]);
    expect(await sandbox.runOrThrow("collect", "--once")).toContain("bluesky");
  }, 60_000);

  test("stops a source that refuses the API key, and says so without showing the key", async () => {
    await monitorSome(1, 1);
    youtube.injectFault(respondWith(KEY_REFUSED), { times: 100 });
    const { status, out, err } = await sandbox.run(["collect", "--once"]);
    expect(status).toBe(1);
    expect(out).toContain("bluesky");
    expect(err).toContain("youtube is stopped until its settings change");
    expect(out + err).not.toContain(API_KEY);
    const served = youtube.served();
    await sandbox.runInside(["collect", "--once"]);
    expect(youtube.served()).toBe(served);
    const service = await sandbox.serve();
    const ready = await (await fetch(`${service.url}/readyz`)).json();
    expect(ready).toMatchObject({
      sources: [{ status: "stopped", until: null }, { status: "ok" }],
    });
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain('creator_metrics_collector_stopped{source="youtube"} 1');
    expect(metrics).toContain('creator_metrics_collector_stopped{source="bluesky"} 0');
    const { log } = await service.stop();
    expect(log + metrics + JSON.stringify(ready)).not.toContain(API_KEY);
  }, 60_000);
});

describe("collect --once exits with 1", () => {
  test("when a source gives no valid response, and says why and since when", async () => {
    await monitorSome(0, 3);
    bluesky.injectFault(HTML_PAGE, { times: Infinity });
    const { status, out, err } = await sandbox.run(["collect", "--once", "--json"]);
    const reason = expect.stringMatching(/^Bluesky answered \S+ with a body that is not JSON$/);
    expect(JSON.parse(out).sources[1]).toMatchObject({
      source: "bluesky",
      status: "failing",
      reason,
      since: expect.stringMatching(/^2\d{3}-/),
      work: { observed: 0, failed: 5 },
    });
    expect(status).toBe(1);
    expect(err).toMatch(/bluesky has been failing since 2\S+Z: Bluesky answered/);
  }, 60_000);

  test("when nobody who was due exists, and says where the reasons are listed", async () => {
    await monitorSome(0, 1);
    for (const user of world.users) user.goneAt = 0;
    const { status, err } = await sandbox.runInside(["collect", "--once"]);
    expect(status).toBe(1);
    expect(err).toContain("bluesky: none of 2 targets could be observed");
    expect(err).toContain("creators list say why");
  }, 60_000);

  test("but with 0 when only one of several could not be observed", async () => {
    await monitorSome(0, 3);
    const [gone] = world.users;
    if (gone !== undefined) gone.goneAt = 0;
    const { sources } = JSON.parse(await sandbox.runOrThrow("collect", "--once", "--json"));
    expect(sources[1]).toMatchObject({ source: "bluesky", status: "ok", work: { failed: 2 } });
  }, 60_000);
});

describe("serve with COLLECT=on", () => {
  test("collects by itself, and stops in the middle of a poll cycle on SIGTERM", async () => {
    const key = await monitorSome(0, 2);
    const service = await sandbox.serve();
    const [first] = world.users;
    if (first === undefined) throw new Error("The world has no users");
    const path = `${service.url}/api/microblog/${handleOf(first)}/details`;
    await retryWithin(45_000, async () => {
      expect((await fetch(path, { headers: { "x-api-key": key } })).status).toBe(200);
    });
    expect((await service.stop()).status).toBe(0);
  }, 60_000);

  test("answers a command that waits for longer than ten seconds", async () => {
    await monitorSome(0, 1);
    const slowly: Fault = async (_request, answer) => {
      await Bun.sleep(15_000);
      return toResponse(answer());
    };
    bluesky.injectFault(slowly, { times: 1 });
    const service = await sandbox.serve();
    const { status, err } = await sandbox.run(["collect", "--once"]);
    expect(err).toBe("");
    expect(status).toBe(0);
    expect((await service.stop()).status).toBe(0);
  }, 60_000);

  test("logs once why a source stopped, without its API key", async () => {
    await monitorSome(2, 1);
    youtube.injectFault(respondWith(KEY_REFUSED), { times: 100 });
    const service = await sandbox.serve();
    await retryWithin(45_000, async () => {
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      expect(metrics).toContain('stopped{source="youtube"} 1');
    });
    const { log } = await service.stop();
    const lines = log.split("\n").filter((line) => line.includes("youtube"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("YouTube refuses the API key");
    expect(lines[0]).toContain('"ERROR"');
    expect(log).not.toContain(API_KEY);
  }, 60_000);

  test(`loses nothing that was reported on kill -9 in the middle of a poll cycle (${ROUNDS} rounds)`, async () => {
    await monitorSome(12, 30);
    for (let round = 0; round < ROUNDS; round++) {
      await queryDatabase("UPDATE targets SET due_at = 0 RETURNING due_at");
      const before = youtube.served() + bluesky.served();
      const service = await sandbox.serve();
      await waitUntil(() => youtube.served() + bluesky.served() > before, 60_000);
      await Bun.sleep(Math.random() * 250);
      await service.stop("SIGKILL");
      const [found] = await queryDatabase(
        `SELECT (SELECT integrity_check = 'ok' FROM pragma_integrity_check) AS whole,
        (SELECT count(*) FROM targets WHERE task = 'counts' AND NOT EXISTS (
          SELECT 1 FROM tweets WHERE tweets.id = targets.id UNION ALL
          SELECT 1 FROM shorts WHERE shorts.id = targets.id)) AS lostItems,
        (SELECT total(units) FROM quota_use WHERE source = 'youtube') AS youtube,
        (SELECT total(units) FROM quota_use WHERE source = 'bluesky') AS bluesky`,
      );
      expect(found).toMatchObject({ whole: 1, lostItems: 0 });
      expect(await findLostUsers()).toEqual([]);
      expect(found?.["youtube"]).toBeGreaterThanOrEqual(youtube.served());
      expect(found?.["bluesky"]).toBeGreaterThanOrEqual(bluesky.served());
    }
    await sandbox.runOrThrow("collect", "--once");
    const lines = (await sandbox.runOrThrow("export")).trim().split("\n");
    const identities = lines.map((line) => {
      const { kind, observedAt, id, username } = JSON.parse(line);
      return `${kind} ${id ?? username} ${observedAt}`;
    });
    expect(new Set(identities).size).toBe(identities.length);
    const [left] = await queryDatabase(
      `SELECT count(*) AS due FROM targets WHERE due_at <= ${Date.now()} OR failure IS NOT NULL`,
    );
    expect(left).toEqual({ due: 0 });
  }, 600_000);
});
