/** The conformance suite of stores of users and tweets. */
import { SORTS } from "../lists.ts";
import type { MicroblogStore, ObservationStore } from "../stores.ts";
import { DAY_MS, formatInstant } from "../time.ts";
import type { ConformanceTest, WithStore } from "./conformance.ts";
import { NAMES, NOW } from "./random.ts";
import {
  createReadTests,
  listInstantsAround,
  type ReadTests,
  type TestedOwners,
} from "./read-tests.ts";

const USERS: TestedOwners = {
  kinds: ["user", "tweet"],
  names: [...NAMES.users, "nobody"],
  sorts: SORTS.user,
  filters: ["na", "esa", "as", "sa", "a_x", "%", "é"].map((search) => ({ search })),
  owner: "nasa",
  count: { count: "followers_count", countIndex: 0 },
};

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

const TESTS: ReadTests = {
  async "tweets() lists the tweets of the last days, newest first, in numbered pages"(compare) {
    for (const name of USERS.names) {
      for (const page of PAGES) await compare("tweets", name, page, NOW);
    }
  },

  async "followers() lists the counts of the last days, newest first, in numbered pages"(compare) {
    for (const name of USERS.names) {
      for (const page of PAGES) await compare("followers", name, page, FOLLOWERS_NOW);
    }
  },
};

/**
 * Creates the conformance tests of a {@link MicroblogStore}, which also imports observations. They
 * compare it with `createMemoryStore()`.
 *
 * @param withStore Opens an empty store for each test.
 *
 * @example
 * createMicroblogStoreTests(async () => {}).length > 3; // true
 */
export function createMicroblogStoreTests(
  withStore: WithStore<ObservationStore & MicroblogStore>,
): ConformanceTest[] {
  return createReadTests(withStore, USERS, EDGES, TESTS);
}
