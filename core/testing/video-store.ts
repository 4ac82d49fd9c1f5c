/** The conformance suite of stores of channels and shorts. */
import { decodeShortsCursor } from "../cursor.ts";
import { CHANNEL_SORTS, decodeListCursor, LIST_ORDERS } from "../lists.ts";
import type { ObservationStore, VideoStore } from "../stores.ts";
import { DAY_MS, formatInstant } from "../time.ts";
import type { ConformanceTest, WithStore } from "./conformance.ts";
import { createMemoryStore } from "./memory-store.ts";
import { CHANNEL_NAMES, NOW, POST_IDS } from "./random-observations.ts";
import {
  createReadTests,
  listInstantsAround,
  walkHistories,
  walkPages,
  type ReadTests,
} from "./read-tests.ts";

const NAMES = [...CHANNEL_NAMES, "TWIN", "Soup", "É", "nobody"];

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

const show = (request: object) => JSON.stringify(request);

const TESTS: ReadTests<VideoStore> = {
  async "channel() and channelBatch() find channels like findChannel()"(compare) {
    for (const name of NAMES) await compare(`channel ${name}`, (store) => store.channel(name));
    const names = [...NAMES, ...NAMES.toReversed()];
    await compare("channelBatch()", async (store) => ({ body: await store.channelBatch(names) }));
  },

  async "channels() and channelPage() list channels by every figure, in pages of any size"(
    compare,
  ) {
    await compare("channels()", (store) => store.channels());
    for (const sort of CHANNEL_SORTS) {
      for (const order of LIST_ORDERS) {
        for (const limit of [1, 3, 50]) {
          await walkPages(async (cursor) => {
            const list = { kind: "channel", sort, order } as const;
            const after = cursor && { after: decodeListCursor(cursor, list) };
            const request = { ...list, limit, ...after };
            return compare(`channelPage() ${show(request)}`, (store) => store.channelPage(request));
          });
        }
      }
    }
    const sorted = { kind: "channel", sort: "views", order: "desc", limit: 9 } as const;
    for (const filter of [
      { country: "a" },
      { country: "é" },
      { search: "so" },
      { search: "wi" },
      { search: "oup" },
      { search: "é" },
      { search: "soup ", country: "a" },
      { search: "%" },
    ]) {
      const request = { ...sorted, ...filter };
      await compare(`channelPage() ${show(request)}`, (store) => store.channelPage(request));
    }
  },

  async "shorts() lists the shorts of a channel, newest first, in pages of any size"(compare) {
    for (const name of NAMES) {
      for (const page of [...BOUNDED_PAGES, { limit: 50 }]) {
        await walkPages(async (cursor) => {
          const after = cursor && { after: decodeShortsCursor(cursor) };
          const request = { ...page, ...after };
          return compare(`shorts() ${name} ${show(request)}`, (store) =>
            store.shorts(name, request),
          );
        });
      }
    }
  },

  async "short() and shortHistory() find a short in its channel only"(compare) {
    for (const name of NAMES) {
      for (const id of [...POST_IDS, "p0"]) {
        await compare(`short() ${name} ${id}`, (store) => store.short(name, id));
      }
    }
    for (const id of POST_IDS) {
      await walkHistories((request) =>
        compare(`shortHistory() ${id} ${show(request)}`, (store) =>
          store.shortHistory("uc1", id, request),
        ),
      );
    }
  },

  async "channelHistory() and channelComparison() group points by every interval"(compare) {
    for (const name of NAMES) {
      await walkHistories((request) =>
        compare(`channelHistory() ${name} ${show(request)}`, (store) =>
          store.channelHistory(name, request),
        ),
      );
    }
    const names = ["UC1", "nobody", "soup", "UC1"];
    await walkHistories((request) =>
      compare(`channelComparison() ${show(request)}`, (store) =>
        store.channelComparison({ ...request, names, count: "viewCount", countIndex: 2 }),
      ),
    );
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
  const createReference = () => createMemoryStore(() => NOW);
  return createReadTests(withStore, ["channel", "short"], EDGES, createReference, TESTS);
}
