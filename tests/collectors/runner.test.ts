import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { itemEveryMs, listEveryMs } from "../../core/schedule.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import type { Collector } from "../../server/collectors/port.ts";
import { youtube } from "../../server/collectors/youtube.ts";
import { channelStore } from "../../server/store/channels.ts";
import { collectionStore } from "../../server/store/collection.ts";
import type { Database } from "../../server/store/database.ts";
import { rowsOf, withDatabase } from "../support/database.ts";
import { allPointsOf } from "../support/history.ts";
import { answering, failing, SILENCE } from "../support/platforms/faults.ts";
import { KEY_REFUSED, openYoutube, QUOTA_EXCEEDED } from "../support/platforms/youtube.ts";
import type { Fake } from "../support/platforms/fake.ts";
import { startTurns, targetsOf } from "../support/platforms/turns.ts";
import { createWorld } from "../support/platforms/world.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const KEY = "AIza-simulated";

const clock = { now: NOW };
let fake: Fake;
const world = createWorld({
  beganAt: NOW - 10 * DAY_MS,
  endsAt: NOW + 10 * DAY_MS,
  channels: 3,
  shortsEach: 20,
});
beforeEach(async () => {
  clock.now = NOW;
  fake = await openYoutube({ world, now: () => clock.now, apiKey: KEY });
});
afterEach(() => fake.close());

/** Turns on a database, as a start of the service makes it. */
function start(database: Database, apiKey = KEY, units?: number, statsUnits = units) {
  const made = youtube({ baseUrl: fake.baseUrl, apiKey });
  const bucket = (unitsPerDay = 0) => ({ unitsPerDay, zone: "America/Los_Angeles" }) as const;
  const buckets = { general: bucket(units), stats: bucket(statsUnits) };
  const collector: Collector = units === undefined ? made : { ...made, buckets };
  return startTurns(database, { collector, clock, fake });
}

async function withChannels(work: (database: Database) => Promise<void>): Promise<void> {
  await withDatabase(async (database) => {
    for (const { id } of world.channels) await channelStore(database).track(id, clock.now);
    await work(database);
  });
}

const stored = async (database: Database) => (await allPointsOf(database, "channel")).length;

describe("a source that stops", () => {
  test("out of quota, it is asked again after midnight Pacific time, also by a new start", async () => {
    await withChannels(async (database) => {
      fake.fail(answering(QUOTA_EXCEEDED), { times: 1 });
      const before = start(database);
      await before.collect();
      expect(before.kinds()).toEqual(["stopped"]);
      const status = await before.status();
      expect(status?.stopped).toMatchObject({ until: Date.parse("2026-11-21T08:00:00.000Z") });
      clock.now = Date.parse("2026-11-21T07:59:59.000Z");
      await start(database).collect();
      expect(fake.served()).toBe(1);
      clock.now = Date.parse("2026-11-21T08:00:00.000Z");
      const after = start(database);
      await after.collect();
      expect(after.kinds()).toEqual(["resumed"]);
      expect((await after.status()).stopped).toBeUndefined();
      expect(await stored(database)).toBe(3);
    });
  });

  test("a refused key is asked with no more, and another key goes on", async () => {
    await withChannels(async (database) => {
      fake.fail(answering(KEY_REFUSED), { times: 1 });
      await start(database, "wrong-key-of-this-test").collect();
      clock.now += 30 * DAY_MS;
      const same = start(database, "wrong-key-of-this-test");
      await same.collect();
      expect(fake.served()).toBe(1);
      expect((await same.status()).stopped).toMatchObject({ until: null });
      await start(database).collect();
      expect(await stored(database)).toBe(3);
    });
  });

  test("a refused key is asked with again where the source is elsewhere by now", async () => {
    await withChannels(async (database) => {
      const apiKey = "a-key-of-another-place";
      await start(database, apiKey).collect();
      expect(await stored(database)).toBe(0);
      const elsewhere = await openYoutube({ world, now: () => clock.now, apiKey });
      const collector = youtube({ baseUrl: elsewhere.baseUrl, apiKey });
      await startTurns(database, { collector, clock, fake: elsewhere }).collect();
      await elsewhere.close();
      expect(await stored(database)).toBe(3);
    });
  });
});

