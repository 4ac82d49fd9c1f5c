/** What a source does not answer for a while: for how long it is left alone, and who goes on. */
import { describe, expect, test } from "bun:test";
import { compareText } from "../../core/text.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { SOURCES, type Source } from "../../server/collectors/collector.ts";
import { createXCollector } from "../../server/collectors/x/collector.ts";
import { createCollectionState } from "../../server/store/collection/collection-state.ts";
import type { Database } from "../../server/store/database/database.ts";
import { withDatabase } from "../support/store/database.ts";
import {
  respondWith,
  failWithStatus,
  toResponse,
  type FakeResponse,
  type Fault,
} from "../support/platforms/faults.ts";
import { startPollCycle, readTargets, watchOwners } from "../support/platforms/poll-cycle.ts";
import {
  openFixture,
  type PlatformFixture,
  type FixtureOwner,
} from "../support/platforms/platform-fixture.ts";
import { NOW } from "../support/platforms/world.ts";
import {
  CREDITS_DEPLETED,
  TOKEN_REFUSED,
  windowSpent,
  xError,
} from "../support/platforms/fake-x.ts";
import { youtubeError } from "../support/platforms/fake-youtube.ts";
import { blueskyError } from "../support/platforms/fake-bluesky.ts";

type Work = (fixture: PlatformFixture, database: Database) => Promise<void>;

/** Lets a test work on a fixture with a few owners; nobody is watched yet. */
async function withFixture(source: Source, owners: number, work: Work): Promise<void> {
  const few = { channels: owners, creators: owners, shortsEach: 6, postsEach: 6 };
  const fixture = await openFixture(source, few);
  try {
    await withDatabase((database) => work(fixture, database));
  } finally {
    await fixture.close();
  }
}

/** The same, with everybody watched. */
function withWatched(source: Source, owners: number, work: Work): Promise<void> {
  return withFixture(source, owners, async (fixture, database) => {
    await watchOwners(database, fixture, fixture.owners);
    await work(fixture, database);
  });
}

/** How many of who is watched were observed, and how many of their lists were read. */
async function countSucceeded(database: Database, { collector: { platform } }: PlatformFixture) {
  const count = async (task: "profile" | "items") => {
    const targets = await readTargets(database, platform, task);
    return [...targets.values()].filter(({ succeededAt }) => succeededAt !== null).length;
  };
  return { profiles: await count("profile"), lists: await count("items") };
}

describe("a source that stops", () => {
  test.each<[string, Source, FakeResponse]>([
    ["X, whose account has no credits left,", "x", CREDITS_DEPLETED],
    ["YouTube, not enabled for the key,", "youtube", youtubeError(403, "accessNotConfigured")],
    ["YouTube, disabled for the key,", "youtube", youtubeError(403, "SERVICE_DISABLED")],
  ])("%s is asked nothing for a day, and then goes on by itself", async (_, source, answer) => {
    await withWatched(source, 3, async (fixture, database) => {
      fixture.fake.injectFault(respondWith(answer));
      const cycle = startPollCycle(database, fixture);
      await cycle.collect();
      expect(cycle.eventKinds()).toEqual(["stopped"]);
      expect((await cycle.status()).stopped?.until).toBe(NOW + DAY_MS);
      for (let hour = 1; hour < 24; hour++) await cycle.collectAt(NOW + (hour * DAY_MS) / 24);
      await cycle.collectAt(NOW + DAY_MS - 1);
      expect(fixture.fake.served()).toBe(1);
      await cycle.collectAt(NOW + DAY_MS);
      expect(cycle.eventKinds()).toEqual(["stopped", "resumed"]);
      expect(await countSucceeded(database, fixture)).toEqual({ profiles: 3, lists: 3 });
    });
  });

  test("X, asked with a token that it refuses, stays stopped until there is another", async () => {
    await withWatched("x", 3, async (fixture, database) => {
      fixture.fake.injectFault(respondWith(TOKEN_REFUSED));
      const cycle = startPollCycle(database, fixture);
      await cycle.collect();
      for (let day = 1; day <= 60; day++) await cycle.collectAt(NOW + day * DAY_MS);
      const again = startPollCycle(database, fixture);
      await again.collect();
      expect(fixture.fake.served()).toBe(1);
      expect([...cycle.eventKinds(), ...again.eventKinds()]).toEqual(["stopped"]);
      expect((await again.status()).stopped).toMatchObject({ until: null });
      const { baseUrl } = fixture.fake;
      const collector = createXCollector({ baseUrl, bearerToken: "another-token-of-this-test" });
      const other = startPollCycle(database, { ...fixture, collector });
      await other.collect();
      expect(fixture.fake.served()).toBe(2);
    });
  });
});

