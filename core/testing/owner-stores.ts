/** The conformance suites of `VideoStore` and `MicroblogStore`, with the edges of their filters. */
import { SORTS } from "../list-sorts.ts";
import { parseShortsRequest } from "../shorts.ts";
import type { MicroblogStore, ObservationStore, VideoStore } from "../stores.ts";
import { DAY_MS, formatInstant } from "../time.ts";
import type { ConformanceTest, WithStore } from "./conformance.ts";
import { NAMES, NOW } from "./random.ts";
import { createReadTests, walkPages } from "./read-tests.ts";

/** Lists an instant, and the instants a millisecond before and after it. */
const listInstantsAround = (instant: number): string[] =>
  [instant - 1, instant, instant + 1].map(formatInstant);

/** The first pages of shorts before an instant. */
const BOUNDED_PAGES = [
  { limit: 1, before: NOW },
  { limit: 3, before: NOW + DAY_MS },
  { limit: 2, before: NOW - 20 * DAY_MS },
];

/** Shorts of one channel, at the edges of the filter `before`. */
const SHORT_EDGES = BOUNDED_PAGES.flatMap(({ before }) =>
  listInstantsAround(before).map((publishedAt) => ({
    kind: "short",
    id: `edge ${publishedAt}`,
    channel: "UC1",
    observedAt: formatInstant(NOW),
    publishedAt,
  })),
);

/**
 * Creates conformance tests, which compare a {@link VideoStore} with `createMemoryStore()`.
 *
 * @param withStore Opens an empty store for each test.
 *
 * @example
 * createVideoStoreTests(async () => {}).length > 3; // true
 */
export function createVideoStoreTests(
  withStore: WithStore<ObservationStore & VideoStore>,
): ConformanceTest[] {
  return createReadTests(withStore, {
    kinds: ["channel", "short"],
    names: [...NAMES.channels, "TWIN", "Soup", "É", "nobody"],
    sorts: SORTS.channel,
    filters: [
      { country: "a" },
      { country: "é" },
      ...["so", "wi", "oup", "é", "%"].map((search) => ({ search })),
      { search: "soup ", country: "a" },
      { minSubscribers: 9 },
      { minSubscribers: 200, search: "so" },
      { list: "l", names: ["TWIN", "uc1", "UC1", "Soup", "nobody"] },
      { list: "l", names: NAMES.channels, search: "wi" },
      { list: "l", names: [] },
    ],
    owner: "uc1",
    count: { count: "viewCount", countIndex: 2 },
    edges: SHORT_EDGES,
    tests: {
      async "channels() lists all channels"(compare) {
        await compare("channels");
      },

      async "shorts() lists the newest first, in pages of any size"(compare, names) {
        for (const name of names) {
          for (const page of [...BOUNDED_PAGES, { limit: 50 }]) {
            await walkPages({}, (query) =>
              compare("shorts", name, { ...parseShortsRequest(query), ...page }),
            );
          }
        }
      },
    },
  });
}

const DAYS = [1, 7, 45];

/** When the counts of followers are read. */
const FOLLOWERS_NOW = NOW - DAY_MS;

/** Tweets and counts of one user, at the edges of the filters by days. */
const MICROBLOG_EDGES = DAYS.flatMap((days) => [
  ...listInstantsAround(NOW - days * DAY_MS).map((created_at, index) => ({
    kind: "tweet",
    id: `edge ${days} ${index}`,
    username: "esa",
    observedAt: formatInstant(NOW),
    created_at,
  })),
  ...listInstantsAround(FOLLOWERS_NOW - days * DAY_MS).map((observedAt, index) => ({
    kind: "user",
    username: "esa",
    observedAt,
    followers_count: index,
  })),
]);

/** Pages of numbered listings; some are out of range. */
const PAGES = DAYS.flatMap((days) =>
  [0, 1, 2, 50].flatMap((page) => [3, 100].map((limit) => ({ days, page, limit }))),
);

/**
 * Creates conformance tests, which compare a {@link MicroblogStore} with `createMemoryStore()`.
 *
 * @param withStore Opens an empty store for each test.
 *
 * @example
 * createMicroblogStoreTests(async () => {}).length > 3; // true
 */
export function createMicroblogStoreTests(
  withStore: WithStore<ObservationStore & MicroblogStore>,
): ConformanceTest[] {
  return createReadTests(withStore, {
    kinds: ["user", "tweet"],
    names: [...NAMES.users, "nobody"],
    sorts: SORTS.user,
    filters: [
      ...["na", "esa", "as", "sa", "a_x", "%", "é"].map((search) => ({ search })),
      { minFollowers: 0 },
      { minFollowers: 100 },
      { list: "l", names: ["NASA", "nasa", "nobody"] },
      { list: "l", names: NAMES.users, search: "sa" },
    ],
    owner: "nasa",
    count: { count: "followers_count", countIndex: 0 },
    edges: MICROBLOG_EDGES,
    tests: {
      async "tweets() lists the last days, newest first, in numbered pages"(compare, names) {
        for (const name of names) {
          for (const page of PAGES) await compare("tweets", name, page, NOW);
        }
      },

      async "followers() lists the last days, newest first, in numbered pages"(compare, names) {
        for (const name of names) {
          for (const page of PAGES) await compare("followers", name, page, FOLLOWERS_NOW);
        }
      },
    },
  });
}
