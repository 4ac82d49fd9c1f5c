/**
 * What is odd about shorts and tweets, or left untold, and is no failure of anyone: what is stored
 * then, that neither the log nor a list cries about it, and what happens next.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import type { Source } from "../../server/collectors/port.ts";
import { answering, replacing } from "../support/platforms/faults.ts";
import { first } from "../support/platforms/first.ts";
import type { StageItem, StageOwner } from "../support/platforms/stage.ts";
import { LATER, openWatched, type Watched } from "../support/platforms/watched.ts";
import type { WorldPlan } from "../support/platforms/world.ts";
import { NOW } from "../support/service.ts";

let watched: Watched;
afterEach(async () => {
  try {
    expect(watched.logged()).toEqual([]);
    for (const { id } of watched.owners) {
      expect(await watched.standing(id)).toMatchObject({ failure: null, last_failure: null });
    }
    const { source } = watched;
    const ready = { source, status: "ok", reason: null, since: null, until: null };
    expect(await watched.readiness()).toEqual(ready);
  } finally {
    await watched.close();
  }
});

async function begin(source: Source, plan: Partial<WorldPlan> = {}) {
  watched = await openWatched(source, plan);
  return watched.begin();
}

const ownerAt = (place: number): StageOwner => first(watched.owners.slice(place));

/** What is served at a path. */
const json = async (path: string): Promise<unknown> => JSON.parse(await watched.text(path));

/** An item of an owner, old enough to be observed at NOW already. */
const itemOf = (owner: StageOwner): StageItem => first(owner.items());

const isAsked = (text: string): boolean =>
  watched.fake.log().some(({ at, query }) => at === watched.clock.now && query.includes(text));

describe("an item that cannot be observed: its history stays, and all others are observed", () => {
  test.each<[what: string, source: Source, failure: (id: string, did: string) => string]>([
    [
      "a short that YouTube leaves out is deleted or private",
      "youtube",
      (id) => `YouTube has no video ${id}: it was deleted, or is private`,
    ],
    [
      "a tweet among X's errors, beside the data of others, is gone",
      "x",
      (id) =>
        `The tweet ${id} is gone: X says ` +
        `"Not Found Error: Could not find or show tweet: [${id}]."`,
    ],
    [
      "a post that Bluesky leaves out is deleted",
      "bluesky",
      (id, did) => `Bluesky has no post at://${did}/app.bsky.feed.post/${id}: it was deleted`,
    ],
  ])(
    "%s; it is left alone for longer than others, and observed again when it is back",
    async (_what, source, failure) => {
      const { before } = await begin(source);
      const item = itemOf(ownerAt(1));
      item.fate.goneAt = LATER;
      await watched.collectAt(LATER);
      expect(isAsked(item.id)).toBe(true);
      const observed = await watched.observedNow(before);
      expect(observed).not.toContain(item.id);
      expect(before.some(({ entity }) => entity === item.id)).toBe(true);
      await expectOthers(before, observed, item);
      const did = watched.world.users[1]?.did ?? "";
      expect(await watched.itemFailure(item.id)).toBe(failure(item.id, did));

      // The others of its age were observed every few hours.
      await watched.collectAt(LATER + 20 * HOUR_MS);
      expect(isAsked(item.id)).toBe(false);
      item.fate.goneAt = Infinity;
      const stored = await watched.stored();
      await watched.collectAt(LATER + 33 * DAY_MS);
      expect(await watched.observedNow(stored)).toContain(item.id);
      expect(await watched.itemFailure(item.id)).toBeNull();
    },
  );

  test.each<[what: string, source: Source, failure: string]>([
    [
      'a short whose views YouTube tells as "338K"',
      "youtube",
      'views must be a whole number from 0 to 9007199254740991, got "338K"',
    ],
    [
      "a tweet whose likes X tells as -7",
      "x",
      "likes must be a whole number from 0 to 9007199254740991, got -7",
    ],
    [
      'a post whose likes Bluesky tells as "12K"',
      "bluesky",
      'likes must be a whole number from 0 to 9007199254740991, got "12K"',
    ],
  ])("%s is not believed, and is asked for again soon", async (_what, source, failure) => {
    const { before } = await begin(source);
    const item = itemOf(ownerAt(1));
    watched.fake.fail(item.spoiling, { times: Infinity });
    await watched.collectAt(LATER);
    const observed = await watched.observedNow(before);
    expect(observed).not.toContain(item.id);
    await expectOthers(before, observed, item);
    expect(await watched.itemFailure(item.id)).toBe(failure);
    watched.fake.heal();
    const stored = await watched.stored();
    await watched.collectAt(LATER + 6 * MINUTE_MS);
    expect(await watched.observedNow(stored)).toContain(item.id);
    expect(await watched.itemFailure(item.id)).toBeNull();
  });
});

/** Whoever was observed at the beginning is observed again, but for one. */
async function expectOthers(
  before: Awaited<ReturnType<Watched["stored"]>>,
  observed: ReadonlySet<string>,
  but: StageItem,
): Promise<void> {
  const entities = before.map(({ entity }) => entity).filter((entity) => entity !== but.id);
  expect(entities.filter((entity) => !observed.has(entity))).toEqual([]);
}

