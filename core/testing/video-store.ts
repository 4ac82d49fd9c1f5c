/** The conformance suite of stores of channels and shorts. */
import { HISTORY_INTERVALS, type HistoryPoint } from "../buckets.ts";
import { compareShortPositions, decodeShortsCursor, pageAfter } from "../cursor.ts";
import { DomainError } from "../errors.ts";
import { decodeHistoryCursor, type HistoryRequest } from "../history-request.ts";
import { CHANNEL_SORTS, compareListPositions, decodeListCursor, LIST_ORDERS } from "../lists.ts";
import { createComparisonTable, createHistoryPage } from "../resources/history-resources.ts";
import type { ChannelObservation, ShortObservation } from "../resources/mod.ts";
import type { ObservationStore, VideoStore } from "../stores.ts";
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

const channel = (id: string, fields: Partial<ChannelObservation> = {}): ChannelObservation => ({
  kind: "channel",
  id,
  observedAt: formatInstant(NOW),
  ...fields,
});

const short = (id: string, publishedAt: number | null): ShortObservation => ({
  kind: "short",
  channel: "UC1",
  id,
  observedAt: formatInstant(NOW),
  publishedAt: publishedAt === null ? null : formatInstant(publishedAt),
});

/** Random points of two months, oldest first, some of whose counts are unknown. */
function createPoints(seed: number): HistoryPoint[] {
  const random = createRandom(seed);
  const instants = Array.from({ length: 150 }, () => NOW - random(61 * 24) * HOUR_MS - random(9));
  return Array.from(new Set(instants))
    .toSorted((a, b) => a - b)
    .map((at) => ({ at, counts: [0, 1, 2].map(() => (random(3) === 0 ? null : random(99))) }));
}

const toObservations = (id: string, points: readonly HistoryPoint[]): ChannelObservation[] =>
  points.map(({ at, counts: [subscribers = null, videoCount = null, viewCount = null] }) =>
    channel(id, { observedAt: formatInstant(at), subscribers, videoCount, viewCount }),
  );

