/**
 * Shorts and tweets that are deleted, invalid or incomplete: what is stored, and when they are polled
 * again. No such case is a failure of the source, a creator or a channel, or is logged.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../core/time.ts";
import type { SourceName } from "../../support/platforms/source-names.ts";
import { respondWith, replaceText } from "../../support/platforms/faults.ts";
import { first } from "../../support/platforms/first.ts";
import type { FixtureItem, FixtureOwner } from "../../support/platforms/platform-setups.ts";
import {
  ALL_DUE_AT,
  openServiceFixture,
  type ServiceFixture,
} from "../../support/platforms/service-fixture.ts";
import type { WorldPlan } from "../../support/platforms/world.ts";
import { NOW } from "../../support/service.ts";

let fixture: ServiceFixture;
afterEach(async () => {
  try {
    expect(fixture.logged()).toEqual([]);
    for (const { id } of fixture.owners) {
      expect(await fixture.readStatus(id)).toMatchObject({ failure: null, last_failure: null });
    }
    const { source } = fixture;
    const ready = { source, status: "ok", reason: null, since: null, until: null };
    expect(await fixture.readiness()).toEqual(ready);
  } finally {
    await fixture.close();
  }
});

async function startAndCollect(source: SourceName, plan: Partial<WorldPlan> = {}) {
  fixture = await openServiceFixture(source, plan);
  return fixture.collectAndAdvance();
}

const ownerAt = (index: number): FixtureOwner => first(fixture.owners.slice(index));

const fetchJson = async (path: string): Promise<unknown> => JSON.parse(await fixture.text(path));

/** The oldest item of an owner, which is observed at NOW already. */
const firstItem = (owner: FixtureOwner): FixtureItem => first(owner.items());

const isRequested = (text: string): boolean =>
  fixture.fake.log().some(({ at, query }) => at === fixture.clock.now && query.includes(text));

describe("an item that cannot be observed keeps its history, and all others are observed", () => {
  test.each<[what: string, source: SourceName, failure: (id: string, did: string) => string]>([
    [
      "a short missing in YouTube's response",
      "youtube",
      (id) => `YouTube has no video ${id}: it was deleted, or is private`,
    ],
    [
      "a tweet among the errors of X's response",
      "x",
      (id) =>
        `The tweet ${id} is gone: X says ` +
        `"Not Found Error: Could not find or show tweet: [${id}]."`,
    ],
    [
      "a post missing in Bluesky's response",
      "bluesky",
      (id, did) => `Bluesky has no post at://${did}/app.bsky.feed.post/${id}: it was deleted`,
    ],
  ])(
    "%s is polled less often than others, and observed again when it is back",
    async (_what, source, failure) => {
      const { before } = await startAndCollect(source);
      const item = firstItem(ownerAt(1));
      item.lifecycle.goneAt = ALL_DUE_AT;
      await fixture.collectAt(ALL_DUE_AT);
      expect(isRequested(item.id)).toBe(true);
      const observed = await fixture.expectObservedNow(before);
      expect(observed).not.toContain(item.id);
      expect(before.some(({ entity }) => entity === item.id)).toBe(true);
      await expectOthersObserved(before, observed, item);
      const did = fixture.world.users[1]?.did ?? "";
      expect(await fixture.itemFailure(item.id)).toBe(failure(item.id, did));

      // Other items of its age are polled every few hours.
      await fixture.collectAt(ALL_DUE_AT + 20 * HOUR_MS);
      expect(isRequested(item.id)).toBe(false);
      item.lifecycle.goneAt = Infinity;
      const stored = await fixture.stored();
      await fixture.collectAt(ALL_DUE_AT + 33 * DAY_MS);
      expect(await fixture.expectObservedNow(stored)).toContain(item.id);
      expect(await fixture.itemFailure(item.id)).toBeNull();
    },
  );

  test.each<[what: string, source: SourceName, failure: string]>([
    [
      'a short with "338K" views of YouTube',
      "youtube",
      'views must be a whole number from 0 to 9007199254740991, got "338K"',
    ],
    [
      "a tweet with -7 likes of X",
      "x",
      "likes must be a whole number from 0 to 9007199254740991, got -7",
    ],
    [
      'a post with "12K" likes of Bluesky',
      "bluesky",
      'likes must be a whole number from 0 to 9007199254740991, got "12K"',
    ],
  ])("%s is not stored, and polled again soon", async (_what, source, failure) => {
    const { before } = await startAndCollect(source);
    const item = firstItem(ownerAt(1));
    fixture.fake.injectFault(item.corruptionFault, { times: Infinity });
    await fixture.collectAt(ALL_DUE_AT);
    const observed = await fixture.expectObservedNow(before);
    expect(observed).not.toContain(item.id);
    await expectOthersObserved(before, observed, item);
    expect(await fixture.itemFailure(item.id)).toBe(failure);
    fixture.fake.clearFaults();
    const stored = await fixture.stored();
    await fixture.collectAt(ALL_DUE_AT + 6 * MINUTE_MS);
    expect(await fixture.expectObservedNow(stored)).toContain(item.id);
    expect(await fixture.itemFailure(item.id)).toBeNull();
  });
});

