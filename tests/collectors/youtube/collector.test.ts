/** The collector of YouTube: quotas, keys, hidden counts, and which videos are shorts. */
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
import { useFixture, createTestContext } from "../../support/platforms/platform-fixture.ts";
import { SECRET } from "../../support/platforms/platform-setups.ts";
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

describe("youtube: quotas and keys", () => {
  test.each([
    ["in winter, at 8:00 UTC", "2026-11-20T12:00:00.000Z", "2026-11-21T08:00:00.000Z"],
    ["in summer, at 7:00 UTC", "2026-07-01T06:59:59.999Z", "2026-07-01T07:00:00.000Z"],
    ["on the day summer ends", "2026-11-01T07:00:00.000Z", "2026-11-02T08:00:00.000Z"],
    ["on the day summer begins", "2026-03-08T08:00:00.000Z", "2026-03-09T07:00:00.000Z"],
  ])("a used up quota stops the source until midnight Pacific time: %s", async (_, at, until) => {
    fixture.clock.now = Date.parse(at);
    fixture.fake.injectFault(respondWith(QUOTA_EXCEEDED), { times: Infinity });
    const { sourceError: failure, results } = await pollProfile(1);
    expect(["rate-limited", "stop"]).toContain(failure?.kind ?? "nothing");
    expect(failure?.until).toBe(Date.parse(until));
    expect(failure?.message).toMatch(/quota|no more requests/i);
    expect(results).toEqual([]);
    expect(fixture.fake.served()).toBe(1);
  });

  test("a stopped source is polled again after midnight Pacific time, and not before", async () => {
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

  test("a wrong key is refused", async () => {
    const other = createYoutubeCollector({ baseUrl: fixture.fake.baseUrl, credential: "another" });
    const outcome = await pollBatch({ ...fixture, collector: other }, "profile", [
      createTarget({ id: channelAt(0).id }),
    ]);
    expect(outcome.sourceError?.kind).toBe("stop");
  });

  test("a used up bucket does not stop the other", async () => {
    const targets = await createCountTargets(fixture, fixture.owners.slice(0, 2));
    const { world } = fixture;
    const spent = await openFakeYoutube({
      world,
      now: () => fixture.clock.now,
      apiKey: SECRET,
      generalUnits: 1,
    });
    const collector = createYoutubeCollector({ baseUrl: spent.baseUrl, credential: SECRET });
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

describe("youtube: channels", () => {
  test("a hidden subscriber count is null, also if the response has one", async () => {
    channelAt(1).hiddenAt = 0;
    const plain = await pollProfile(1);
    expect(first(plain.observations).counts["subscribers"]).toBeNull();
    fixture.fake.injectFault(replaceText('"hiddenSubscriberCount"', '"subscriberCount":"0",$&'));
    const zero = await pollProfile(1);
    expect(first(zero.observations).counts["subscribers"]).toBeNull();
  });

  test.each(["338K", "-5", "1.5", "1e3", "", " 7", "0x10", "9007199254740992", "١٢"])(
    "a view count of %p is invalid",
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

  test("a channel with renamed statistics fails, and has no 0", async () => {
    fixture.fake.injectFault(replaceText('"statistics":', '"stats":'), { times: Infinity });
    const outcome = await pollProfile(1);
    const { failure } = outcome.results[0] ?? { failure: outcome.sourceError?.message };
    expect(failure).toBeString();
    expect(outcome.observations).toEqual([]);
  });

  test("optional attributes are absent or as in the response", async () => {
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

  test("a renamed channel is found by its source state", async () => {
    const owner = first(fixture.owners);
    const [target] = await createItemTargets(fixture, [owner]);
    fixture.world.renameChannel(channelAt(0), "renamed");
    const outcome = await pollBatch(fixture, "profile", target === undefined ? [] : [target]);
    expect(findObservation(outcome, owner.entity)?.attributes["username"]).toBe("renamed");
  });
});

describe("youtube: which videos are shorts", () => {
  test("the shorts of a channel without their playlist are its uploads of up to 180 s", async () => {
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

  test("uploads are read again from a video without statistics on, until it has some", async () => {
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

  test("a channel without any playlist is gone", async () => {
    const owner = first(fixture.owners);
    const targets = await createItemTargets(fixture, [owner]);
    channelAt(0).goneAt = 0;
    const outcome = await pollBatch(fixture, "items", targets);
    expect(outcome.sourceError).toBeUndefined();
    expect(findResult(outcome, owner.id).isGone).toBe(true);
  });

  test("a short has its channel, and its shares are null", async () => {
    const owner = first(fixture.owners);
    const targets = await createCountTargets(fixture, [owner]);
    const outcome = await pollBatch(fixture, "counts", targets);
    expect(outcome.observations.length).toBe(targets.length);
    for (const { attributes, counts } of outcome.observations) {
      expect(attributes["channel"]).toBe(owner.entity);
      expect(counts["shares"]).toBeNull();
    }
  });

  test("a short that became private is gone, and has no 0", async () => {
    const owner = first(fixture.owners);
    const targets = await createCountTargets(fixture, [owner]);
    const gone = first(owner.items());
    gone.lifecycle.goneAt = 0;
    const outcome = await pollBatch(fixture, "counts", targets);
    expect(findResult(outcome, gone.id).isGone).toBe(true);
    expect(findObservation(outcome, gone.id)).toBeUndefined();
  });

  test("a short with renamed statistics fails, and has neither 0 nor null", async () => {
    const targets = await createCountTargets(fixture, fixture.owners.slice(0, 1));
    fixture.fake.injectFault(replaceText('"statistics":', '"stats":'), { times: Infinity });
    const outcome = await pollBatch(fixture, "counts", targets);
    expect(outcome.observations).toEqual([]);
    expect(outcome.sourceError?.message ?? outcome.results[0]?.failure).toBeString();
  });

  test("renamed counts fail, and are not null", async () => {
    const owners = fixture.owners.slice(1, 2);
    const introduced = await createItemTargets(fixture, owners);
    const targets = await createCountTargets(fixture, owners);
    fixture.fake.injectFault(
      replaceText(/"(view|subscriber|video|like|comment)Count":/g, '"$1s":'),
      {
        times: Infinity,
      },
    );
    const summaries = [
      await pollProfile(1),
      await pollBatch(fixture, "items", introduced),
      await pollBatch(fixture, "counts", targets),
    ];
    for (const { observations, results } of summaries) {
      expect(observations).toEqual([]);
      expect(results[0]?.failure).toContain("YouTube returned no statistics");
    }
  });

  test("disabled likes and comments are null, and the views are not", async () => {
    const owner = first(fixture.owners);
    const targets = await createCountTargets(fixture, [owner]);
    const item = first(owner.items());
    item.lifecycle.hiddenAt = 0;
    const counts = findObservation(await pollBatch(fixture, "counts", targets), item.id)?.counts;
    expect(counts).toMatchObject(item.counts());
    expect(counts?.["likes"]).toBeNull();
    expect(counts?.["views"]).toBeNumber();
  });
});

describe("youtube: too many requests", () => {
  const MIDNIGHT = Date.parse("2026-11-21T08:00:00.000Z");

  test.each([
    ["a minute are retried", "Queries per minute per user", { kind: "transient" }],
    ["a day stop the source until the next", "Queries per day", { kind: "stop", until: MIDNIGHT }],
  ])("too many requests for %s", (_, limit, expected) => {
    const { readError } = createYoutubeCollector({
      baseUrl: "http://127.0.0.1:9",
      credential: "s3cret-of-youtube",
    });
    const message = `Quota exceeded for quota metric 'Queries' and limit '${limit}'`;
    const body = { error: { message, errors: [{ reason: "rateLimitExceeded" }] } };
    const answer = { status: 403, headers: new Headers(), body };
    expect(readError(answer, MIDNIGHT - 3_600_000)).toMatchObject(expected);
  });
});
