/** The conformance suite of stores of observations. */
import type { ChannelObservation } from "../resources/mod.ts";
import type { ObservationStore, VideoStore } from "../stores.ts";
import { formatInstant, HOUR_MS } from "../time.ts";
import {
  assertEqual,
  createTests,
  encodeUtf8,
  observe,
  type ConformanceTest,
  type StoreTests,
  type WithStore,
} from "./conformance.ts";
import { createRandom } from "./random.ts";

const NOW = Date.UTC(2026, 0, 1);

const observation = (hour: number, fields: Partial<ChannelObservation> = {}) =>
  ({
    kind: "channel",
    id: "UC1",
    observedAt: formatInstant(NOW + hour * HOUR_MS),
    ...fields,
  }) satisfies ChannelObservation;

const TESTS: StoreTests<ObservationStore & VideoStore> = {
  async "importObservations() counts what was new, changed and unchanged"(store) {
    const first = [observation(0, { subscribers: 5 }), observation(1, { subscribers: 6 })];
    const second = [first[0], observation(1, { subscribers: 7 }), observation(2)];
    const results = [];
    for (const lines of [first, second]) {
      const text = lines.map((line) => JSON.stringify(line)).join("\n");
      const { read, rejected, ...counts } = await store.importObservations(encodeUtf8(text));
      results.push({ read, rejected, ...counts });
    }
    assertEqual(
      results,
      [
        { read: 2, rejected: [], new: 2, changed: 0, unchanged: 0 },
        { read: 3, rejected: [], new: 1, changed: 1, unchanged: 1 },
      ],
      "The results of two imports",
    );
  },

  async "importObservations() stores the good lines, and rejects each bad one"(store) {
    const lines = [
      "{}",
      "",
      JSON.stringify(observation(0)),
      "no JSON",
      JSON.stringify(observation(0, { subscribers: -1 })),
      JSON.stringify({ ...observation(0), observedAt: "9998-01-01" }),
    ];
    const result = await store.importObservations(encodeUtf8(lines.join("\n")));
    assertEqual([result.read, result.new], [5, 1], "The lines that are read, and stored");
    const numbers = result.rejected.map(({ line }) => line);
    assertEqual(numbers, [1, 4, 5, 6], "The numbers of the rejected lines");
  },

  async "importObservations() leaves the same, whatever the order and repetition"(store) {
    const random = createRandom(2);
    const lines = Array.from({ length: 60 }, () =>
      observation(random(20), {
        subscribers: random(3) === 0 ? null : random(50),
        displayName: random(2) === 0 ? null : `name ${random(5)} 🍲`,
        country: random(4) === 0 ? null : (["DE", "FR", "ﬀ", "😀"][random(4)] ?? null),
      }),
    );
    await observe(store, lines);
    const before = await store.channel("UC1");
    const request = { from: NOW, to: Infinity, interval: "raw", limit: 1000 } as const;
    const history = await store.channelHistory("UC1", { ...request, isRecent: false });
    const copies = lines.map((line) => Object.assign({}, line, { id: "UC2" })).toReversed();
    await observe(store, copies.slice(20));
    await observe(store, [...copies.slice(0, 40), ...copies]);
    const after = await store.channel("UC2");
    assertEqual({ ...after.body, id: "UC1" }, before.body, "The channel");
    const copied = await store.channelHistory("UC2", { ...request, isRecent: false });
    assertEqual({ ...copied.body, channel: "UC1" }, history.body, "Its history");
  },
};

/**
 * Creates the conformance tests of an {@link ObservationStore}, which is read as a
 * {@link VideoStore}.
 *
 * @param withStore Opens an empty store for each test.
 *
 * @example
 * createObservationStoreTests(async () => {}).length > 1; // true
 */
export function createObservationStoreTests(
  withStore: WithStore<ObservationStore & VideoStore>,
): ConformanceTest[] {
  return createTests(withStore, TESTS);
}
