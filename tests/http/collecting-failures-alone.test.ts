/**
 * What fails of one creator, channel, short or tweet alone: what is stored then, that the log keeps
 * silent, where the reason is told instead, and what happens next.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import type { Source } from "../../server/collectors/port.ts";
import { answering, type Fault } from "../support/platforms/faults.ts";
import { first } from "../support/platforms/first.ts";
import type { StageOwner } from "../support/platforms/stage.ts";
import { LATER, openWatched, type Watched } from "../support/platforms/watched.ts";
import { xError } from "../support/platforms/x.ts";

let watched: Watched;
afterEach(async () => {
  try {
    // What concerns one alone is told where they are listed; in the log it would be noise.
    expect(watched.logged()).toEqual([]);
    const { source } = watched;
    const ready = { source, status: "ok", reason: null, since: null, until: null };
    expect(await watched.readiness()).toEqual(ready);
    expect(await watched.isStopped()).toBe(false);
  } finally {
    await watched.close();
  }
});

async function begin(source: Source) {
  watched = await openWatched(source);
  return watched.begin();
}

const ownerAt = (place: number): StageOwner => first(watched.owners.slice(place));
const spoil = ({ spoiling }: { readonly spoiling: Fault }): void =>
  watched.fake.fail(spoiling, { times: Infinity });
const remove = (one: { readonly fate: { goneAt: number } }): void => void (one.fate.goneAt = LATER);
const removeAll = (): void => watched.owners.forEach(remove);
const restore = (one: { readonly fate: { goneAt: number } }): void =>
  void (one.fate.goneAt = Infinity);

/** Whether a text was part of a request at this instant. */
const isAsked = (text: string): boolean =>
  watched.fake
    .log()
    .some(({ at, path, query }) => at === watched.clock.now && `${path} ${query}`.includes(text));

/** A failure that is looked into again after about a day. */
async function expectGone(id: string, failure: unknown, lastSuccess: string | null): Promise<void> {
  const standing = await watched.standing(id);
  const last_failure = new Date(watched.clock.now).toISOString();
  expect(standing).toMatchObject({ failure, last_failure, last_success: lastSuccess });
  const inMs = Date.parse(standing.next_due ?? "") - watched.clock.now;
  expect(inMs).toBeGreaterThanOrEqual(0.9 * DAY_MS);
  expect(inMs).toBeLessThanOrEqual(1.1 * DAY_MS);
}

describe("who is not there: the list says so, all others are observed, and they are asked for daily", () => {
  const suspended =
    "The user creator1 is suspended: X says " +
    '"Forbidden: Could not find or show user: [creator1]."';
  const noChannel = expect.stringMatching(/^YouTube has no channel UC/);

  test.each<[what: string, source: Source, name: string, failure: string]>([
    [
      "YouTube: a handle that nobody has, an answer without items",
      "youtube",
      "@nobody",
      "YouTube has no channel @nobody",
    ],
    [
      "X: a username that nobody has, among the errors beside data",
      "x",
      "nobody",
      'The user nobody is gone: X says "Not Found Error: Could not find or show user: [nobody]."',
    ],
    [
      "Bluesky: a handle that nobody has",
      "bluesky",
      "nobody.bsky.social",
      "Bluesky has no profile nobody.bsky.social",
    ],
  ])("%s", async (_what, source, name, failure) => {
    watched = await openWatched(source);
    await watched.watch(name);
    await watched.collectAt(watched.clock.now);
    await watched.expectAllObserved([]);
    await expectGone(name, failure, null);
    const path = source === "youtube" ? "/api/video/nobody" : `/api/microblog/${name}`;
    expect((await watched.service.get(`${path}/details`)).status).toBe(404);
    await watched.collectAt(watched.clock.now + 2 * HOUR_MS);
    expect(isAsked(name)).toBe(false);
    await watched.collectAt(watched.clock.now + DAY_MS);
    expect(isAsked(name)).toBe(true);
  });

  test.each<[what: string, source: Source, removed: "one" | "all", failure: unknown]>([
    ["YouTube: a channel that is missing in items", "youtube", "one", noChannel],
    ["YouTube: all channels, an answer without items", "youtube", "all", noChannel],
    ["X: a user among the errors beside data", "x", "one", suspended],
    ["X: all users, errors without data", "x", "all", suspended],
    [
      "Bluesky: a profile that the answer leaves out",
      "bluesky",
      "one",
      "Bluesky has no profile creator1.bsky.social",
    ],
    ["Bluesky: all profiles, status 400", "bluesky", "all", 'Bluesky says "Profile not found"'],
  ])("%s", async (_what, source, removed, failure) => {
    const { before, old } = await begin(source);
    const owner = ownerAt(1);
    const others = removed === "all" ? [] : [ownerAt(0), ownerAt(2)];
    if (removed === "all") removeAll();
    else remove(owner);
    await watched.collectAt(LATER);
    const observed = await watched.observedNow(before);
    const entities = watched.owners.map(({ entity }) => entity);
    expect(entities.filter((entity) => observed.has(entity))).toEqual(
      others.map(({ entity }) => entity),
    );
    expect((await watched.answers())[1]).toBe(first(old.slice(1)));
    await expectGone(owner.id, failure, "2026-11-20T12:00:00.000Z");
    for (const { id } of others) {
      expect(await watched.standing(id)).toMatchObject({ failure: null, last_failure: null });
    }

    const named = owner.entity.replace(/^UC/, "");
    await watched.collectAt(LATER + 2 * HOUR_MS);
    expect(isAsked(named)).toBe(false);
    for (const { entity } of others) expect(isAsked(entity)).toBe(true);
    watched.owners.forEach(restore);
    const stored = await watched.stored();
    await watched.collectAt(LATER + 1.2 * DAY_MS);
    expect(isAsked(named)).toBe(true);
    await watched.expectAllObserved(stored);
  });
});

