/** Pauses and stops of a source: how long they last, and which targets are still polled. */
import { describe, expect, test } from "bun:test";
import { compareText } from "../../core/text.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { API_TRAITS, type FixtureOwner } from "../support/platforms/platform-setups.ts";
import { SOURCE_NAMES, type SourceName } from "../support/platforms/source-names.ts";
import { createXCollector } from "../../server/collectors/x/collector.ts";
import { createCollectionState } from "../../server/store/collection/collection-state.ts";
import type { Database } from "../../server/store/database/database.ts";
import {
  respondWith,
  failWithStatus,
  toResponse,
  type FakeResponse,
  type Fault,
} from "../support/platforms/faults.ts";
import {
  startPollCycle,
  readTargets,
  watchOwners,
  withPlatform,
} from "../support/platforms/poll-cycle.ts";
import type { PlatformFixture } from "../support/platforms/platform-fixture.ts";
import { NOW } from "../support/platforms/world.ts";
import {
  CREDITS_DEPLETED,
  TOKEN_REFUSED,
  windowSpent,
  createXError,
} from "../support/platforms/fake-x.ts";
import { createYoutubeError } from "../support/platforms/fake-youtube.ts";

const amounts = (owners: number) => ({
  channels: owners,
  creators: owners,
  shortsEach: 6,
  postsEach: 6,
});

/** Counts the profiles that were observed and the lists that were read. */
async function countSucceeded(
  database: Database,
  {
    collector: {
      source: { platform },
    },
  }: PlatformFixture,
) {
  const count = async (task: "profile" | "items") => {
    const targets = await readTargets(database, platform, task);
    return [...targets.values()].filter(({ succeededAt }) => succeededAt !== null).length;
  };
  return { profiles: await count("profile"), lists: await count("items") };
}

