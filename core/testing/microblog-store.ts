/** The conformance suite of stores of users and tweets. */
import { decodeListCursor, LIST_ORDERS, USER_SORTS } from "../lists.ts";
import type { MicroblogStore, ObservationStore } from "../stores.ts";
import { DAY_MS, formatInstant } from "../time.ts";
import type { ConformanceTest, WithStore } from "./conformance.ts";
import { createMemoryStore } from "./memory-store.ts";
import { NOW, POST_IDS, USERNAMES } from "./random-observations.ts";
import {
  createReadTests,
  listInstantsAround,
  walkHistories,
  walkPages,
  type ReadTests,
} from "./read-tests.ts";

const NAMES = [...USERNAMES, "nobody"];

const show = (request: object) => JSON.stringify(request);

const DAYS = [1, 7, 45];

/** When the counts of followers are read. */
const FOLLOWERS_NOW = NOW - DAY_MS;

/** Tweets and counts of one user, at the edges of the filters by days. */
const EDGES = DAYS.flatMap((days) => [
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

const TESTS: ReadTests<MicroblogStore> = {
  async "user() and userBatch() find users in any case, also those of tweets only"(compare) {
    for (const name of NAMES) await compare(`user() ${name}`, (store) => store.user(name));
    const names = [...NAMES, ...NAMES.toReversed()];
    await compare("userBatch()", async (store) => ({ body: await store.userBatch(names) }));
  },

  async "userPage() lists users by every figure, in pages of any size"(compare) {
    for (const sort of USER_SORTS) {
      for (const order of LIST_ORDERS) {
        for (const limit of [1, 2, 50]) {
          await walkPages((cursor) => {
            const list = { kind: "user", sort, order } as const;
            const after = cursor === undefined ? {} : { after: decodeListCursor(cursor, list) };
            const request = { ...list, limit, ...after };
            return compare(`userPage() ${show(request)}`, (store) => store.userPage(request));
          });
        }
      }
    }
    for (const search of ["na", "esa", "as", "sa", "a_x", "%", "é"]) {
      const list = { kind: "user", sort: "followers", order: "desc" } as const;
      const request = { ...list, limit: 9, search };
      await compare(`userPage() ${show(request)}`, (store) => store.userPage(request));
    }
  },

  async "tweets() lists the tweets of the last days, newest first, in numbered pages"(compare) {
    for (const name of NAMES) {
      for (const request of PAGES) {
        await compare(`tweets() ${name} ${show(request)}`, async (store) => {
          const { body } = await store.tweets(name, request, NOW);
          return { body: { ...body, order: Object.keys(body.tweets) } };
        });
      }
    }
  },

  async "followers() lists the counts of the last days, newest first, in numbered pages"(compare) {
    for (const name of NAMES) {
      for (const request of PAGES) {
        await compare(`followers() ${name} ${show(request)}`, (store) =>
          store.followers(name, request, FOLLOWERS_NOW),
        );
      }
    }
  },

  async "tweet() and tweetHistory() find a tweet with its user only"(compare) {
    for (const name of NAMES) {
      for (const id of [...POST_IDS, "p0"]) {
        await compare(`tweet() ${name} ${id}`, (store) => store.tweet(name, id));
      }
    }
    for (const id of POST_IDS) {
      await walkHistories((request) =>
        compare(`tweetHistory() ${id} ${show(request)}`, (store) =>
          store.tweetHistory("nasa", id, request),
        ),
      );
    }
  },

  async "userHistory() and userComparison() group points by every interval"(compare) {
    for (const name of NAMES) {
      await walkHistories((request) =>
        compare(`userHistory() ${name} ${show(request)}`, (store) =>
          store.userHistory(name, request),
        ),
      );
    }
    const names = ["esa", "nobody", "Nasa", "esa"];
    await walkHistories((request) =>
      compare(`userComparison() ${show(request)}`, (store) =>
        store.userComparison({ ...request, names, count: "followers_count", countIndex: 0 }),
      ),
    );
  },
};

/**
 * Creates the conformance tests of a {@link MicroblogStore}, which also imports observations. They
 * compare it with {@link createMemoryStore}.
 *
 * @param withStore Opens an empty store for each test.
 *
 * @example
 * createMicroblogStoreTests(async () => {}).length > 3; // true
 */
export function createMicroblogStoreTests(
  withStore: WithStore<ObservationStore & MicroblogStore>,
): ConformanceTest[] {
  const createReference = () => createMemoryStore(() => NOW);
  return createReadTests(withStore, ["user", "tweet"], EDGES, createReference, TESTS);
}