describe("a window of X that is spent", () => {
  test("where users cannot be asked for, timelines of known ones are read, and it is told once", async () => {
    await withFixture("x", 8, async (fixture, database) => {
      const [known, added] = [fixture.owners.slice(0, 6), fixture.owners.slice(6)];
      await watchOwners(database, fixture, known);
      const cycle = startPollCycle(database, fixture);
      await cycle.collect();
      const lists = () => readTargets(database, "microblog", "items");
      const allDueAt = Math.max(...[...(await lists()).values()].map(({ dueAt }) => dueAt));
      const until = allDueAt + MINUTE_MS;
      expect(until).toBeLessThan(NOW + DAY_MS);

      // Who is added now is not known by a number, and their timelines are due before the others.
      await watchOwners(database, fixture, added);
      const asked = fixture.fake.served();
      const spent = respondWith(windowSpent(until));
      fixture.fake.injectFault(spent, { times: Infinity, path: "/2/users/by" });
      const times = Math.ceil((until - NOW) / (15 * MINUTE_MS));
      for (let turn = 1; turn <= times; turn++) {
        await cycle.collectAt(Math.min(until - 1, NOW + turn * 15 * MINUTE_MS));
      }
      const read = await lists();
      expect(known.filter(({ id }) => (read.get(id)?.succeededAt ?? 0) <= NOW)).toEqual([]);
      expect(added.map(({ id }) => read.get(id)?.succeededAt)).toEqual([null, null]);
      const log = fixture.fake.log().slice(asked);
      expect(log.filter(({ path }) => path === "/2/users/by").length).toBe(1);
      expect(cycle.eventKinds()).toEqual(["paused"]);

      fixture.fake.clearFaults();
      await cycle.collectAt(Math.ceil(until / 1000) * 1000);
      expect(await countSucceeded(database, fixture)).toEqual({ profiles: 8, lists: 8 });
    });
  });

  test("keeps no list of who is known from being read in the same turn", async () => {
    await withFixture("x", 8, async (fixture, database) => {
      const [known, added] = [fixture.owners.slice(0, 6), fixture.owners.slice(6)];
      await watchOwners(database, fixture, known);
      const cycle = startPollCycle(database, fixture);
      await cycle.collect();
      // Who is added now is not known by a number, and is asked for first.
      await watchOwners(database, fixture, added);
      await createCollectionState(database).syncTargets(NOW);
      const lists = () => readTargets(database, "microblog", "items");
      const at = Math.max(...[...(await lists()).values()].map(({ dueAt }) => dueAt));
      expect(at).toBeLessThan(NOW + DAY_MS);
      const spent = respondWith(windowSpent(at + HOUR_MS));
      fixture.fake.injectFault(spent, { times: Infinity, path: "/2/users/by" });
      await cycle.collectAt(at);
      const read = await lists();
      expect(known.map(({ id }) => read.get(id)?.succeededAt)).toEqual(known.map(() => at));
      expect(added.map(({ id }) => read.get(id)?.succeededAt)).toEqual([null, null]);
    });
  });

  test("nine tenths of what it allows are asked, also of users that timelines are in need of", async () => {
    await withWatched("x", 400, async (fixture, database) => {
      // No profile tells who they are, and no answer how much is left: each timeline asks for its
      // own.
      fixture.fake.injectFault(
        ({ query }, answer) => {
          const isOfOne = query.get("usernames")?.includes(",") === false;
          return toResponse({ ...(isOfOne ? answer() : xError(400, "Invalid")), headers: {} });
        },
        { times: Infinity, path: "/2/users/by" },
      );
      const cycle = startPollCycle(database, fixture);
      for (let minute = 0; minute < 15; minute++) await cycle.collectAt(NOW + minute * MINUTE_MS);
      const asked = () => fixture.fake.log().filter(({ path }) => path === "/2/users/by").length;
      expect(asked()).toBe(270);
      expect(cycle.eventKinds().filter((kind) => kind !== "failed")).toEqual(["paused"]);
      await cycle.collectAt(NOW + 15 * MINUTE_MS);
      expect((await countSucceeded(database, fixture)).lists).toBe(400);
    });
  });

  test("with an end that is written in milliseconds, it is waited for a day at most", async () => {
    await withWatched("x", 3, async (fixture, database) => {
      const end = NOW + 5 * MINUTE_MS;
      fixture.fake.injectFault(respondWith(windowSpent(end * 1000)), {
        times: 1,
        path: "/2/users/by",
      });
      const cycle = startPollCycle(database, fixture);
      await cycle.collect();
      expect(cycle.eventKinds()).toEqual(["paused"]);
      await cycle.collectAt(NOW + DAY_MS);
      expect(await countSucceeded(database, fixture)).toEqual({ profiles: 3, lists: 3 });
    });
  });
});

