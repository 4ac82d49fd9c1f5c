/** What the collector of Bluesky makes of each answer that is no plain one. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { bluesky } from "../../server/collectors/bluesky.ts";
import { creatorStore } from "../../server/store/creators.ts";
import { listCreators } from "../support/collection.ts";
import { rowsOf, withDatabase } from "../support/database.ts";
import { pointsOf } from "../support/history.ts";
import { blueskyError, handleOf, madeAt, openBluesky } from "../support/platforms/bluesky.ts";
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
import { countsOfPost } from "../support/platforms/growth.ts";
import { startTurns, targetsOf, watch } from "../support/platforms/turns.ts";
import { openStage } from "../support/platforms/stage.ts";

/** A stage whose fake can do what only this one can. */
async function openBlueskyStage() {
  const stage = await openStage("bluesky", {
    creators: 8,
    postsEach: 12,
    replyShare: 0.2,
    repostShare: 0.2,
    falselyDatedShare: 0.4,
  });
  await stage.close();
  const fake = await openBluesky({ world: stage.world, now: () => stage.clock.now });
  const collector = bluesky({ baseUrl: fake.baseUrl });
  return { ...stage, fake, collector, close: fake.close };
}

let stage: Awaited<ReturnType<typeof openBlueskyStage>>;
beforeEach(async () => {
  stage = await openBlueskyStage();
});
afterEach(() => stage.close());

const owners = (count: number) => stage.owners.slice(0, count);
const profileOf = (count: number) => run(stage, "profile", owners(count).map(targetOf));
const userAt = (place: number) => first(stage.world.users.slice(place));

describe("bluesky: who is not there", () => {
  test("an unknown profile among others is gone, and the others are observed", async () => {
    userAt(1).goneAt = 0;
    const outcome = await profileOf(3);
    expect(findingOf(outcome, handleOf(userAt(1))).isGone).toBe(true);
    expect(outcome.observations.length).toBe(2);
  });

  test("unknown profiles alone, status 400, are gone and not retried", async () => {
    for (const user of stage.world.users) user.goneAt = 0;
    const outcome = await profileOf(3);
    expect(outcome.failure).toBeUndefined();
    expect(outcome.findings.map(({ isGone }) => isGone)).toEqual([true, true, true]);
    expect(outcome.surroundings.retried()).toEqual([]);
  });

  test("the feed of someone who went is gone, and the others are listed", async () => {
    const targets = await introduce(stage, owners(3));
    userAt(1).goneAt = 0;
    const outcome = await runAll(stage, "items", targets);
    expect(outcome.failure).toBeUndefined();
    expect(findingOf(outcome, handleOf(userAt(1))).isGone).toBe(true);
    expect(findingOf(outcome, handleOf(userAt(2))).items).not.toBeEmpty();
  });

  test("a name that no handle can be fails alone", async () => {
    const targets = [...owners(2).map(targetOf), targetOf({ id: "nasa" }), targetOf({ id: "a_b" })];
    const outcome = await run(stage, "profile", targets);
    expect(outcome.failure).toBeUndefined();
    expect(findingOf(outcome, "nasa").failure).toBeString();
    expect(findingOf(outcome, "a_b").failure).toBeString();
    expect(outcome.observations.length).toBe(2);
  });
});

describe("bluesky: when the source stops", () => {
  test("a spent window is waited for until it is over, and is not retried", async () => {
    const resetAt = stage.clock.now + 120_000;
    const headers = {
      "ratelimit-limit": "3000",
      "ratelimit-remaining": "0",
      "ratelimit-reset": String(resetAt / 1000),
    };
    stage.fake.fail(
      answering({ ...blueskyError(429, "RateLimitExceeded", "Rate Limit Exceeded"), headers }),
    );
    const { failure, findings } = await profileOf(2);
    expect([failure?.kind, failure?.until]).toEqual(["wait", resetAt]);
    expect(findings).toEqual([]);
    expect(stage.fake.served()).toBe(1);
  });
});

