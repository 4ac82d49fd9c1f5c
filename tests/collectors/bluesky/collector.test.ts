/** The collector of Bluesky: errors, hidden counts, reposts and renamed users. */
import { describe, expect, test } from "bun:test";
import { DAY_MS } from "../../../core/time.ts";
import { createCreatorStore } from "../../../server/store/collection/watch-lists.ts";
import { listCreators } from "../../support/store/collection-state.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";
import { readPointsOf } from "../../support/store/stored-history.ts";
import { createBlueskyError, handleOf, createdAtOf } from "../../support/platforms/fake-bluesky.ts";
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
import { countsOfPost } from "../../support/platforms/world-counts.ts";
import { startPollCycle, readTargets, watchOwners } from "../../support/platforms/poll-cycle.ts";
import { useFixture } from "../../support/platforms/platform-fixture.ts";

const fixture = useFixture("bluesky", {
  creators: 8,
  postsEach: 12,
  replyShare: 0.2,
  repostShare: 0.2,
  falselyDatedShare: 0.4,
});

const owners = (count: number) => fixture.owners.slice(0, count);
const pollProfiles = (count: number) =>
  pollBatch(fixture, "profile", owners(count).map(createTarget));
const userAt = (place: number) => first(fixture.world.users.slice(place));

describe("bluesky: users that do not exist", () => {
  test("an unknown profile among others is gone, and the others are observed", async () => {
    userAt(1).goneAt = 0;
    const outcome = await pollProfiles(3);
    expect(findResult(outcome, handleOf(userAt(1))).isGone).toBe(true);
    expect(outcome.observations.length).toBe(2);
  });

  test("a batch of unknown profiles, status 400, is gone and not retried", async () => {
    for (const user of fixture.world.users) user.goneAt = 0;
    const outcome = await pollProfiles(3);
    expect(outcome.sourceError).toBeUndefined();
    expect(outcome.results.map(({ isGone }) => isGone)).toEqual([true, true, true]);
    expect(outcome.context.retried()).toEqual([]);
  });

  test("the feed of a deleted user is gone, and the others are read", async () => {
    const targets = await createItemTargets(fixture, owners(3));
    userAt(1).goneAt = 0;
    const outcome = await pollAll(fixture, "items", targets);
    expect(outcome.sourceError).toBeUndefined();
    expect(findResult(outcome, handleOf(userAt(1))).isGone).toBe(true);
    expect(findResult(outcome, handleOf(userAt(2))).items).not.toBeEmpty();
  });

  test("a username that cannot be a handle fails alone", async () => {
    const targets = [
      ...owners(2).map(createTarget),
      createTarget({ id: "nasa" }),
      createTarget({ id: "a_b" }),
    ];
    const outcome = await pollBatch(fixture, "profile", targets);
    expect(outcome.sourceError).toBeUndefined();
    expect(findResult(outcome, "nasa").failure).toBeString();
    expect(findResult(outcome, "a_b").failure).toBeString();
    expect(outcome.observations.length).toBe(2);
  });
});

describe("bluesky: rate limits", () => {
  test("a used up window pauses the source until it ends, and is not retried", async () => {
    const resetAt = fixture.clock.now + 120_000;
    const headers = {
      "ratelimit-limit": "3000",
      "ratelimit-remaining": "0",
      "ratelimit-reset": String(resetAt / 1000),
    };
    fixture.fake.injectFault(
      respondWith({
        ...createBlueskyError(429, "RateLimitExceeded", "Rate Limit Exceeded"),
        headers,
      }),
    );
    const { sourceError: failure, results } = await pollProfiles(2);
    expect([failure?.kind, failure?.until]).toEqual(["rate-limited", resetAt]);
    expect(results).toEqual([]);
    expect(fixture.fake.served()).toBe(1);
  });
});