describe("a source that stops", () => {
  test.each<[string, SourceName, FakeResponse]>([
    ["X, whose account has no credits left,", "x", CREDITS_DEPLETED],
    [
      "YouTube, not enabled for the key,",
      "youtube",
      createYoutubeError(403, "accessNotConfigured"),
    ],
    ["YouTube, disabled for the key,", "youtube", createYoutubeError(403, "SERVICE_DISABLED")],
  ])("%s is not polled for a day, and then goes on by itself", async (_, source, answer) => {
    await withPlatform(source, amounts(3), async (fixture, database) => {
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

  test("X, which refuses the token, stays stopped until the token changes", async () => {
    await withPlatform("x", amounts(3), async (fixture, database) => {
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
      const collector = createXCollector({ baseUrl, credential: "another-token-of-this-test" });
      const other = startPollCycle(database, { ...fixture, collector });
      await other.collect();
      expect(fixture.fake.served()).toBe(2);
    });
  });
});

describe("a used up rate limit window of X", () => {
  test("of users does not stop the timelines of known users, and is reported once", async () => {
    await withPlatform("x", { ...amounts(8), isWatched: false }, async (fixture, database) => {
      const [known, added] = [fixture.owners.slice(0, 6), fixture.owners.slice(6)];
      await watchOwners(database, fixture, known);
      const cycle = startPollCycle(database, fixture);
      await cycle.collect();
      const lists = () => readTargets(database, "microblog", "items");
      const allDueAt = Math.max(...[...(await lists()).values()].map(({ dueAt }) => dueAt));
      const until = allDueAt + MINUTE_MS;
      expect(until).toBeLessThan(NOW + DAY_MS);

      // X has not identified the added users yet, and their timelines are due before the others.
      await watchOwners(database, fixture, added);
      const served = fixture.fake.served();
      const windowFault = respondWith(windowSpent(until));
      fixture.fake.injectFault(windowFault, { times: Infinity, path: "/2/users/by" });
      const times = Math.ceil((until - NOW) / (15 * MINUTE_MS));
      for (let quarter = 1; quarter <= times; quarter++) {
        await cycle.collectAt(Math.min(until - 1, NOW + quarter * 15 * MINUTE_MS));
      }
      const read = await lists();
      expect(known.filter(({ id }) => (read.get(id)?.succeededAt ?? 0) <= NOW)).toEqual([]);
      expect(added.map(({ id }) => read.get(id)?.succeededAt)).toEqual([null, null]);
      const log = fixture.fake.log().slice(served);
      expect(log.filter(({ path }) => path === "/2/users/by").length).toBe(1);
      expect(cycle.eventKinds()).toEqual(["paused"]);

      fixture.fake.clearFaults();
      await cycle.collectAt(Math.ceil(until / 1000) * 1000);
      expect(await countSucceeded(database, fixture)).toEqual({ profiles: 8, lists: 8 });
    });
  });

  test("of users does not stop the timelines of known users in the same cycle", async () => {
    await withPlatform("x", { ...amounts(8), isWatched: false }, async (fixture, database) => {
      const [known, added] = [fixture.owners.slice(0, 6), fixture.owners.slice(6)];
      await watchOwners(database, fixture, known);
      const cycle = startPollCycle(database, fixture);
      await cycle.collect();
      // X has not identified the added users yet, and they are polled first.
      await watchOwners(database, fixture, added);
      await createCollectionState(database).syncTargets(NOW);
      const lists = () => readTargets(database, "microblog", "items");
      const at = Math.max(...[...(await lists()).values()].map(({ dueAt }) => dueAt));
      expect(at).toBeLessThan(NOW + DAY_MS);
      const windowFault = respondWith(windowSpent(at + HOUR_MS));
      fixture.fake.injectFault(windowFault, { times: Infinity, path: "/2/users/by" });
      await cycle.collectAt(at);
      const read = await lists();
      expect(known.map(({ id }) => read.get(id)?.succeededAt)).toEqual(known.map(() => at));
      expect(added.map(({ id }) => read.get(id)?.succeededAt)).toEqual([null, null]);
    });
  });

  test("is never overstepped: 9/10 of it are used, also by timelines that need a user", async () => {
    await withPlatform("x", amounts(400), async (fixture, database) => {
      // Profiles fail and responses have no rate limit headers: each timeline requests its own user.
      fixture.fake.injectFault(
        ({ query }, answer) => {
          const isSingle = query.get("usernames")?.includes(",") === false;
          return toResponse({
            ...(isSingle ? answer() : createXError(400, "Invalid")),
            headers: {},
          });
        },
        { times: Infinity, path: "/2/users/by" },
      );
      const cycle = startPollCycle(database, fixture);
      for (let minute = 0; minute < 15; minute++) await cycle.collectAt(NOW + minute * MINUTE_MS);
      const userRequests = () =>
        fixture.fake.log().filter(({ path }) => path === "/2/users/by").length;
      expect(userRequests()).toBe(270);
      expect(cycle.eventKinds().filter((kind) => kind !== "failed")).toEqual(["paused"]);
      await cycle.collectAt(NOW + 15 * MINUTE_MS);
      expect((await countSucceeded(database, fixture)).lists).toBe(400);
    });
  });

  test("whose end is in milliseconds by mistake pauses for a day at most", async () => {
    await withPlatform("x", amounts(3), async (fixture, database) => {
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

describe.each(SOURCE_NAMES)("%s with Retry-After", (source) => {
  test.each([
    [429, "3600"],
    [503, "3600"],
    [429, new Date(NOW + HOUR_MS).toUTCString()],
    [503, new Date(NOW + HOUR_MS).toUTCString()],
  ])("status %d, %s: is not polled before that", async (status, after) => {
    await withPlatform(source, amounts(3), async (fixture, database) => {
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

test.each(SOURCE_NAMES)(
  "lists of %s that fail in a row delay the other lists by minutes only",
  async (source) => {
    await withPlatform(source, amounts(20), async (fixture, database) => {
      const { failed, others } = failLists(fixture, failWithStatus(500));
      const cycle = startPollCycle(database, fixture);
      for (let minute = 0; minute < 7; minute++) await cycle.collectAt(NOW + minute * MINUTE_MS);
      const lists = await readTargets(database, fixture.collector.source.platform, "items");
      for (const { id } of others) expect(lists.get(id)?.succeededAt).toBeNumber();
      for (const { id } of failed) expect(lists.get(id)?.succeededAt).toBeNull();
    });
  },
);

/** Makes the lists of eight owners fail, which are polled before the lists of the others. */
function failLists(
  fixture: PlatformFixture,
  fault: Fault,
): { readonly failed: FixtureOwner[]; readonly others: FixtureOwner[] } {
  const owners = fixture.owners.toSorted((a, b) => compareText(a.id, b.id));
  const failed = owners.slice(0, 8);
  for (const owner of failed) {
    fixture.fake.injectFault(fault, { times: Infinity, path: fixture.listingPathOf(owner) });
  }
  return { failed, others: owners.slice(8) };
}

test.each(SOURCE_NAMES)(
  "lists of %s that are rejected in a row do not delay the other lists",
  async (source) => {
    await withPlatform(source, amounts(12), async (fixture, database) => {
      const { failed, others } = failLists(fixture, respondWith(API_TRAITS[source].badRequest));
      const cycle = startPollCycle(database, fixture);
      await cycle.collect();
      const lists = await readTargets(database, fixture.collector.source.platform, "items");
      for (const { id } of failed) {
        expect(lists.get(id)).toMatchObject({ succeededAt: null, failures: 1 });
        expect(lists.get(id)?.failure).toContain("status 400");
      }
      for (const { id } of others) expect(lists.get(id)?.succeededAt).toBe(NOW);
      expect(cycle.eventKinds()).toEqual([]);
    });
  },
);