describe("a source that fails", () => {
  test.each([
    ["answers 500", failing(500)],
    ["never answers", SILENCE],
  ])(
    "one that %s is left alone for longer and longer, and nothing is stored",
    async (_, fault) => {
      await withChannels(async (database) => {
        fake.fail(fault, { times: Infinity });
        const turns = start(database);
        const served: number[] = [];
        for (let turn = 0; turn < 40; turn++) {
          await turns.collect();
          served.push(fake.served());
          clock.now += 15 * 60_000;
        }
        const first = served[9] ?? 0;
        const last = (served[39] ?? 0) - (served[29] ?? 0);
        expect(last).toBeLessThan(first / 2);
        expect(await stored(database)).toBe(0);
        fake.heal();
        clock.now += 2 * HOUR_MS;
        await turns.collect();
        expect(await stored(database)).toBe(3);
      });
    },
    30_000,
  );

  test("what can pass is tried again up to three times", async () => {
    await withChannels(async (database) => {
      fake.fail(failing(500), { times: 3 });
      const turns = start(database);
      await turns.collect();
      expect(turns.kinds()).toEqual(["retried", "retried", "retried"]);
      expect(await stored(database)).toBe(3);
      fake.fail(failing(500), { times: 4 });
      await turns.collectAt(NOW + DAY_MS);
      expect(turns.kinds().slice(3)).toEqual(["retried", "retried", "retried", "failed"]);
    });
  });

  test("one that fails now and then is not left alone", async () => {
    await withChannels(async (database) => {
      const turns = start(database);
      for (let day = 1; day <= 4; day++) {
        fake.fail(failing(500), { times: 4 });
        await turns.collectAt(NOW + day * DAY_MS);
        const { buckets } = await turns.status();
        expect(buckets.map(({ pausedUntil }) => pausedUntil)).toEqual([undefined, undefined]);
        await turns.collectAt(NOW + day * DAY_MS + HOUR_MS);
      }
      expect(turns.kinds().filter((kind) => kind === "failed")).toHaveLength(4);
    });
  });

  test("a channel that is not there is asked for every day", async () => {
    await withDatabase(async (database) => {
      const unknown = `UC${"x".repeat(22)}`;
      await channelStore(database).track(unknown, clock.now);
      const turns = start(database);
      for (let failures = 1; failures <= 5; failures++) {
        await turns.collect();
        const profile = (await targetsOf(database, "video", "profile")).get(unknown);
        expect(profile).toMatchObject({ failures, succeededAt: null });
        expect((profile?.dueAt ?? 0) - clock.now).toBeWithin(0.9 * DAY_MS, 1.1 * DAY_MS + 1);
        clock.now = profile?.dueAt ?? 0;
      }
    });
  });

  test("a channel that is not there fails alone", async () => {
    await withChannels(async (database) => {
      const unknown = `UC${"x".repeat(22)}`;
      await channelStore(database).track(unknown, clock.now);
      await start(database).collect();
      expect(await stored(database)).toBe(3);
      const failures = await rowsOf(
        database,
        "SELECT id, failures FROM targets WHERE failure IS NOT NULL AND errand = 'profile'",
      );
      expect(failures).toEqual([{ id: unknown, failures: 1 }]);
    });
  });
});

describe("a quota", () => {
  test("nine tenths of it are used and no more, however much is due; the next day goes on", async () => {
    await withChannels(async (database) => {
      const turns = start(database, KEY, 4);
      for (let turn = 0; turn < 5; turn++) await turns.collect(false);
      expect(fake.servedOn("general", clock.now)).toBe(3);
      await start(database, KEY, 4).collect(false);
      expect(fake.servedOn("general", clock.now)).toBe(3);
      clock.now += DAY_MS;
      await start(database, KEY, 4).collect(false);
      expect(fake.servedOn("general", clock.now)).toBe(3);
    });
  });

  test("one that does not reach stretches what draws on it, and nothing else", async () => {
    await withChannels(async (database) => {
      await start(database, KEY, 12, 10_000).collect();
      const items = await rowsOf(
        database,
        "SELECT published_at AS at, due_at AS due FROM targets WHERE errand = 'counts'",
      );
      expect(items.length).toBeGreaterThan(20);
      for (const { at, due } of items) {
        expect(Number(due) - clock.now).toBeLessThanOrEqual(
          itemEveryMs(clock.now - Number(at)) + 1,
        );
      }
      clock.now += 8 * HOUR_MS;
      await start(database, KEY, 12, 10_000).collect();
      const lists = await rowsOf(
        database,
        "SELECT published_at AS newest, succeeded_at AS at, due_at AS due FROM targets " +
          "WHERE errand = 'items'",
      );
      const stretches = lists.map(
        ({ newest, at, due }) =>
          (Number(due) - Number(at)) / listEveryMs(Number(at) - Number(newest)),
      );
      expect(Math.max(...stretches)).toBeGreaterThan(1.2);
    });
  });

  test("what was counted is never less than what was served", async () => {
    await withChannels(async (database) => {
      fake.fail(failing(503), { times: 3 });
      const turns = start(database);
      await turns.collect();
      const status = await turns.status();
      const used = status?.buckets.reduce((sum, bucket) => sum + bucket.used, 0) ?? 0;
      expect(used).toBeGreaterThanOrEqual(fake.served());
      expect(fake.served()).toBeGreaterThan(5);
      expect(turns.kinds()).toContain("retried");
    });
  });
});

describe("a batch", () => {
  test("takes what is due within 15 minutes with what is due", async () => {
    await withChannels(async (database) => {
      const turns = start(database);
      await turns.collect();
      const at = NOW + DAY_MS;
      const dueAts = [at, at + 15 * MINUTE_MS, at + 15 * MINUTE_MS + 1];
      const ids = world.channels.map(({ id }) => id);
      const settled = ids.map((id, index) => ({ id, dueAt: dueAts[index] ?? at }));
      await collectionStore(database).settle("video", "profile", settled);
      await turns.collectAt(at);
      const profiles = await targetsOf(database, "video", "profile");
      expect(ids.map((id) => profiles.get(id)?.succeededAt)).toEqual([at, at, NOW]);
    });
  });
});

describe("an end", () => {
  test("the errand that is under way ends at once, and its targets stay due", async () => {
    await withChannels(async (database) => {
      fake.fail(SILENCE, { times: Infinity });
      const collector = youtube({ baseUrl: fake.baseUrl, apiKey: KEY });
      // No time ends the request: only their end can.
      const turns = startTurns(database, {
        collector,
        clock,
        fake: { startTimeout: () => () => {} },
      });
      const collecting = turns.collect();
      while (fake.served() === 0) await Bun.sleep(1);
      turns.end();
      await collecting;
      const [due] = await rowsOf(database, "SELECT count(*) AS n FROM targets WHERE failures > 0");
      expect(due).toEqual({ n: 0 });
      expect(turns.events).toEqual([]);
    });
  }, 10_000);
});
