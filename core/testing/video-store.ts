/** The conformance suite of stores of channels and shorts. */
import { decodeShortsCursor } from "../shorts.ts";
import { SORTS } from "../lists.ts";
import type { ObservationStore, VideoStore } from "../stores.ts";
import { DAY_MS, formatInstant } from "../time.ts";
import type { ConformanceTest, WithStore } from "./conformance.ts";
import { NAMES, NOW } from "./random.ts";
import {
  createReadTests,
  listInstantsAround,
  walkPages,
  type ReadTests,
  type TestedOwners,
} from "./read-tests.ts";

const CHANNELS: TestedOwners = {
  kinds: ["channel", "short"],
  names: [...NAMES.channels, "TWIN", "Soup", "É", "nobody"],
  sorts: SORTS.channel,
  filters: [
    { country: "a" },
    { country: "é" },
    ...["so", "wi", "oup", "é", "%"].map((search) => ({ search })),
    { search: "soup ", country: "a" },
  ],
  owner: "uc1",
  count: { count: "viewCount", countIndex: 2 },
};

/** The first pages of shorts before an instant. */
const BOUNDED_PAGES = [
  { limit: 1, before: NOW },
  { limit: 3, before: NOW + DAY_MS },
  { limit: 2, before: NOW - 20 * DAY_MS },
];

/** Shorts of one channel, at the edges of the filter `before`. */
const EDGES = BOUNDED_PAGES.flatMap(({ before }) =>
  listInstantsAround(before).map((publishedAt) => ({
    kind: "short",
    id: `edge ${publishedAt}`,
    channel: "UC1",
    observedAt: formatInstant(NOW),
    publishedAt,
  })),
);

const TESTS: ReadTests = {
  async "channels() lists all channels"(compare) {
    await compare("channels");
  },

  async "shorts() lists the shorts of a channel, newest first, in pages of any size"(compare) {
    for (const name of CHANNELS.names) {
      for (const page of [...BOUNDED_PAGES, { limit: 50 }]) {
        await walkPages((cursor) => {
          const after = cursor === undefined ? {} : { after: decodeShortsCursor(cursor) };
          return compare("shorts", name, { ...page, ...after });
        });
      }
    }
  },
};

/**
 * Creates the conformance tests of a {@link VideoStore}, which also imports observations. They
 * compare it with `createMemoryStore()`.
 *
 * @param withStore Opens an empty store for each test.
 *
 * @example
 * createVideoStoreTests(async () => {}).length > 3; // true
 */
export function createVideoStoreTests(
  withStore: WithStore<ObservationStore & VideoStore>,
): ConformanceTest[] {
  return createReadTests(withStore, CHANNELS, EDGES, TESTS);
}
