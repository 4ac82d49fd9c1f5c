/** What the collector of YouTube makes of each answer that is no plain one. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  findingOf,
  introduce,
  listItems,
  observationOf,
  run,
  runAll,
  targetOf,
} from "../support/platforms/errands.ts";
import { answering, replacing } from "../support/platforms/faults.ts";
import { first } from "../support/platforms/first.ts";
import { openStage, SECRET, surround, type Stage } from "../support/platforms/stage.ts";
import { KEY_REFUSED, openYoutube, QUOTA_EXCEEDED } from "../support/platforms/youtube.ts";
import { youtube } from "../../server/collectors/youtube.ts";

let stage: Stage;
beforeEach(async () => {
  const amounts = { channels: 6, shortsEach: 4, longVideosEach: 4 };
  stage = await openStage("youtube", amounts);
});
afterEach(() => stage.close());

const channelAt = (place: number) => first(stage.world.channels.slice(place));
const profileOf = (place: number) =>
  run(stage, "profile", [targetOf(first(stage.owners.slice(place)))]);

describe("youtube: when the source stops", () => {
  test.each([
    ["in winter, at 8:00 UTC", "2026-11-20T12:00:00.000Z", "2026-11-21T08:00:00.000Z"],
    ["in summer, at 7:00 UTC", "2026-07-01T06:59:59.999Z", "2026-07-01T07:00:00.000Z"],
    ["on the day summer ends", "2026-11-01T07:00:00.000Z", "2026-11-02T08:00:00.000Z"],
    ["on the day summer begins", "2026-03-08T08:00:00.000Z", "2026-03-09T07:00:00.000Z"],
  ])("out of quota, nothing is asked until midnight Pacific time: %s", async (_, at, until) => {
    stage.clock.now = Date.parse(at);
    stage.fake.fail(answering(QUOTA_EXCEEDED), { times: Infinity });
    const { failure, findings } = await profileOf(1);
    expect(["wait", "stop"]).toContain(failure?.kind ?? "nothing");
    expect(failure?.until).toBe(Date.parse(until));
    expect(failure?.message).toMatch(/quota|no more requests/i);
    expect(findings).toEqual([]);
    expect(stage.fake.served()).toBe(1);
  });

  test("after midnight Pacific time it is asked again, and not before", async () => {
    stage.fake.fail(answering(QUOTA_EXCEEDED));
    const surroundings = surround(stage);
    const targets = stage.owners.slice(1, 2).map(targetOf);
    const until = (await run(stage, "profile", targets, { surroundings })).failure?.until ?? 0;
    stage.clock.now = until - 1;
    const early = await run(stage, "profile", targets, { surroundings });
    expect([early.failure?.until, stage.fake.served()]).toEqual([until, 1]);
    stage.clock.now = until;
    const later = await run(stage, "profile", targets, { surroundings });
    expect([later.failure, later.observations.length]).toEqual([undefined, 1]);
  });

  test("a refused key stops the source until its settings change, and is not retried", async () => {
    stage.fake.fail(answering(KEY_REFUSED), { times: Infinity });
    const { failure, findings } = await profileOf(1);
    expect(failure?.kind).toBe("stop");
    expect(failure?.until).toBeUndefined();
    expect(failure?.message).not.toContain(SECRET);
    expect(findings).toEqual([]);
    expect(stage.fake.served()).toBe(1);
  });

  test("a key that is not the platform's is refused", async () => {
    const other = youtube({ baseUrl: stage.fake.baseUrl, apiKey: "another" });
    const outcome = await run({ ...stage, collector: other }, "profile", [
      targetOf({ id: channelAt(0).id }),
    ]);
    expect(outcome.failure?.kind).toBe("stop");
  });

  test("when one bucket is spent, the other still answers", async () => {
    const targets = await listItems(stage, stage.owners.slice(0, 2));
    const { world } = stage;
    const spent = await openYoutube({
      world,
      now: () => stage.clock.now,
      apiKey: SECRET,
      generalUnits: 1,
    });
    const collector = youtube({ baseUrl: spent.baseUrl, apiKey: SECRET });
    const narrow = { ...stage, fake: spent, collector };
    await run(narrow, "profile", [targetOf({ id: channelAt(0).id })]);
    const second = await run(narrow, "profile", [targetOf({ id: channelAt(1).id })]);
    expect(second.failure?.until).toBe(Date.parse("2026-11-21T08:00:00.000Z"));
    const counts = await run(narrow, "counts", targets);
    await spent.close();
    expect(counts.failure).toBeUndefined();
    expect(counts.observations.length).toBe(targets.length);
  });
});

describe("youtube: what a channel tells", () => {
  test("a hidden number of subscribers is null, also where one is told along with it", async () => {
    channelAt(1).hiddenAt = 0;
    const plain = await profileOf(1);
    expect(first(plain.observations).counts["subscribers"]).toBeNull();
    stage.fake.fail(replacing('"hiddenSubscriberCount"', '"subscriberCount":"0",$&'));
    const zero = await profileOf(1);
    expect(first(zero.observations).counts["subscribers"]).toBeNull();
  });

  test.each(["338K", "-5", "1.5", "1e3", "", " 7", "0x10", "9007199254740992", "١٢"])(
    "a view count of %p is not read as a number",
    async (text) => {
      stage.fake.fail(replacing(/"viewCount":"\d+"/g, `"viewCount":${JSON.stringify(text)}`), {
        times: Infinity,
      });
      const outcome = await profileOf(1);
      const { failure } = outcome.findings[0] ?? { failure: outcome.failure?.message };
      expect(failure).toBeString();
      expect(outcome.observations).toEqual([]);
    },
  );

  test("a renamed field makes the channel fail, and is no 0", async () => {
    stage.fake.fail(replacing('"statistics":', '"stats":'), { times: Infinity });
    const outcome = await profileOf(1);
    const { failure } = outcome.findings[0] ?? { failure: outcome.failure?.message };
    expect(failure).toBeString();
    expect(outcome.observations).toEqual([]);
  });

  test("what may be left out is left out, and what is there is told", async () => {
    const { described } = first((await profileOf(0)).observations);
    expect(described).toMatchObject({
      username: "channel_0",
      displayName: "Channel 0",
      description: "All about Channel 0",
      joinedAt: Math.floor(channelAt(0).joinedAt / 1000) * 1000,
      country: "US",
      bannerImage: "https://banner.test/0",
    });
    expect(described["thumbnail"]).toContain(channelAt(0).id);
    expect(Object.keys(first((await profileOf(1)).observations).described)).not.toContain(
      "country",
    );
    expect(Object.keys(first((await profileOf(2)).observations).described)).not.toContain(
      "bannerImage",
    );
    expect(Object.keys(first((await profileOf(5)).observations).described)).not.toContain(
      "username",
    );
  });

  test("a channel that was renamed is still found by what was remembered of it", async () => {
    const owner = first(stage.owners);
    const [target] = await introduce(stage, [owner]);
    stage.world.renameChannel(channelAt(0), "renamed");
    const outcome = await run(stage, "profile", target === undefined ? [] : [target]);
    expect(observationOf(outcome, owner.entity)?.described["username"]).toBe("renamed");
  });
});

describe("youtube: which videos are shorts", () => {
  test("a channel without the list of shorts is read by its uploads of at most 180 s", async () => {
    for (const channel of stage.world.channels) channel.hasShortsList = false;
    const outcome = await runAll(stage, "items", await introduce(stage, stage.owners));
    expect(outcome.failure).toBeUndefined();
    expect(outcome.items.map(({ id }) => id).toSorted()).toEqual(
      stage.owners.flatMap((owner) => owner.items().map(({ id }) => id)).toSorted(),
    );
    expect(outcome.findings.filter(({ failure }) => failure !== undefined)).toEqual([]);
  });

  test("uploads are read anew from one that has no statistics on, until it has some", async () => {
    channelAt(0).hasShortsList = false;
    const owner = first(stage.owners);
    const [target = targetOf(owner)] = await introduce(stage, [owner]);
    const [bad, ...others] = owner.items();
    const withoutStatistics = new RegExp(`("id":"${bad?.id}".*?)"statistics":`, "g");
    stage.fake.fail(replacing(withoutStatistics, '$1"stats":'), { times: Infinity });
    const outcome = await run(stage, "items", [target]);
    const { memo = {}, failure } = findingOf(outcome, owner.id);
    expect(failure).toContain("no statistics");
    expect(outcome.items.map(({ id }) => id).toSorted()).toEqual(
      others.map(({ id }) => id).toSorted(),
    );
    const readTo = Date.parse(memo["uploadsRead"] ?? "");
    expect(readTo).toBeLessThanOrEqual(bad?.publishedAt ?? 0);

    const known = new Map(outcome.items.map((item) => [item.id, item.memo ?? {}]));
    stage.fake.heal();
    const again = await run(stage, "items", [{ ...target, memo }], { known });
    expect(again.items.map(({ id }) => id)).toContain(bad?.id ?? "");
    const uploads = channelAt(0).uploads.filter((video) => video.publishedAt <= stage.clock.now);
    const newest = Math.floor((uploads.at(-1)?.publishedAt ?? 0) / 1000) * 1000;
    const after = findingOf(again, owner.id);
    expect(after.failure).toBeUndefined();
    expect(Date.parse(after.memo?.["uploadsRead"] ?? "")).toBe(newest);
  });

  test("where there are no uploads either, the channel is gone", async () => {
    const owner = first(stage.owners);
    const targets = await introduce(stage, [owner]);
    channelAt(0).goneAt = 0;
    const outcome = await run(stage, "items", targets);
    expect(outcome.failure).toBeUndefined();
    expect(findingOf(outcome, owner.id).isGone).toBe(true);
  });

  test("a short belongs to its channel, and nobody tells its shares", async () => {
    const owner = first(stage.owners);
    const targets = await listItems(stage, [owner]);
    const outcome = await run(stage, "counts", targets);
    expect(outcome.observations.length).toBe(targets.length);
    for (const { described, counts } of outcome.observations) {
      expect(described["channel"]).toBe(owner.entity);
      expect(counts["shares"]).toBeNull();
    }
  });

  test("a short that became private is gone, and gets no zero", async () => {
    const owner = first(stage.owners);
    const targets = await listItems(stage, [owner]);
    const gone = first(owner.items());
    gone.fate.goneAt = 0;
    const outcome = await run(stage, "counts", targets);
    expect(findingOf(outcome, gone.id).isGone).toBe(true);
    expect(observationOf(outcome, gone.id)).toBeUndefined();
  });

  test("statistics under a name that nobody knows are no zeros and no unknowns", async () => {
    const targets = await listItems(stage, stage.owners.slice(0, 1));
    stage.fake.fail(replacing('"statistics":', '"stats":'), { times: Infinity });
    const outcome = await run(stage, "counts", targets);
    expect(outcome.observations).toEqual([]);
    expect(outcome.failure?.message ?? outcome.findings[0]?.failure).toBeString();
  });

  test("statistics whose names are all unknown are no unknowns", async () => {
    const owners = stage.owners.slice(1, 2);
    const introduced = await introduce(stage, owners);
    const targets = await listItems(stage, owners);
    stage.fake.fail(replacing(/"(view|subscriber|video|like|comment)Count":/g, '"$1s":'), {
      times: Infinity,
    });
    const told = [
      await profileOf(1),
      await run(stage, "items", introduced),
      await run(stage, "counts", targets),
    ];
    for (const { observations, findings } of told) {
      expect(observations).toEqual([]);
      expect(findings[0]?.failure).toContain("YouTube told no statistics");
    }
  });

  test("likes and comments that are switched off are null, beside the views", async () => {
    const owner = first(stage.owners);
    const targets = await listItems(stage, [owner]);
    const item = first(owner.items());
    item.fate.hiddenAt = 0;
    const counts = observationOf(await run(stage, "counts", targets), item.id)?.counts;
    expect(counts).toEqual({ ...item.counts() });
    expect(counts?.["likes"]).toBeNull();
    expect(counts?.["views"]).toBeNumber();
  });
});

describe("youtube: asked too fast", () => {
  const MIDNIGHT = Date.parse("2026-11-21T08:00:00.000Z");

  test.each([
    ["a minute can pass", "Queries per minute per user", { kind: "passing" }],
    ["a day stops it until the next", "Queries per day", { kind: "stop", until: MIDNIGHT }],
  ])("what is too much for %s", (_, limit, judgement) => {
    const { judge } = youtube({ baseUrl: "http://127.0.0.1:9", apiKey: "s3cret-of-youtube" });
    const message = `Quota exceeded for quota metric 'Queries' and limit '${limit}'`;
    const body = { error: { message, errors: [{ reason: "rateLimitExceeded" }] } };
    const answer = { status: 403, headers: new Headers(), body };
    expect(judge(answer, MIDNIGHT - 3_600_000)).toMatchObject(judgement);
  });
});