describe("bluesky: what it tells", () => {
  test("every count of a profile may be missing: it is null", async () => {
    userAt(0).hiddenAt = 0;
    stage.fake.fail(replacing(/"(?:follows|posts)Count":\d+,/g, ""), { times: Infinity });
    const outcome = await profileOf(1);
    expect(first(outcome.observations).counts).toEqual({
      followers_count: null,
      following_count: null,
      tweet_count: null,
    });
  });

  test("who is not said to be verified is unknown to be, not unverified", async () => {
    const { observations } = await profileOf(2);
    expect(observations.map(({ described }) => described["verified"])).toEqual([true, undefined]);
    stage.fake.fail(replacing('"verifiedStatus":"valid"', '"verifiedStatus":"none"'), { times: 1 });
    const again = await profileOf(2);
    expect(again.observations.map(({ described }) => described["verified"])).toEqual([
      false,
      undefined,
    ]);
  });

  test("every count of a post may be missing: it is null, impressions always", async () => {
    const targets = await listItems(stage, owners(1));
    stage.fake.fail(replacing(/"(?:reply|like|quote)Count":\d+,/g, ""), { times: Infinity });
    const item = first(first(stage.owners).items());
    const outcome = await run(stage, "counts", targets);
    expect(observationOf(outcome, item.id)?.counts).toEqual({
      likes: null,
      retweets: item.counts()["retweets"] ?? null,
      replies: null,
      quotes: null,
      impressions: null,
    });
  });

  test("a renamed list is not taken for an empty one", async () => {
    stage.fake.fail(replacing('"profiles":', '"actors":'), { times: Infinity });
    const outcome = await profileOf(2);
    expect(outcome.failure?.kind).toBe("failed");
    expect(outcome.findings).toEqual([]);
  });

  test("a post without its record fails alone", async () => {
    const targets = await listItems(stage, owners(1));
    const item = first(first(stage.owners).items());
    stage.fake.fail(replacing(new RegExp(`(/${item.id}".*?)"record":`, "g"), '$1"entry":'), {
      times: Infinity,
    });
    const outcome = await run(stage, "counts", targets);
    expect(outcome.failure).toBeUndefined();
    expect(findingOf(outcome, item.id).failure).toBeString();
    expect(outcome.observations.length).toBe(targets.length - 1);
  });
});