describe("what a platform does not tell is unknown, and not 0", () => {
  test("YouTube: a hidden number of subscribers", async () => {
    const { before } = await begin("youtube");
    const owner = ownerAt(1);
    owner.fate.hiddenAt = LATER;
    await watched.collectAt(LATER);
    await watched.expectAllObserved(before);
    const details = `/api/video/${owner.entity}/details`;
    expect(await json(details)).toMatchObject({ subscribers: null });
    owner.fate.hiddenAt = Infinity;
    const stored = await watched.stored();
    await watched.collectAt(LATER + 2 * HOUR_MS);
    await watched.expectAllObserved(stored);
    expect(await json(details)).toMatchObject({ subscribers: owner.counts()["subscribers"] });
  });

  test("YouTube: likes and comments that are switched off, beside the views", async () => {
    const { before } = await begin("youtube");
    const [owner, item] = [ownerAt(1), itemOf(ownerAt(1))];
    item.fate.hiddenAt = LATER;
    await watched.collectAt(LATER);
    expect(await watched.observedNow(before)).toContain(item.id);
    expect(await watched.itemFailure(item.id)).toBeNull();
    const { views } = item.counts();
    expect(views).toBeGreaterThan(0);
    expect(await json(`/api/video/${owner.entity}/short/${item.id}`)).toMatchObject({
      metrics: { views, likes: null, comments: null },
    });
    item.fate.hiddenAt = Infinity;
    const stored = await watched.stored();
    await watched.collectAt(LATER + 13 * HOUR_MS);
    expect(await watched.observedNow(stored)).toContain(item.id);
  });

  test("Bluesky: followers under a name that nobody knows", async () => {
    const { before } = await begin("bluesky");
    watched.fake.fail(replacing('"followersCount":', '"followerCount":'), { times: Infinity });
    for (const user of watched.world.users) user.hiddenAt = LATER;
    await watched.collectAt(LATER);
    await watched.expectAllObserved(before);
    for (const { entity, counts } of watched.owners) {
      const { following_count } = counts();
      const told = { followers_count: null, following_count };
      expect(await json(`/api/microblog/${entity}/details`)).toMatchObject(told);
    }
    watched.fake.heal();
    for (const user of watched.world.users) user.hiddenAt = Infinity;
    const stored = await watched.stored();
    await watched.collectAt(LATER + 2 * HOUR_MS);
    await watched.expectAllObserved(stored);
  });
});

/** The items that are there now, of all owners. */
const itemIds = (): string[] =>
  watched.owners.flatMap(({ items }) => items().map(({ id }) => id)).toSorted();

/** The items of which something is stored. */
async function storedItems(): Promise<string[]> {
  const owners = new Set(watched.owners.map(({ entity }) => entity));
  const all = new Set((await watched.stored()).map(({ entity }) => entity));
  return [...all].filter((entity) => !owners.has(entity)).toSorted();
}

test("YouTube: without its list of shorts, a channel is read by its uploads of at most 180 s", async () => {
  watched = await openWatched("youtube");
  for (const channel of watched.world.channels) channel.hasShortsList = false;
  await watched.collectAt(NOW);
  await watched.expectAllObserved([]);
  const missing = watched.fake.log().filter(({ status }) => status === 404);
  expect(missing.every(({ query }) => query.includes("playlistId=UUSH"))).toBe(true);
  expect(missing.length).toBe(3);
  expect(watched.world.channels.flatMap(({ uploads }) => uploads).length).toBeGreaterThan(100);
  expect(await storedItems()).toEqual(itemIds());
  const before = await watched.stored();
  await watched.collectAt(LATER);
  await watched.expectAllObserved(before);
  expect(await storedItems()).toEqual(itemIds());
});

describe("Bluesky's feeds", () => {
  test("reposts and replies are left out, and what is someone's own is stored once", async () => {
    watched = await openWatched("bluesky", { replyShare: 0.2, repostShare: 0.3 });
    await watched.collectAt(NOW);
    const posts = watched.world.users.flatMap((user) => user.posts);
    expect(posts.filter(({ kind }) => kind === "repost").length).toBeGreaterThan(10);
    expect(await storedItems()).toEqual(itemIds());
    await watched.collectAt(LATER);
    expect(await storedItems()).toEqual(itemIds());
  });

  test("a post that claims a false date is as old as the earlier of its two dates", async () => {
    await begin("bluesky", { falselyDatedShare: 0.4 });
    await watched.collectAt(LATER);
    expect(await storedItems()).toEqual(itemIds());
    const posts = watched.world.users.flatMap((user) => user.posts);
    const ahead = posts.filter(({ claimedAt, publishedAt }) => claimedAt > publishedAt);
    const behind = posts.filter(({ claimedAt, publishedAt }) => claimedAt < publishedAt - DAY_MS);
    expect([ahead.length > 0, behind.length > 0]).toEqual([true, true]);
    for (const { entity, items } of watched.owners) {
      for (const { id, publishedAt } of items()) {
        expect(await json(`/api/microblog/${entity}/tweet/${id}`)).toMatchObject({
          tweet: { created_at: new Date(publishedAt).toISOString() },
        });
      }
    }
  });

  test("an empty page with a cursor is not the end of the feed", async () => {
    watched = await openWatched("bluesky");
    const body = { cursor: "2027-01-01T00:00:00.000Z", feed: [] };
    watched.fake.fail(answering({ status: 200, body }), { times: 2, path: "getAuthorFeed" });
    await watched.collectAt(NOW);
    await watched.expectAllObserved([]);
    expect(await storedItems()).toEqual(itemIds());
    const feeds = watched.fake.log().filter(({ path }) => path.includes("getAuthorFeed"));
    expect(feeds.length).toBe(5);
    const before = await watched.stored();
    await watched.collectAt(LATER);
    await watched.expectAllObserved(before);
  });
});