describe("bluesky: incomplete responses", () => {
  test("a missing count of a profile is null", async () => {
    userAt(0).hiddenAt = 0;
    fixture.fake.injectFault(replaceText(/"(?:follows|posts)Count":\d+,/g, ""), {
      times: Infinity,
    });
    const outcome = await pollProfiles(1);
    expect(first(outcome.observations).counts).toEqual({
      followers_count: null,
      following_count: null,
      tweet_count: null,
    });
  });

  test("a user without a verification is unknown to be verified, and not unverified", async () => {
    const { observations } = await pollProfiles(2);
    expect(observations.map(({ attributes }) => attributes["verified"])).toEqual([true, undefined]);
    fixture.fake.injectFault(replaceText('"verifiedStatus":"valid"', '"verifiedStatus":"none"'), {
      times: 1,
    });
    const again = await pollProfiles(2);
    expect(again.observations.map(({ attributes }) => attributes["verified"])).toEqual([
      false,
      undefined,
    ]);
  });

  test("a missing count of a post is null, and impressions always are", async () => {
    const targets = await createCountTargets(fixture, owners(1));
    fixture.fake.injectFault(replaceText(/"(?:reply|like|quote)Count":\d+,/g, ""), {
      times: Infinity,
    });
    const item = first(first(fixture.owners).items());
    const outcome = await pollBatch(fixture, "counts", targets);
    expect(findObservation(outcome, item.id)?.counts).toEqual({
      likes: null,
      retweets: item.counts()["retweets"] ?? null,
      replies: null,
      quotes: null,
      impressions: null,
    });
  });

  test("a response with a renamed list is no empty list", async () => {
    fixture.fake.injectFault(replaceText('"profiles":', '"actors":'), { times: Infinity });
    const outcome = await pollProfiles(2);
    expect(outcome.sourceError?.kind).toBe("failed");
    expect(outcome.results).toEqual([]);
  });

  test("a post without its record fails alone", async () => {
    const targets = await createCountTargets(fixture, owners(1));
    const item = first(first(fixture.owners).items());
    fixture.fake.injectFault(
      replaceText(new RegExp(`(/${item.id}".*?)"record":`, "g"), '$1"entry":'),
      {
        times: Infinity,
      },
    );
    const outcome = await pollBatch(fixture, "counts", targets);
    expect(outcome.sourceError).toBeUndefined();
    expect(findResult(outcome, item.id).failure).toBeString();
    expect(outcome.observations.length).toBe(targets.length - 1);
  });
});

