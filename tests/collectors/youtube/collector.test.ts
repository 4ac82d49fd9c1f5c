/** What the collector of YouTube makes of each answer that is no plain one. */
import { describe, expect, test } from "bun:test";
import {
  findResult,
  createItemTargets,
  createCountTargets,
  findObservation,
  pollBatch,
  pollAll,
  createTarget,
} from "../../support/platforms/poll-targets.ts";
import { respondWith, replaceText } from "../../support/platforms/faults.ts";
import { first } from "../../support/platforms/first.ts";
import { useFixture, SECRET, createTestContext } from "../../support/platforms/platform-fixture.ts";
import {
  KEY_REFUSED,
  openFakeYoutube,
  QUOTA_EXCEEDED,
} from "../../support/platforms/fake-youtube.ts";
import { createYoutubeCollector } from "../../../server/collectors/youtube/collector.ts";

const fixture = useFixture("youtube", { channels: 6, shortsEach: 4, longVideosEach: 4 });

const channelAt = (place: number) => first(fixture.world.channels.slice(place));
const pollProfile = (place: number) =>
  pollBatch(fixture, "profile", [createTarget(first(fixture.owners.slice(place)))]);

describe("youtube: when the source stops", () => {
  test.each([
    ["in winter, at 8:00 UTC", "2026-11-20T12:00:00.000Z", "2026-11-21T08:00:00.000Z"],
    ["in summer, at 7:00 UTC", "2026-07-01T06:59:59.999Z", "2026-07-01T07:00:00.000Z"],
    ["on the day summer ends", "2026-11-01T07:00:00.000Z", "2026-11-02T08:00:00.000Z"],
    ["on the day summer begins", "2026-03-08T08:00:00.000Z", "2026-03-09T07:00:00.000Z"],
  ])("out of quota, nothing is asked until midnight Pacific time: %s", async (_, at, until) => {
    fixture.clock.now = Date.parse(at);
    fixture.fake.injectFault(respondWith(QUOTA_EXCEEDED), { times: Infinity });
    const { sourceError: failure, results } = await pollProfile(1);
    expect(["rate-limited", "stop"]).toContain(failure?.kind ?? "nothing");
    expect(failure?.until).toBe(Date.parse(until));
    expect(failure?.message).toMatch(/quota|no more requests/i);
    expect(results).toEqual([]);
    expect(fixture.fake.served()).toBe(1);
  });

  test("after midnight Pacific time it is asked again, and not before", async () => {
    fixture.fake.injectFault(respondWith(QUOTA_EXCEEDED));
    const context = createTestContext(fixture);
    const targets = fixture.owners.slice(1, 2).map(createTarget);
    const until =
      (await pollBatch(fixture, "profile", targets, { context })).sourceError?.until ?? 0;
    fixture.clock.now = until - 1;
    const early = await pollBatch(fixture, "profile", targets, { context });
    expect([early.sourceError?.until, fixture.fake.served()]).toEqual([until, 1]);
    fixture.clock.now = until;
    const later = await pollBatch(fixture, "profile", targets, { context });
    expect([later.sourceError, later.observations.length]).toEqual([undefined, 1]);
  });

  test("a refused key stops the source until its settings change, and is not retried", async () => {
    fixture.fake.injectFault(respondWith(KEY_REFUSED), { times: Infinity });
    const { sourceError: failure, results } = await pollProfile(1);
    expect(failure?.kind).toBe("stop");
    expect(failure?.until).toBeUndefined();
    expect(failure?.message).not.toContain(SECRET);
    expect(results).toEqual([]);
    expect(fixture.fake.served()).toBe(1);
  });

  test("a key that is not the platform's is refused", async () => {
    const other = createYoutubeCollector({ baseUrl: fixture.fake.baseUrl, apiKey: "another" });
    const outcome = await pollBatch({ ...fixture, collector: other }, "profile", [
      createTarget({ id: channelAt(0).id }),
    ]);
    expect(outcome.sourceError?.kind).toBe("stop");
  });

  test("when one bucket is spent, the other still answers", async () => {
    const targets = await createCountTargets(fixture, fixture.owners.slice(0, 2));
    const { world } = fixture;
    const spent = await openFakeYoutube({
      world,
      now: () => fixture.clock.now,
      apiKey: SECRET,
      generalUnits: 1,
    });
    const collector = createYoutubeCollector({ baseUrl: spent.baseUrl, apiKey: SECRET });
    const narrow = { ...fixture, fake: spent, collector };
    await pollBatch(narrow, "profile", [createTarget({ id: channelAt(0).id })]);
    const second = await pollBatch(narrow, "profile", [createTarget({ id: channelAt(1).id })]);
    expect(second.sourceError?.until).toBe(Date.parse("2026-11-21T08:00:00.000Z"));
    const counts = await pollBatch(narrow, "counts", targets);
    await spent.close();
    expect(counts.sourceError).toBeUndefined();
    expect(counts.observations.length).toBe(targets.length);
  });
});

