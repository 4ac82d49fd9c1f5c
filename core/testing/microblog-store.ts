/** The conformance suite of stores of users and tweets. */
import { HISTORY_INTERVALS, type HistoryPoint } from "../buckets.ts";
import { DomainError } from "../errors.ts";
import { createFollowersPage, createHistoryPage } from "../resources/history-resources.ts";
import type { TweetObservation, UserObservation } from "../resources/mod.ts";
import type { MicroblogStore, ObservationStore } from "../stores.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../time.ts";
import {
  assertEqual,
  assertRejects,
  createTests,
  observe,
  type ConformanceTest,
  type StoreTests,
  type WithStore,
} from "./conformance.ts";
import { createRandom } from "./random.ts";

const NOW = Date.UTC(2026, 0, 31, 9, 30);

const user = (username: string, fields: Partial<UserObservation> = {}): UserObservation => ({
  kind: "user",
  username,
  observedAt: formatInstant(NOW),
  ...fields,
});

const tweet = (id: string, fields: Partial<TweetObservation> = {}): TweetObservation => ({
  kind: "tweet",
  username: "NASA",
  id,
  observedAt: formatInstant(NOW),
  created_at: formatInstant(NOW - HOUR_MS),
  ...fields,
});

/** Random points of a month, oldest first, some of whose followers are unknown. */
function createPoints(): HistoryPoint[] {
  const random = createRandom(3);
  return Array.from({ length: 90 }, (_, index) => ({
    at: NOW - (90 - index) * 8 * HOUR_MS,
    counts: [random(4) === 0 ? null : random(99), random(9), null],
  }));
}

const toObservations = (points: readonly HistoryPoint[]): UserObservation[] =>
  points.map(({ at, counts: [followers_count = null, following_count = null] }) =>
    user("NASA", { observedAt: formatInstant(at), followers_count, following_count }),
  );

const TESTS: StoreTests<ObservationStore & MicroblogStore> = {
  async "user() has the newest values, for a username in any case"(store) {
    const old = formatInstant(NOW - 1);
    await observe(store, [
      user("NASA", { verified: false, followers_count: 0 }),
      user("nasa", { observedAt: old, description: "old", verified: true }),
    ]);
    const { username, verified, followers_count, description } = (await store.user("Nasa")).body;
    assertEqual(
      [username, verified, followers_count, description],
      ["NASA", false, 0, "old"],
      "The user",
    );
    await assertRejects(store.user("esa"), "User Not Found", "A user who was not observed");
  },

  async "user() exists once a tweet was observed, spelled as in the newest"(store) {
    await observe(store, [
      tweet("1", { username: "nasa", observedAt: formatInstant(NOW - 1) }),
      tweet("2", { username: "NaSa" }),
    ]);
    const { body } = await store.user("NASA");
    assertEqual([body.username, body.followers_count], ["NaSa", null], "The user");
    const [found, missing] = await store.userBatch(["nasa", "esa"]);
    assertEqual(found instanceof DomainError ? null : found?.username, "NaSa", "userBatch()");
    assertEqual(missing instanceof DomainError, true, "Nobody in userBatch()");
    const { users } = (await store.userPage({ sort: "followers", order: "desc", limit: 9 })).body;
    assertEqual(
      users.map(({ username }) => username),
      ["NaSa"],
      "The list of users",
    );
  },

  async "tweets() lists the tweets of the last days, newest first, in numbered pages"(store) {
    const created = [0, 1, 1, 47.9, 48, 48.1, -1].map((hours) => NOW - hours * HOUR_MS);
    const observed = created.map((at, index) =>
      tweet(`t${index}`, { created_at: formatInstant(at) }),
    );
    await observe(store, [...observed, tweet("unknown", { created_at: null })]);
    const request = { days: 2, limit: 4 };
    const pages = [];
    for (const page of [0, 1]) {
      const { body } = await store.tweets("nasa", { ...request, page }, NOW);
      assertEqual(body.pagination.total, 6, "The number of tweets");
      pages.push(Object.keys(body.tweets));
    }
    const expected = [
      ["t6", "t0", "t2", "t1"],
      ["t3", "t4"],
    ];
    assertEqual(pages, expected, "The pages");
    const beyond = store.tweets("nasa", { ...request, page: 2 }, NOW);
    await assertRejects(beyond, "Page Out of Range", "A page after the last");
    const empty = await store.tweets("nasa", { ...request, page: 0 }, NOW + 9 * DAY_MS);
    assertEqual(empty.body.tweets, {}, "A page without tweets");
  },

  async "tweet() is found with its user only"(store) {
    await observe(store, [user("esa"), tweet("1", { likes: 5 }), tweet("2", { created_at: null })]);
    const { metrics } = (await store.tweet("nasa", "1")).body.tweet;
    const nothing = { impressions: null, retweets: null, replies: null, quotes: null };
    assertEqual(metrics, { ...nothing, likes: 5 }, "Its metrics");
    const range = { from: NOW, to: NOW + 1, interval: "raw", limit: 1, isRecent: false } as const;
    const { body } = await store.tweetHistory("NASA", "1", range);
    assertEqual([body.tweet_id, body.history[0]?.likes], ["1", 5], "Its history");
    const names = { names: ["nasa", "esa"], count: "followers_count", countIndex: 0 } as const;
    const compared = await store.userComparison({ ...range, ...names });
    assertEqual(compared.body.entities[0], "NASA", "userComparison()");
    await assertRejects(store.tweet("esa", "1"), "Tweet Not Found", "A tweet of another user");
    await assertRejects(store.tweet("nasa", "2"), "Tweet Not Found", "A tweet of no known date");
    await assertRejects(store.tweet("nobody", "1"), "User Not Found", "A tweet of nobody");
  },

  async "followers() and userHistory() list points like core"(store) {
    const points = createPoints();
    await observe(store, toObservations(points));
    for (const days of [1, 3, 14]) {
      const { total } = createFollowersPage(
        "NASA",
        points,
        { days, page: 0, limit: 1 },
        NOW,
      ).pagination;
      for (let page = 0; page * 7 < total; page++) {
        const request = { days, page, limit: 7 };
        const { body } = await store.followers("nasa", request, NOW);
        const expected = createFollowersPage("NASA", points, request, NOW);
        assertEqual(body, expected, `Page ${page} of ${days} days`);
      }
    }
    for (const interval of HISTORY_INTERVALS) {
      const request = { from: NOW - 20 * DAY_MS, to: NOW, interval, limit: 30, isRecent: false };
      const { body } = await store.userHistory("nasa", request);
      const expected = createHistoryPage("user", points, request);
      assertEqual(body, { username: "NASA", ...expected }, `A page by ${interval}`);
    }
  },
};

/**
 * Creates the conformance tests of a {@link MicroblogStore}, which also imports observations.
 *
 * @param withStore Opens an empty store for each test.
 *
 * @example
 * createMicroblogStoreTests(async () => {}).length > 3; // true
 */
export function createMicroblogStoreTests(
  withStore: WithStore<ObservationStore & MicroblogStore>,
): ConformanceTest[] {
  return createTests(withStore, TESTS);
}