describe("bluesky: lists of posts", () => {
  test("replies and reposts are left out, and a user's own reposted post is stored once", async () => {
    const kinds = new Set(userAt(0).posts.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(["post", "reply", "repost"]);
    const outcome = await pollAll(fixture, "items", await createItemTargets(fixture, owners(8)));
    const expected = fixture.owners.flatMap((owner) => owner.items().map(({ id }) => id));
    expect(outcome.items.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
    const authors = new Set(outcome.observations.map(({ attributes }) => attributes["username"]));
    expect(authors.size).toBe(8);
  });

  test("an empty page with a cursor is not the end of the list", async () => {
    const targets = await createItemTargets(fixture, owners(1));
    fixture.fake.sendEmptyPages(3);
    const { items, sourceError: failure } = await pollBatch(fixture, "items", targets);
    expect(failure).toBeUndefined();
    expect(items.length).toBe(first(fixture.owners).items().length);
  });

  test("the number of empty pages that are read is limited", async () => {
    const targets = await createItemTargets(fixture, owners(1));
    fixture.fake.sendEmptyPages(Infinity);
    await pollBatch(fixture, "items", targets);
    expect(fixture.fake.served()).toBeLessThan(1000);
  });

  test("a post is as old as the earlier of createdAt and indexedAt", async () => {
    const outcome = await pollAll(fixture, "items", await createItemTargets(fixture, owners(8)));
    const published = new Map(outcome.items.map(({ id, publishedAt }) => [id, publishedAt]));
    const posts = fixture.world.users.flatMap((user) =>
      user.posts.filter(
        ({ kind, publishedAt }) => kind === "post" && publishedAt <= fixture.clock.now,
      ),
    );
    const ahead = posts.filter((post) => post.claimedAt > post.publishedAt + DAY_MS);
    const behind = posts.filter((post) => post.claimedAt < post.publishedAt - DAY_MS);
    expect([ahead.length > 0, behind.length > 0]).toEqual([true, true]);
    for (const post of posts) {
      expect(published.get(post.recordKey)).toBe(createdAtOf(post));
      expect(findObservation(outcome, post.recordKey)?.attributes["created_at"]).toBe(
        createdAtOf(post),
      );
    }
  });

  test("an invalid createdAt loses at most that post", async () => {
    const item = first(first(fixture.owners).items());
    fixture.fake.injectFault(
      replaceText(new RegExp(`(/${item.id}".*?"createdAt":")[^"]+`, "g"), "$1yesterday"),
      {
        times: Infinity,
      },
    );
    const outcome = await pollBatch(fixture, "items", await createItemTargets(fixture, owners(1)));
    expect(outcome.sourceError).toBeUndefined();
    expect(outcome.items.length).toBeGreaterThanOrEqual(first(fixture.owners).items().length - 1);
  });

  test("a post has its record key as identifier, and its own URL", async () => {
    const owner = first(fixture.owners);
    const outcome = await pollAll(fixture, "items", await createItemTargets(fixture, [owner]));
    for (const { id } of owner.items()) {
      expect(findObservation(outcome, id)?.attributes).toMatchObject({
        username: owner.entity,
        url: `https://bsky.app/profile/${owner.entity}/post/${id}`,
      });
    }
  });
});

describe("bluesky: a user with a new handle", () => {
  test.each([
    ["keeps the posts found under the old handle", "renamed.example", "creator0.bsky.social"],
    ["in another case only, is spelled that way", "Creator0.BSKY.social", "Creator0.BSKY.social"],
  ])("%s", async (_, renamed, spelling) => {
    const posts = (await createCountTargets(fixture, owners(1))).slice(0, 5);
    const fault = replaceText(`"handle":"${handleOf(userAt(0))}"`, `"handle":"${renamed}"`);
    fixture.fake.injectFault(fault, { times: Infinity });
    const { observations } = await pollBatch(fixture, "counts", posts);
    const usernames = observations.map(({ attributes }) => attributes["username"]);
    expect(usernames).toEqual(Array.from({ length: 5 }, () => spelling));
  });
});

describe("bluesky: two users whose posts have the same record key", () => {
  test("the first user keeps the tweet with its text and counts, and the post of the other fails", async () => {
    await withDatabase(async (database) => {
      const [one, other] = [userAt(0), userAt(1)].map((user) => ({
        user,
        post: first(user.posts.filter(({ kind }) => kind === "post")),
      }));
      if (one === undefined || other === undefined) throw new Error("There are no users");
      const id = one.post.recordKey;
      fixture.fake.injectFault(replaceText(other.post.recordKey, id), { times: Infinity });
      await watchOwners(database, fixture, owners(2));
      const cycle = startPollCycle(database, fixture);
      const tweets = async () => {
        const [tweet] = await queryRows(
          database,
          "SELECT u.username, t.text FROM tweets t JOIN users u ON u.key = t.user " +
            `WHERE t.id = '${id}'`,
        );
        const points = await readPointsOf(database, "tweet", id);
        return points.map(({ at, counts: [likes] }) => Object.assign({ at, likes }, tweet));
      };
      const expected = () => ({
        username: handleOf(one.user),
        text: one.post.text,
        at: fixture.clock.now,
        likes: countsOfPost(one.post, fixture.clock.now).likes,
      });
      await cycle.collect();
      const atFirst = expected();
      expect(await tweets()).toEqual([atFirst]);
      const target = (await readTargets(database, "microblog", "counts")).get(id);
      expect(target?.owner).toBe(handleOf(one.user));

      await cycle.collectAt(target?.dueAt ?? 0);
      expect(await tweets()).toEqual([atFirst, expected()]);
      const creators = await listCreators(createCreatorStore(database));
      const failures = creators.map(({ failure }) => failure);
      expect(failures).toEqual([null, expect.stringContaining("has the record key of another")]);
    });
  });
});