/** Expects that everything observed before is observed again, except for one item. */
async function expectOthersObserved(
  before: Awaited<ReturnType<ServiceFixture["stored"]>>,
  observed: ReadonlySet<string>,
  excluded: FixtureItem,
): Promise<void> {
  const entities = before.map(({ entity }) => entity).filter((entity) => entity !== excluded.id);
  expect(entities.filter((entity) => !observed.has(entity))).toEqual([]);
}

describe("a missing count is null, and not 0", () => {
  test("YouTube: a hidden subscriber count", async () => {
    const { before } = await startAndCollect("youtube");
    const owner = ownerAt(1);
    owner.lifecycle.hiddenAt = ALL_DUE_AT;
    await fixture.collectAt(ALL_DUE_AT);
    await fixture.expectAllObserved(before);
    const details = `/api/video/${owner.entity}/details`;
    expect(await fetchJson(details)).toMatchObject({ subscribers: null });
    owner.lifecycle.hiddenAt = Infinity;
    const stored = await fixture.stored();
    await fixture.collectAt(ALL_DUE_AT + 2 * HOUR_MS);
    await fixture.expectAllObserved(stored);
    expect(await fetchJson(details)).toMatchObject({ subscribers: owner.counts()["subscribers"] });
  });

  test("YouTube: disabled likes and comments of a short with views", async () => {
    const { before } = await startAndCollect("youtube");
    const [owner, item] = [ownerAt(1), firstItem(ownerAt(1))];
    item.lifecycle.hiddenAt = ALL_DUE_AT;
    await fixture.collectAt(ALL_DUE_AT);
    expect(await fixture.expectObservedNow(before)).toContain(item.id);
    expect(await fixture.itemFailure(item.id)).toBeNull();
    const { views } = item.counts();
    expect(views).toBeGreaterThan(0);
    expect(await fetchJson(`/api/video/${owner.entity}/short/${item.id}`)).toMatchObject({
      metrics: { views, likes: null, comments: null },
    });
    item.lifecycle.hiddenAt = Infinity;
    const stored = await fixture.stored();
    await fixture.collectAt(ALL_DUE_AT + 13 * HOUR_MS);
    expect(await fixture.expectObservedNow(stored)).toContain(item.id);
  });

  test("Bluesky: a renamed follower count", async () => {
    const { before } = await startAndCollect("bluesky");
    fixture.fake.injectFault(replaceText('"followersCount":', '"followerCount":'), {
      times: Infinity,
    });
    for (const user of fixture.world.users) user.hiddenAt = ALL_DUE_AT;
    await fixture.collectAt(ALL_DUE_AT);
    await fixture.expectAllObserved(before);
    for (const { entity, counts } of fixture.owners) {
      const { following_count } = counts();
      const expected = { followers_count: null, following_count };
      expect(await fetchJson(`/api/microblog/${entity}/details`)).toMatchObject(expected);
    }
    fixture.fake.clearFaults();
    for (const user of fixture.world.users) user.hiddenAt = Infinity;
    const stored = await fixture.stored();
    await fixture.collectAt(ALL_DUE_AT + 2 * HOUR_MS);
    await fixture.expectAllObserved(stored);
  });
});

