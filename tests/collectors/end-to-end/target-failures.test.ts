/**
 * Failures of one creator or channel: what is stored, where the reason is shown, and what happens
 * next. The log does not have them.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../core/time.ts";
import type { SourceName } from "../../support/platforms/source-names.ts";
import { respondWith, type Fault } from "../../support/platforms/faults.ts";
import { first } from "../../support/platforms/first.ts";
import type { FixtureOwner } from "../../support/platforms/platform-setups.ts";
import {
  ALL_DUE_AT,
  openServiceFixture,
  type ServiceFixture,
} from "../../support/platforms/service-fixture.ts";
import { createXError } from "../../support/platforms/fake-x.ts";

let fixture: ServiceFixture;
afterEach(async () => {
  try {
    // The lists show the failure of one target; in the log it would be noise.
    expect(fixture.logged()).toEqual([]);
    const { source } = fixture;
    const ready = { source, status: "ok", reason: null, since: null, until: null };
    expect(await fixture.readiness()).toEqual(ready);
    expect(await fixture.isStopped()).toBe(false);
  } finally {
    await fixture.close();
  }
});

async function startAndCollect(source: SourceName) {
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

/** Whether a request at this instant contained the text. */
const isRequested = (text: string): boolean =>
  fixture.fake
    .log()
    .some(({ at, path, query }) => at === fixture.clock.now && `${path} ${query}`.includes(text));

/** Expects a failure after which the target is polled again in about a day. */
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

describe("a missing creator or channel is listed as such and polled daily, and the others are observed", () => {
  const suspended =
    "The user creator1 is suspended: X says " +
    '"Forbidden: Could not find or show user: [creator1]."';
  const noChannel = expect.stringMatching(/^YouTube has no channel UC/);

  test.each<[what: string, source: SourceName, name: string, failure: string]>([
    [
      "YouTube: an unknown handle, a response without items",
      "youtube",
      "@nobody",
      "YouTube has no channel @nobody",
    ],
    [
      "X: an unknown username among the errors of a response with data",
      "x",
      "nobody",
      'The user nobody is gone: X says "Not Found Error: Could not find or show user: [nobody]."',
    ],
    [
      "Bluesky: an unknown handle",
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

  test.each<[what: string, source: SourceName, removed: "one" | "all", failure: unknown]>([
    ["YouTube: a channel missing in items", "youtube", "one", noChannel],
    ["YouTube: all channels, a response without items", "youtube", "all", noChannel],
    ["X: a user among the errors of a response with data", "x", "one", suspended],
    ["X: all users, errors without data", "x", "all", suspended],
    [
      "Bluesky: a profile missing in the response",
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

describe("an existing creator or channel with invalid or unavailable data", () => {
  test.each<[what: string, source: SourceName, failure: string]>([
    [
      'a channel with "338K" views of YouTube is not observed, and polled again soon',
      "youtube",
      'viewCount must be a whole number from 0 to 9007199254740991, got "338K"',
    ],
    [
      "a user with 1.5 followers of X is not observed, and polled again soon",
      "x",
      "followers_count must be a whole number from 0 to 9007199254740991, got 1.5",
    ],
    [
      'a profile with "12K" followers of Bluesky is not observed, and polled again soon',
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
      "a timeline with status 404 of X: the user is observed, and the list says why the tweets are not",
      'X answered with status 404: "Not Found: Not Found"',
    ],
    [
      "a user who became protected is observed, and the list says why the tweets are not",
      "The user creator1 is protected: X says " +
        '"Authorization Error: Could not find or show user: [1000037]."',
    ],
  ])("%s", async (what, failure) => {
    const { before } = await startAndCollect("x");
    const user = first(fixture.world.users.slice(1));
    if (what.includes("protected")) user.isProtected = true;
    else {
      const path = `/${user.id}/tweets`;
      fixture.fake.injectFault(respondWith(createXError(404, "Not Found")), {
        times: Infinity,
        path,
      });
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
