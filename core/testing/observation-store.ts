/** The conformance suite of stores of observations: imports, rejected lines, order of merging. */
import type { ObservationStore, VideoStore } from "../stores.ts";
import { OBSERVATION_LINE_MAX_BYTES } from "../limits.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../time.ts";
import { encodeUtf8 } from "../text.ts";
import {
  assertEqual,
  createTests,
  observe,
  type ConformanceTest,
  type StoreTests,
  type WithStore,
} from "./conformance.ts";
import { createMemoryStore } from "./memory-store.ts";
import { createObservations, NOW } from "./random.ts";

const observation = (hour: number, fields: object = {}) => ({
  kind: "channel",
  id: "UC1",
  observedAt: formatInstant(NOW + hour * HOUR_MS),
  ...fields,
});

const toLines = (values: readonly object[]) => values.map((value) => JSON.stringify(value));

const TESTS: StoreTests<ObservationStore & VideoStore> = {
  async "importObservations() counts what was new, changed and unchanged"(store) {
    const first = observation(0, { subscribers: 5 });
    const before = observation(1, { subscribers: 6 });
    const after = observation(1, { subscribers: 7 });
    const imports = [
      { lines: [first, before], counts: { read: 2, new: 2, changed: 0, unchanged: 0 } },
      {
        lines: [first, after, observation(2)],
        counts: { read: 3, new: 1, changed: 1, unchanged: 1 },
      },
    ];
    for (const { lines, counts } of imports) {
      const result = await store.importObservations(encodeUtf8(toLines(lines).join("\n")));
      assertEqual(result, { ...counts, rejected: [], causes: [] }, "The result of an import");
    }
  },

  async "importObservations() stores the good lines, and rejects each bad one"(store) {
    const good = JSON.stringify(observation(0, { subscribers: 1, displayName: "🍲" }));
    const lines = [
      `\uFEFF${good}`,
      `${good}\r`,
      "",
      " \r",
      "no JSON",
      "{}",
      "null",
      `[${good}]`,
      `${good} ${good}`,
      ...toLines([
        observation(1, { subscribers: -1 }),
        observation(1, { subscribers: 1.5 }),
        observation(1, { subscribers: 2 ** 53 }),
        observation(1, { displayName: "\0" }),
        observation(1, { displayName: "\uD800" }),
        observation(0, { observedAt: "9998-01-01" }),
        observation(0, { observedAt: "2026-01-01" }),
        observation(0, { observedAt: "2026-02-30T00:00:00Z" }),
        observation(2, { kind: "video" }),
        observation(2, { id: "" }),
        observation(2, { other: 1 }),
        observation(3, { description: "x".repeat(OBSERVATION_LINE_MAX_BYTES) }),
        observation(4, { subscribers: 4 }),
      ]),
    ];
    // The last line is half of a character.
    const bytes = Uint8Array.from([...encodeUtf8(lines.join("\n")), 0x0a, 0xf0, 0x9f]);
    const reference = createMemoryStore(() => NOW + DAY_MS);
    const results = [];
    for (const imported of [store, reference]) {
      const { rejected, causes, ...counts } = await imported.importObservations(bytes.slice());
      const numbers = rejected.map(({ line }) => line);
      const counted = causes.reduce((sum, { lines: inCause }) => sum + inCause, 0);
      const { body } = await imported.channel("UC1");
      results.push({ counts, numbers, counted, body });
    }
    assertEqual(results[0], results[1], "The result of the import, and what it stored");
  },

  async "importObservations() leaves the same, whatever the order and repetition"(store) {
    // Many observations of one instant contradict each other.
    const lines = createObservations(2, 200, ["channel"]).map((line, index) =>
      Object.assign(line, { observedAt: formatInstant(NOW - (index % 5) * HOUR_MS) }),
    );
    const reference = createMemoryStore(() => NOW + DAY_MS);
    await observe(reference, lines);
    const reversed = lines.toReversed();
    for (const part of [reversed.slice(50), reversed.slice(0, 100), lines]) {
      await observe(store, part);
    }
    const range = { from: 0, to: Infinity, interval: "raw", limit: 1000 } as const;
    for (const id of new Set(lines.map((line) => String(line["id"])))) {
      const [channel, expected] = [await store.channel(id), await reference.channel(id)];
      assertEqual(channel.body, expected.body, `channel() ${id}`);
      const history = await store.channelHistory(id, range);
      const { body } = await reference.channelHistory(id, range);
      assertEqual(history.body, body, `channelHistory() ${id}`);
    }
  },
};

/**
 * Creates the conformance tests of an {@link ObservationStore}, read as a {@link VideoStore}.
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