describe("bluesky: which posts are collected", () => {
  test("reposts and replies are not, one's own reposted posts only once", async () => {
    const kinds = new Set(userAt(0).posts.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(["post", "reply", "repost"]);
    const outcome = await runAll(stage, "items", await introduce(stage, owners(8)));
    const expected = stage.owners.flatMap((owner) => owner.items().map(({ id }) => id));
    expect(outcome.items.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
    const authors = new Set(outcome.observations.map(({ described }) => described["username"]));
    expect(authors.size).toBe(8);
  });

  test("an empty page with a cursor is not the end", async () => {
    const targets = await introduce(stage, owners(1));
    stage.fake.sendEmptyPages(3);
    const { items, failure } = await run(stage, "items", targets);
    expect(failure).toBeUndefined();
    expect(items.length).toBe(first(stage.owners).items().length);
  });

  test("empty pages without end are not followed for ever", async () => {
    const targets = await introduce(stage, owners(1));
    stage.fake.sendEmptyPages(Infinity);
    await run(stage, "items", targets);
    expect(stage.fake.served()).toBeLessThan(1000);
  });

  test("of what a client claims and when it was indexed, the earlier is believed", async () => {
    const outcome = await runAll(stage, "items", await introduce(stage, owners(8)));
    const published = new Map(outcome.items.map(({ id, publishedAt }) => [id, publishedAt]));
    const posts = stage.world.users.flatMap((user) =>
      user.posts.filter(
        ({ kind, publishedAt }) => kind === "post" && publishedAt <= stage.clock.now,
      ),
    );
    const ahead = posts.filter((post) => post.claimedAt > post.publishedAt + DAY_MS);
    const behind = posts.filter((post) => post.claimedAt < post.publishedAt - DAY_MS);
    expect([ahead.length > 0, behind.length > 0]).toEqual([true, true]);
    for (const post of posts) {
      expect(published.get(post.recordKey)).toBe(madeAt(post));
      expect(observationOf(outcome, post.recordKey)?.described["created_at"]).toBe(madeAt(post));
    }
  });

  test("a claim that is no instant loses at most that post", async () => {
    const item = first(first(stage.owners).items());
    stage.fake.fail(
      replacing(new RegExp(`(/${item.id}".*?"createdAt":")[^"]+`, "g"), "$1yesterday"),
      {
        times: Infinity,
      },
    );
    const outcome = await run(stage, "items", await introduce(stage, owners(1)));
    expect(outcome.failure).toBeUndefined();
    expect(outcome.items.length).toBeGreaterThanOrEqual(first(stage.owners).items().length - 1);
  });

  test("a post is named by its record key and links to itself", async () => {
    const owner = first(stage.owners);
    const outcome = await runAll(stage, "items", await introduce(stage, [owner]));
    for (const { id } of owner.items()) {
      expect(observationOf(outcome, id)?.described).toMatchObject({
        username: owner.entity,
        url: `https://bsky.app/profile/${owner.entity}/post/${id}`,
      });
    }
  });
});

describe("bluesky: a user who has another handle by now", () => {
  test.each([
    ["keeps the posts that were found of them", "renamed.example", "creator0.bsky.social"],
    ["only in another case, is spelt so", "Creator0.BSKY.social", "Creator0.BSKY.social"],
  ])("%s", async (_, renamed, spelt) => {
    const posts = (await listItems(stage, owners(1))).slice(0, 5);
    const fault = replacing(`"handle":"${handleOf(userAt(0))}"`, `"handle":"${renamed}"`);
    stage.fake.fail(fault, { times: Infinity });
    const { observations } = await run(stage, "counts", posts);
    const usernames = observations.map(({ described }) => described["username"]);
    expect(usernames).toEqual(Array.from({ length: 5 }, () => spelt));
  });
});

describe("bluesky: two users whose posts have the same record key", () => {
  test("the first one keeps the tweet, with its text and counts; of the other it is refused", async () => {
    await withDatabase(async (database) => {
      const [one, other] = [userAt(0), userAt(1)].map((user) => ({
        user,
        post: first(user.posts.filter(({ kind }) => kind === "post")),
      }));
      if (one === undefined || other === undefined) throw new Error("There are no users");
      const id = one.post.recordKey;
      stage.fake.fail(replacing(other.post.recordKey, id), { times: Infinity });
      await watch(database, stage, owners(2));
      const turns = startTurns(database, stage);
      const tweets = async () => {
        const [tweet] = await rowsOf(
          database,
          "SELECT u.username, t.text FROM tweets t JOIN users u ON u.key = t.user " +
            `WHERE t.id = '${id}'`,
        );
        const points = await pointsOf(database, "tweet", id);
        return points.map(({ at, counts: [likes] }) => Object.assign({ at, likes }, tweet));
      };
      const expected = () => ({
        username: handleOf(one.user),
        text: one.post.text,
        at: stage.clock.now,
        likes: countsOfPost(one.post, stage.clock.now).likes,
      });
      await turns.collect();
      const atFirst = expected();
      expect(await tweets()).toEqual([atFirst]);
      const target = (await targetsOf(database, "microblog", "counts")).get(id);
      expect(target?.owner).toBe(handleOf(one.user));

      await turns.collectAt(target?.dueAt ?? 0);
      expect(await tweets()).toEqual([atFirst, expected()]);
      const creators = await listCreators(creatorStore(database));
      const failures = creators.map(({ failure }) => failure);
      expect(failures).toEqual([null, expect.stringContaining("has the record key of another")]);
    });
  });
});