/** All existing items, of all owners. */
const listItemIds = (): string[] =>
  fixture.owners.flatMap(({ items }) => items().map(({ id }) => id)).toSorted();

/** The items with stored observations. */
async function readStoredItems(): Promise<string[]> {
  const owners = new Set(fixture.owners.map(({ entity }) => entity));
  const all = new Set((await fixture.stored()).map(({ entity }) => entity));
  return [...all].filter((entity) => !owners.has(entity)).toSorted();
}

test("YouTube: the shorts of a channel without their playlist are its uploads of up to 180 s", async () => {
  fixture = await openServiceFixture("youtube");
  for (const channel of fixture.world.channels) channel.hasShortsList = false;
  await fixture.collectAt(NOW);
  await fixture.expectAllObserved([]);
  const missing = fixture.fake.log().filter(({ status }) => status === 404);
  expect(missing.every(({ query }) => query.includes("playlistId=UUSH"))).toBe(true);
  expect(missing.length).toBe(3);
  expect(fixture.world.channels.flatMap(({ uploads }) => uploads).length).toBeGreaterThan(100);
  expect(await readStoredItems()).toEqual(listItemIds());
  const before = await fixture.stored();
  await fixture.collectAt(ALL_DUE_AT);
  await fixture.expectAllObserved(before);
  expect(await readStoredItems()).toEqual(listItemIds());
});

describe("a feed of Bluesky", () => {
  test("has no reposts and replies, and each own post once", async () => {
    fixture = await openServiceFixture("bluesky", { replyShare: 0.2, repostShare: 0.3 });
    await fixture.collectAt(NOW);
    const posts = fixture.world.users.flatMap((user) => user.posts);
    expect(posts.filter(({ kind }) => kind === "repost").length).toBeGreaterThan(10);
    expect(await readStoredItems()).toEqual(listItemIds());
    await fixture.collectAt(ALL_DUE_AT);
    expect(await readStoredItems()).toEqual(listItemIds());
  });

  test("dates a post by the earlier of its two dates", async () => {
    await startAndCollect("bluesky", { falselyDatedShare: 0.4 });
    await fixture.collectAt(ALL_DUE_AT);
    expect(await readStoredItems()).toEqual(listItemIds());
    const posts = fixture.world.users.flatMap((user) => user.posts);
    const ahead = posts.filter(({ claimedAt, publishedAt }) => claimedAt > publishedAt);
    const behind = posts.filter(({ claimedAt, publishedAt }) => claimedAt < publishedAt - DAY_MS);
    expect([ahead.length > 0, behind.length > 0]).toEqual([true, true]);
    for (const { entity, items } of fixture.owners) {
      for (const { id, publishedAt } of items()) {
        expect(await fetchJson(`/api/microblog/${entity}/tweet/${id}`)).toMatchObject({
          tweet: { created_at: new Date(publishedAt).toISOString() },
        });
      }
    }
  });

  test("goes on after an empty page with a cursor", async () => {
    fixture = await openServiceFixture("bluesky");
    const body = { cursor: "2027-01-01T00:00:00.000Z", feed: [] };
    fixture.fake.injectFault(respondWith({ status: 200, body }), {
      times: 2,
      path: "getAuthorFeed",
    });
    await fixture.collectAt(NOW);
    await fixture.expectAllObserved([]);
    expect(await readStoredItems()).toEqual(listItemIds());
    const feeds = fixture.fake.log().filter(({ path }) => path.includes("getAuthorFeed"));
    expect(feeds.length).toBe(5);
    const before = await fixture.stored();
    await fixture.collectAt(ALL_DUE_AT);
    await fixture.expectAllObserved(before);
  });
});