const TESTS: StoreTests<ObservationStore & VideoStore> = {
  async "channel() has the newest values, and null for what is unknown"(store) {
    const old = formatInstant(NOW - DAY_MS);
    await observe(store, [
      channel("UC1", { username: "Soup", displayName: "", subscribers: 5, viewCount: 7 }),
      channel("UC1", { observedAt: old, username: "old", country: "IE", subscribers: 3 }),
    ]);
    const { body } = await store.channel("soup");
    const { id, username, displayName, subscribers, videoCount, viewCount, country } = body;
    assertEqual(
      [id, username, displayName, subscribers, videoCount, viewCount, country],
      ["UC1", "Soup", "", 5, null, 7, "IE"],
      "The channel",
    );
    const gains = { dailySubscriberGain: 2, weeklySubscriberGain: null };
    assertEqual(body.statistics, { ...gains, monthlySubscriberGain: null }, "Its gains");
  },

  async "channel() finds the channel that findChannel() finds"(store) {
    const old = formatInstant(NOW - 1);
    await observe(store, [
      channel("twin", { observedAt: old }),
      channel("t1", { username: "TWIN" }),
      channel("t3", { observedAt: old, username: "Both" }),
      channel("t2", { observedAt: old, username: "both" }),
    ]);
    const ids = [];
    for (const name of ["twin", "Twin", "BOTH", "t3"]) {
      ids.push((await store.channel(name)).body.id);
    }
    assertEqual(ids, ["twin", "t1", "t2", "t3"], "The channels of the names");
    await assertRejects(store.channel("T3"), "Channel Not Found", "An identifier in upper case");
    const [found, missing] = await store.channelBatch(["TWIN", "nobody"]);
    assertEqual(found instanceof DomainError ? null : found?.id, "t1", "channelBatch()");
    assertEqual(missing instanceof DomainError, true, "A name of nobody in channelBatch()");
  },

  async "channels() lists all: most subscribers first, unknown last, then by identifier"(store) {
    const counts = { b: 5, a: 5, c: null, d: 0, "😀": 5, "！": 5 };
    const observed = Object.entries(counts).map(([id, subscribers]) =>
      channel(id, { subscribers }),
    );
    await observe(store, [...observed, short("s", NOW)]);
    const { body } = await store.channels();
    const ids = body.channels.map(({ id }) => id);
    assertEqual(ids, ["a", "b", "！", "😀", "d", "c"], "The channels");
  },

  async "channelPage() walks every sort and order, in pages of any size"(store) {
    const observed = [1, 2, 3, 4, 5, 6, 7].flatMap((seed) =>
      toObservations(`UC${seed}`, createPoints(seed)),
    );
    await observe(store, [...observed, channel("UC8"), channel("UC9", { country: "IE" })]);
    for (const sort of CHANNEL_SORTS) {
      for (const order of LIST_ORDERS) {
        const whole = await store.channelPage({ sort, order, limit: 50 });
        const ids = whole.body.channels.map(({ id }) => id);
        assertEqual(ids.length, 9, `The channels by ${sort}`);
        const walked: string[] = [];
        let cursor: string | null | undefined;
        while (cursor !== null) {
          const after =
            cursor === undefined ? {} : { after: decodeListCursor(cursor, sort, order) };
          const { body } = await store.channelPage({ sort, order, limit: 4, ...after });
          walked.push(...body.channels.map(({ id }) => id));
          cursor = body.pagination?.nextCursor ?? null;
        }
        assertEqual(walked, ids, `The pages by ${sort}, ${order}`);
      }
    }
    const sorted = await store.channelPage({ sort: "subscribers", order: "desc", limit: 50 });
    const positions = sorted.body.channels.map(({ id, subscribers: figure }) => ({ id, figure }));
    const expected = positions.toSorted((a, b) => compareListPositions(a, b, "desc"));
    assertEqual(positions, expected, "The order by subscribers");
    const request = { sort: "views", order: "desc", limit: 5, country: "ie" } as const;
    const { channels } = (await store.channelPage(request)).body;
    assertEqual(
      channels.map(({ id }) => id),
      ["UC9"],
      "The channels of a country",
    );
  },

  async "shorts() walks all shorts, newest first, in pages of any size"(store) {
    const instants = [5, 3, 3, 3, 1, 0, -7].map((hours) => NOW + hours * HOUR_MS);
    const listed = instants.map((publishedAt, index) => ({ id: `s${index}`, publishedAt }));
    const observed = listed.map(({ id, publishedAt }) => short(id, publishedAt));
    await observe(store, [channel("UC1"), ...observed, short("unpublished", null)]);
    const sorted = listed.toSorted(compareShortPositions);
    for (const limit of [1, 2, 3, 7, 9]) {
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const after = cursor === undefined ? {} : { after: decodeShortsCursor(cursor) };
        const request = { limit, before: NOW + 4 * HOUR_MS, ...after };
        const { body } = await store.shorts("UC1", request);
        const { items, hasMore, nextCursor } = pageAfter(sorted, request);
        const ids = body.shorts.map(({ id }) => id);
        const expected = items.map(({ id }) => id);
        assertEqual(ids, expected, `A page of ${limit} shorts`);
        assertEqual(body.pagination, { hasMore, nextCursor }, `Its pagination`);
        cursor = body.pagination.nextCursor;
      }
    }
  },

  async "short() is found in its channel only, once its publication is known"(store) {
    const other = short("other", NOW);
    await observe(store, [channel("UC1"), channel("UC2"), other, short("unpublished", null)]);
    const nothing = { views: null, likes: null, comments: null };
    assertEqual(
      (await store.short("UC1", "other")).body,
      {
        id: "other",
        title: null,
        description: null,
        publishedAt: formatInstant(NOW),
        metrics: { ...nothing, shares: null },
        history: [{ timestamp: formatInstant(NOW), ...nothing }],
      },
      "The short",
    );
    const range = { from: NOW, to: NOW + 1, interval: "raw", limit: 1, isRecent: false } as const;
    const { body } = await store.shortHistory("UC1", "other", range);
    assertEqual([body.short_id, body.history.length], ["other", 1], "Its history");
    for (const [name, id] of [
      ["UC2", "other"],
      ["UC1", "unpublished"],
    ] as const) {
      await assertRejects(store.short(name, id), "Short Not Found", `${id} of ${name}`);
    }
    await assertRejects(store.short("UC3", "other"), "Channel Not Found", "Another channel");
  },

  async "channelHistory() and channelComparison() group points like core"(store) {
    const points = [createPoints(1), createPoints(2)];
    await observe(store, [
      ...toObservations("UC1", points[0] ?? []),
      ...toObservations("UC2", points[1] ?? []),
    ]);
    for (const interval of HISTORY_INTERVALS) {
      let after: number | undefined;
      for (;;) {
        const range = { from: NOW - 40 * DAY_MS, to: NOW - DAY_MS, interval, limit: 11 };
        const request: HistoryRequest = { ...range, isRecent: false, ...(after && { after }) };
        const { body } = await store.channelHistory("UC1", request);
        const expected = createHistoryPage("channel", points[0] ?? [], request);
        assertEqual(body, { channel: "UC1", ...expected }, `A page by ${interval}`);
        const names = { names: ["UC1", "UC2"], count: "viewCount", countIndex: 2 } as const;
        const compared = await store.channelComparison({ ...request, ...names });
        const table = createComparisonTable(points, 2, request);
        assertEqual(compared.body.rows, table.rows, `A comparison by ${interval}`);
        const { nextCursor } = body.pagination;
        if (nextCursor === null) break;
        after = decodeHistoryCursor(nextCursor);
      }
    }
  },
};

/**
 * Creates the conformance tests of a {@link VideoStore}, which also imports observations.
 *
 * @param withStore Opens an empty store for each test.
 *
 * @example
 * createVideoStoreTests(async () => {}).length > 3; // true
 */
export function createVideoStoreTests(
  withStore: WithStore<ObservationStore & VideoStore>,
): ConformanceTest[] {
  return createTests(withStore, TESTS);
}
