/**
 * What fails of one creator, channel, short or tweet alone: what is stored then, that the log keeps
 * silent, where the reason is told instead, and what happens next.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../core/time.ts";
import type { Source } from "../../../server/collectors/collector.ts";
import { respondWith, type Fault } from "../../support/platforms/faults.ts";
import { first } from "../../support/platforms/first.ts";
import type { FixtureOwner } from "../../support/platforms/platform-fixture.ts";
import {
  ALL_DUE_AT,
  openServiceFixture,
  type ServiceFixture,
} from "../../support/platforms/service-fixture.ts";
import { xError } from "../../support/platforms/fake-x.ts";

let fixture: ServiceFixture;
afterEach(async () => {
  try {
    // What concerns one alone is told where they are listed; in the log it would be noise.
    expect(fixture.logged()).toEqual([]);
    const { source } = fixture;
    const ready = { source, status: "ok", reason: null, since: null, until: null };
    expect(await fixture.readiness()).toEqual(ready);
    expect(await fixture.isStopped()).toBe(false);
  } finally {
    await fixture.close();
  }
});

async function startAndCollect(source: Source) {
  fixture = await openServiceFixture(source);
  return fixture.collectAndAdvance();
}

const ownerAt = (index: number): FixtureOwner => first(fixture.owners.slice(index));
const corrupt = ({ corruptionFault }: { readonly corruptionFault: Fault }): void =>
  fixture.fake.injectFault(corruptionFault, { times: Infinity });
const removeEntity = (entity: { readonly lifecycle: { goneAt: number } }): void =>
  void (entity.lifecycle.goneAt = ALL_DUE_AT);
const removeAllOwners = (): void => fixture.owners.forEach(removeEntity);
const restoreEntity = (entity: { readonly lifecycle: { goneAt: number } }): void =>
  void (entity.lifecycle.goneAt = Infinity);

/** Whether a text was part of a request at this instant. */
const isRequested = (text: string): boolean =>
  fixture.fake
    .log()
    .some(({ at, path, query }) => at === fixture.clock.now && `${path} ${query}`.includes(text));

/** A failure that is looked into again after about a day. */
async function expectMissing(
  id: string,
  failure: unknown,
  lastSuccess: string | null,
): Promise<void> {
  const status = await fixture.readStatus(id);
  const last_failure = new Date(fixture.clock.now).toISOString();
  expect(status).toMatchObject({ failure, last_failure, last_success: lastSuccess });
  const inMs = Date.parse(status.next_due ?? "") - fixture.clock.now;
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
    fixture = await openServiceFixture(source);
    await fixture.watch(name);
    await fixture.collectAt(fixture.clock.now);
    await fixture.expectAllObserved([]);
    await expectMissing(name, failure, null);
    const path = source === "youtube" ? "/api/video/nobody" : `/api/microblog/${name}`;
    expect((await fixture.service.get(`${path}/details`)).status).toBe(404);
    await fixture.collectAt(fixture.clock.now + 2 * HOUR_MS);
    expect(isRequested(name)).toBe(false);
    await fixture.collectAt(fixture.clock.now + DAY_MS);
    expect(isRequested(name)).toBe(true);
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
    const { before, old } = await startAndCollect(source);
    const owner = ownerAt(1);
    const others = removed === "all" ? [] : [ownerAt(0), ownerAt(2)];
    if (removed === "all") removeAllOwners();
    else removeEntity(owner);
    await fixture.collectAt(ALL_DUE_AT);
    const observed = await fixture.expectObservedNow(before);
    const entities = fixture.owners.map(({ entity }) => entity);
    expect(entities.filter((entity) => observed.has(entity))).toEqual(
      others.map(({ entity }) => entity),
    );
    expect((await fixture.readDetails())[1]).toBe(first(old.slice(1)));
    await expectMissing(owner.id, failure, "2026-11-20T12:00:00.000Z");
    for (const { id } of others) {
      expect(await fixture.readStatus(id)).toMatchObject({ failure: null, last_failure: null });
    }

    const named = owner.entity.replace(/^UC/, "");
    await fixture.collectAt(ALL_DUE_AT + 2 * HOUR_MS);
    expect(isRequested(named)).toBe(false);
    for (const { entity } of others) expect(isRequested(entity)).toBe(true);
    fixture.owners.forEach(restoreEntity);
    const stored = await fixture.stored();
    await fixture.collectAt(ALL_DUE_AT + 1.2 * DAY_MS);
    expect(isRequested(named)).toBe(true);
    await fixture.expectAllObserved(stored);
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
    const { before, old } = await startAndCollect(source);
    const [owner, others] = [ownerAt(1), [ownerAt(0), ownerAt(2)]];
    corrupt(owner);
    await fixture.collectAt(ALL_DUE_AT);
    const observed = await fixture.expectObservedNow(before);
    expect(observed).not.toContain(owner.entity);
    for (const { entity } of others) expect(observed).toContain(entity);
    expect((await fixture.readDetails())[1]).toBe(first(old.slice(1)));
    expect((await fixture.readStatus(owner.id)).failure).toBe(failure);
    fixture.fake.clearFaults();
    const stored = await fixture.stored();
    await fixture.collectAt(ALL_DUE_AT + 6 * MINUTE_MS);
    expect(await fixture.expectObservedNow(stored)).toContain(owner.entity);
    expect((await fixture.readStatus(owner.id)).failure).toBeNull();
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
    const { before } = await startAndCollect("x");
    const user = first(fixture.world.users.slice(1));
    if (what.includes("protected")) user.isProtected = true;
    else {
      const path = `/${user.id}/tweets`;
      fixture.fake.injectFault(respondWith(xError(404, "Not Found")), { times: Infinity, path });
    }
    await fixture.collectAt(ALL_DUE_AT);
    const observed = await fixture.expectObservedNow(before);
    for (const { entity } of fixture.owners) expect(observed).toContain(entity);
    const last_success = "2026-11-21T01:00:00.000Z";
    expect(await fixture.readStatus(ownerAt(1).id)).toMatchObject({ failure, last_success });

    await fixture.collectAt(ALL_DUE_AT + 2 * HOUR_MS);
    expect([isRequested("creator1"), isRequested(`/${user.id}/tweets`)]).toEqual([true, false]);
    fixture.fake.clearFaults();
    user.isProtected = false;
    const stored = await fixture.stored();
    await fixture.collectAt(ALL_DUE_AT + 1.2 * DAY_MS);
    await fixture.expectAllObserved(stored);
  });
});