describe.each(SOURCES)("%s, which says when it is to be asked again", (source) => {
  test.each([
    [429, "3600"],
    [503, "3600"],
    [429, new Date(NOW + HOUR_MS).toUTCString()],
    [503, new Date(NOW + HOUR_MS).toUTCString()],
  ])("by status %d and Retry-After: %s, is asked nothing before", async (status, after) => {
    await withWatched(source, 3, async (fixture, database) => {
      const headers = { "retry-after": after };
      fixture.fake.injectFault(respondWith({ status, body: {}, headers }), { times: 1 });
      const cycle = startPollCycle(database, fixture);
      for (let minute = 0; minute < 60; minute++) {
        await cycle.collectAt(NOW + minute * MINUTE_MS);
      }
      expect(fixture.fake.served()).toBe(1);
      expect(cycle.eventKinds()).toEqual(["paused"]);
      await cycle.collectAt(NOW + HOUR_MS);
      expect(await countSucceeded(database, fixture)).toEqual({ profiles: 3, lists: 3 });
    });
  });
});

test.each(SOURCES)(
  "lists of %s that fail one after the other keep the others from being read for minutes alone",
  async (source) => {
    await withWatched(source, 20, async (fixture, database) => {
      const [broken, others] = failLists(fixture, failWithStatus(500));
      const cycle = startPollCycle(database, fixture);
      for (let minute = 0; minute < 7; minute++) await cycle.collectAt(NOW + minute * MINUTE_MS);
      const lists = await readTargets(database, fixture.collector.platform, "items");
      for (const { id } of others) expect(lists.get(id)?.succeededAt).toBeNumber();
      for (const { id } of broken) expect(lists.get(id)?.succeededAt).toBeNull();
    });
  },
);

/** An answer of status 400 as each platform writes it. */
const BAD_REQUESTS: Readonly<Record<Source, FakeResponse>> = {
  youtube: youtubeError(400, "invalidParameter"),
  x: xError(400, "Invalid Request"),
  bluesky: blueskyError(400, "InvalidRequest", "Error: Params must have valid properties"),
};

/**
 * Fails the lists of eight owners, again and again. Of those that are due at once, the first ones
 * are asked for first.
 *
 * @returns Them, and the others.
 */
function failLists(fixture: PlatformFixture, fault: Fault): [FixtureOwner[], FixtureOwner[]] {
  const owners = fixture.owners.toSorted((a, b) => compareText(a.id, b.id));
  const failed = owners.slice(0, 8);
  for (const owner of failed) {
    fixture.fake.injectFault(fault, { times: Infinity, path: listingPathOf(fixture, owner) });
  }
  return [failed, owners.slice(8)];
}

/** Where a platform lists the items of an owner. */
function listingPathOf({ source, world }: PlatformFixture, { id, entity }: FixtureOwner): string {
  if (source === "youtube") return `playlistId=UUSH${entity.slice(2)}`;
  return source === "x"
    ? `/2/users/${world.userByName(id)?.id}/tweets`
    : `getAuthorFeed?actor=${id}`;
}

test.each(SOURCES)(
  "lists of %s that are refused one after the other do not keep the others from being read",
  async (source) => {
    await withWatched(source, 12, async (fixture, database) => {
      const [refused, others] = failLists(fixture, respondWith(BAD_REQUESTS[source]));
      const cycle = startPollCycle(database, fixture);
      await cycle.collect();
      const lists = await readTargets(database, fixture.collector.platform, "items");
      for (const { id } of refused) {
        expect(lists.get(id)).toMatchObject({ succeededAt: null, failures: 1 });
        expect(lists.get(id)?.failure).toContain("status 400");
      }
      for (const { id } of others) expect(lists.get(id)?.succeededAt).toBe(NOW);
      expect(cycle.eventKinds()).toEqual([]);
    });
  },
);