describe("youtube: what a channel tells", () => {
  test("a hidden number of subscribers is null, also where one is told along with it", async () => {
    channelAt(1).hiddenAt = 0;
    const plain = await pollProfile(1);
    expect(first(plain.observations).counts["subscribers"]).toBeNull();
    fixture.fake.injectFault(replaceText('"hiddenSubscriberCount"', '"subscriberCount":"0",$&'));
    const zero = await pollProfile(1);
    expect(first(zero.observations).counts["subscribers"]).toBeNull();
  });

  test.each(["338K", "-5", "1.5", "1e3", "", " 7", "0x10", "9007199254740992", "١٢"])(
    "a view count of %p is not read as a number",
    async (text) => {
      fixture.fake.injectFault(
        replaceText(/"viewCount":"\d+"/g, `"viewCount":${JSON.stringify(text)}`),
        {
          times: Infinity,
        },
      );
      const outcome = await pollProfile(1);
      const { failure } = outcome.results[0] ?? { failure: outcome.sourceError?.message };
      expect(failure).toBeString();
      expect(outcome.observations).toEqual([]);
    },
  );

  test("a renamed field makes the channel fail, and is no 0", async () => {
    fixture.fake.injectFault(replaceText('"statistics":', '"stats":'), { times: Infinity });
    const outcome = await pollProfile(1);
    const { failure } = outcome.results[0] ?? { failure: outcome.sourceError?.message };
    expect(failure).toBeString();
    expect(outcome.observations).toEqual([]);
  });

  test("what may be left out is left out, and what is there is told", async () => {
    const { attributes } = first((await pollProfile(0)).observations);
    expect(attributes).toMatchObject({
      username: "channel_0",
      displayName: "Channel 0",
      description: "All about Channel 0",
      joinedAt: Math.floor(channelAt(0).joinedAt / 1000) * 1000,
      country: "US",
      bannerImage: "https://banner.test/0",
    });
    expect(attributes["thumbnail"]).toContain(channelAt(0).id);
    expect(Object.keys(first((await pollProfile(1)).observations).attributes)).not.toContain(
      "country",
    );
    expect(Object.keys(first((await pollProfile(2)).observations).attributes)).not.toContain(
      "bannerImage",
    );
    expect(Object.keys(first((await pollProfile(5)).observations).attributes)).not.toContain(
      "username",
    );
  });

  test("a channel that was renamed is still found by what was remembered of it", async () => {
    const owner = first(fixture.owners);
    const [target] = await createItemTargets(fixture, [owner]);
    fixture.world.renameChannel(channelAt(0), "renamed");
    const outcome = await pollBatch(fixture, "profile", target === undefined ? [] : [target]);
    expect(findObservation(outcome, owner.entity)?.attributes["username"]).toBe("renamed");
  });
});

