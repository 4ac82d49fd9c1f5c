/** The conformance suite of stores of channels and shorts. */
import { decodeShortsCursor } from "../shorts.ts";
import { SORTS, type SortName } from "../lists.ts";
import type { ObservationStore, VideoStore } from "../stores.ts";
import { DAY_MS, formatInstant } from "../time.ts";
import type { ConformanceTest, WithStore } from "./conformance.ts";
import { createMemoryStore } from "./memory-store.ts";
import { CHANNEL_NAMES, NOW } from "./random-observations.ts";
import {
  createReadTests,
  listInstantsAround,
  walkPages,
  type OwnerReads,
  type ReadTests,
} from "./read-tests.ts";

const CHANNELS: OwnerReads<VideoStore, SortName<"channel">> = {
  kinds: ["channel", "short"],
  names: [...CHANNEL_NAMES, "TWIN", "Soup", "É", "nobody"],
  sorts: SORTS.channel,
  filters: [
    { country: "a" },
    { country: "é" },
    { search: "so" },
    { search: "wi" },
    { search: "oup" },
    { search: "é" },
    { search: "soup ", country: "a" },
    { search: "%" },
  ],
  owner: "uc1",
  readOwner: (store, name) => store.channel(name),
  readBatch: (store, names) => store.channelBatch(names),
  readPage: (store, request) => store.channelPage(request),
  readHistory: (store, name, request) => store.channelHistory(name, request),
  readComparison: (store, names, request) =>
    store.channelComparison({ ...request, names, count: "viewCount", countIndex: 2 }),
  readPost: (store, name, id) => store.short(name, id),
  readPostHistory: (store, name, id, request) => store.shortHistory(name, id, request),
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

const TESTS: ReadTests<VideoStore> = {
  async "channels() lists all channels"(compare) {
    await compare(["channels()"], (store) => store.channels());
  },

  async "shorts() lists the shorts of a channel, newest first, in pages of any size"(compare) {
    for (const name of CHANNELS.names) {
      for (const page of [...BOUNDED_PAGES, { limit: 50 }]) {
        await walkPages((cursor) => {
          const after = cursor === undefined ? {} : { after: decodeShortsCursor(cursor) };
          const request = { ...page, ...after };
          return compare(["shorts()", name, request], (store) => store.shorts(name, request));
        });
      }
    }
  },
};

/**
 * Creates the conformance tests of a {@link VideoStore}, which also imports observations. They
 * compare it with {@link createMemoryStore}.
 *
 * @param withStore Opens an empty store for each test.
 *
 * @example
 * createVideoStoreTests(async () => {}).length > 3; // true
 */
export function createVideoStoreTests(
  withStore: WithStore<ObservationStore & VideoStore>,
): ConformanceTest[] {
  return createReadTests(withStore, CHANNELS, EDGES, () => createMemoryStore(() => NOW), TESTS);
}