describe("who is there, and of whom not everything can be had", () => {
  test.each<[what: string, source: Source, failure: string]>([
    [
      'a channel whose views YouTube tells as "338K" is not observed, and asked for again soon',
      "youtube",
      'viewCount must be a whole number from 0 to 9007199254740991, got "338K"',
    ],
    [
      "a user whose followers X tells as 1.5 is not observed, and asked for again soon",
      "x",
      "followers_count must be a whole number from 0 to 9007199254740991, got 1.5",
    ],
    [
      'a profile whose followers Bluesky tells as "12K" is not observed, and asked for again soon',
      "bluesky",
      'followers_count must be a whole number from 0 to 9007199254740991, got "12K"',
    ],
  ])("%s", async (_what, source, failure) => {
    const { before, old } = await begin(source);
    const [owner, others] = [ownerAt(1), [ownerAt(0), ownerAt(2)]];
    spoil(owner);
    await watched.collectAt(LATER);
    const observed = await watched.observedNow(before);
    expect(observed).not.toContain(owner.entity);
    for (const { entity } of others) expect(observed).toContain(entity);
    expect((await watched.answers())[1]).toBe(first(old.slice(1)));
    expect((await watched.standing(owner.id)).failure).toBe(failure);
    watched.fake.heal();
    const stored = await watched.stored();
    await watched.collectAt(LATER + 6 * MINUTE_MS);
    expect(await watched.observedNow(stored)).toContain(owner.entity);
    expect((await watched.standing(owner.id)).failure).toBeNull();
  });

  test.each<[what: string, failure: string]>([
    [
      "tweets that X answers with 404: the user is observed, and the list tells why the tweets are not",
      'X answered with status 404: "Not Found: Not Found"',
    ],
    [
      "tweets of a user that is protected by now: the user is observed, and the list tells why",
      "The user creator1 is protected: X says " +
        '"Authorization Error: Could not find or show user: [1000037]."',
    ],
  ])("%s", async (what, failure) => {
    const { before } = await begin("x");
    const user = first(watched.world.users.slice(1));
    if (what.includes("protected")) user.isProtected = true;
    else {
      const path = `/${user.id}/tweets`;
      watched.fake.fail(answering(xError(404, "Not Found")), { times: Infinity, path });
    }
    await watched.collectAt(LATER);
    const observed = await watched.observedNow(before);
    for (const { entity } of watched.owners) expect(observed).toContain(entity);
    const last_success = "2026-11-21T01:00:00.000Z";
    expect(await watched.standing(ownerAt(1).id)).toMatchObject({ failure, last_success });

    await watched.collectAt(LATER + 2 * HOUR_MS);
    expect([isAsked("creator1"), isAsked(`/${user.id}/tweets`)]).toEqual([true, false]);
    watched.fake.heal();
    user.isProtected = false;
    const stored = await watched.stored();
    await watched.collectAt(LATER + 1.2 * DAY_MS);
    await watched.expectAllObserved(stored);
  });
});