describe("youtube: which videos are shorts", () => {
  test("a channel without the list of shorts is read by its uploads of at most 180 s", async () => {
    for (const channel of fixture.world.channels) channel.hasShortsList = false;
    const outcome = await pollAll(
      fixture,
      "items",
      await createItemTargets(fixture, fixture.owners),
    );
    expect(outcome.sourceError).toBeUndefined();
    expect(outcome.items.map(({ id }) => id).toSorted()).toEqual(
      fixture.owners.flatMap((owner) => owner.items().map(({ id }) => id)).toSorted(),
    );
    expect(outcome.results.filter(({ failure }) => failure !== undefined)).toEqual([]);
  });

  test("uploads are read anew from one that has no statistics on, until it has some", async () => {
    channelAt(0).hasShortsList = false;
    const owner = first(fixture.owners);
    const [target = createTarget(owner)] = await createItemTargets(fixture, [owner]);
    const [bad, ...others] = owner.items();
    const withoutStatistics = new RegExp(`("id":"${bad?.id}".*?)"statistics":`, "g");
    fixture.fake.injectFault(replaceText(withoutStatistics, '$1"stats":'), { times: Infinity });
    const outcome = await pollBatch(fixture, "items", [target]);
    const { sourceState = {}, failure } = findResult(outcome, owner.id);
    expect(failure).toContain("no statistics");
    expect(outcome.items.map(({ id }) => id).toSorted()).toEqual(
      others.map(({ id }) => id).toSorted(),
    );
    const readTo = Date.parse(sourceState["uploadsReadTo"] ?? "");
    expect(readTo).toBeLessThanOrEqual(bad?.publishedAt ?? 0);

    const known = new Map(outcome.items.map((item) => [item.id, item.sourceState ?? {}]));
    fixture.fake.clearFaults();
    const again = await pollBatch(fixture, "items", [{ ...target, sourceState }], { known });
    expect(again.items.map(({ id }) => id)).toContain(bad?.id ?? "");
    const uploads = channelAt(0).uploads.filter((video) => video.publishedAt <= fixture.clock.now);
    const newest = Math.floor((uploads.at(-1)?.publishedAt ?? 0) / 1000) * 1000;
    const after = findResult(again, owner.id);
    expect(after.failure).toBeUndefined();
    expect(Date.parse(after.sourceState?.["uploadsReadTo"] ?? "")).toBe(newest);
  });

  test("where there are no uploads either, the channel is gone", async () => {
    const owner = first(fixture.owners);
    const targets = await createItemTargets(fixture, [owner]);
    channelAt(0).goneAt = 0;
    const outcome = await pollBatch(fixture, "items", targets);
    expect(outcome.sourceError).toBeUndefined();
    expect(findResult(outcome, owner.id).isGone).toBe(true);
  });

  test("a short belongs to its channel, and nobody tells its shares", async () => {
    const owner = first(fixture.owners);
    const targets = await createCountTargets(fixture, [owner]);
    const outcome = await pollBatch(fixture, "counts", targets);
    expect(outcome.observations.length).toBe(targets.length);
    for (const { attributes, counts } of outcome.observations) {
      expect(attributes["channel"]).toBe(owner.entity);
      expect(counts["shares"]).toBeNull();
    }
  });

  test("a short that became private is gone, and gets no zero", async () => {
    const owner = first(fixture.owners);
    const targets = await createCountTargets(fixture, [owner]);
    const gone = first(owner.items());
    gone.lifecycle.goneAt = 0;
    const outcome = await pollBatch(fixture, "counts", targets);
    expect(findResult(outcome, gone.id).isGone).toBe(true);
    expect(findObservation(outcome, gone.id)).toBeUndefined();
  });

  test("statistics under a name that nobody knows are no zeros and no unknowns", async () => {
    const targets = await createCountTargets(fixture, fixture.owners.slice(0, 1));
    fixture.fake.injectFault(replaceText('"statistics":', '"stats":'), { times: Infinity });
    const outcome = await pollBatch(fixture, "counts", targets);
    expect(outcome.observations).toEqual([]);
    expect(outcome.sourceError?.message ?? outcome.results[0]?.failure).toBeString();
  });

  test("statistics whose names are all unknown are no unknowns", async () => {
    const owners = fixture.owners.slice(1, 2);
    const introduced = await createItemTargets(fixture, owners);
    const targets = await createCountTargets(fixture, owners);
    fixture.fake.injectFault(
      replaceText(/"(view|subscriber|video|like|comment)Count":/g, '"$1s":'),
      {
        times: Infinity,
      },
    );
    const told = [
      await pollProfile(1),
      await pollBatch(fixture, "items", introduced),
      await pollBatch(fixture, "counts", targets),
    ];
    for (const { observations, results } of told) {
      expect(observations).toEqual([]);
      expect(results[0]?.failure).toContain("YouTube returned no statistics");
    }
  });

  test("likes and comments that are switched off are null, beside the views", async () => {
    const owner = first(fixture.owners);
    const targets = await createCountTargets(fixture, [owner]);
    const item = first(owner.items());
    item.lifecycle.hiddenAt = 0;
    const counts = findObservation(await pollBatch(fixture, "counts", targets), item.id)?.counts;
    expect(counts).toEqual({ ...item.counts() });
    expect(counts?.["likes"]).toBeNull();
    expect(counts?.["views"]).toBeNumber();
  });
});

describe("youtube: asked too fast", () => {
  const MIDNIGHT = Date.parse("2026-11-21T08:00:00.000Z");

  test.each([
    ["a minute can pass", "Queries per minute per user", { kind: "transient" }],
    ["a day stops it until the next", "Queries per day", { kind: "stop", until: MIDNIGHT }],
  ])("what is too much for %s", (_, limit, judgement) => {
    const { classifyResponse } = createYoutubeCollector({
      baseUrl: "http://127.0.0.1:9",
      apiKey: "s3cret-of-youtube",
    });
    const message = `Quota exceeded for quota metric 'Queries' and limit '${limit}'`;
    const body = { error: { message, errors: [{ reason: "rateLimitExceeded" }] } };
    const answer = { status: 403, headers: new Headers(), body };
    expect(classifyResponse(answer, MIDNIGHT - 3_600_000)).toMatchObject(judgement);
  });
});
