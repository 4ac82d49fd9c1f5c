/** Which test of a conformance suite finds which fault of a store. */
import { describe, expect, test } from "bun:test";
import type { ChannelDetails, TweetsPage } from "../../../core/resources/generated/types.ts";
import {
  createMemoryStore,
  createMicroblogStoreTests,
  createObservationStoreTests,
  createVideoStoreTests,
} from "../../../core/testing/mod.ts";

/** After all observations. Not the clock of the runtime: workerd has none outside requests. */
const NOW = Date.UTC(2027, 0, 1);

const openStore = () => createMemoryStore(() => NOW);
type Store = ReturnType<typeof openStore>;

/** Replaces methods of a store by faulty ones. */
type Break = (store: Store) => Partial<Store>;

/** Faults by the test that finds them. */
type Faults = Readonly<Record<string, Readonly<Record<string, Break>>>>;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** A store that imports each line changed. */
const changeLines =
  (change: (line: string) => string): Break =>
  ({ importObservations }) => ({
    importObservations: (lines) =>
      importObservations(encoder.encode(decoder.decode(lines).split("\n").map(change).join("\n"))),
  });

const changeChannel =
  (change: (body: ChannelDetails) => object): Break =>
  ({ channel }) => ({
    channel: async (name) => {
      const { body } = await channel(name);
      return { body: { ...body, ...change(body) } };
    },
  });

const changeTweets =
  (change: (body: TweetsPage) => TweetsPage): Break =>
  ({ tweets }) => ({
    tweets: async (...request) => ({ body: change((await tweets(...request)).body) }),
  });

const VIDEO_FAULTS: Faults = {
  "channel() and channelBatch()": {
    "takes an unknown count for 0": changeChannel(({ videoCount }) => ({
      videoCount: videoCount ?? 0,
    })),
    "takes an empty text for none": changeChannel(({ displayName }) => ({
      displayName: displayName === "" ? null : displayName,
    })),
    "has no gains": changeChannel(({ statistics }) => ({
      statistics: { ...statistics, weeklySubscriberGain: null },
    })),
    "compares identifiers without their case": ({ channel }) => ({
      channel: (name) => channel(name.toLowerCase()),
    }),
    "has batches of identifiers only": ({ channelBatch }) => ({
      channelBatch: async (names) => {
        const found = await channelBatch(names);
        return found.map((one) =>
          one instanceof Error ? one : Object.assign(one, { subscribers: null }),
        );
      },
    }),
    "leaves out of a batch what is not found": ({ channelBatch }) => ({
      channelBatch: async (names) =>
        (await channelBatch(names)).filter((one) => !(one instanceof Error)),
    }),
    "lets the last line of an instant win": changeLines((line) =>
      line.includes('"displayName":"a"')
        ? line.replace('"displayName":"a"', '"displayName":"b"')
        : line,
    ),
  },
  "channels() lists": {
    "has summaries without a picture": (store) => ({
      channels: async () => {
        const { body } = await store.channels();
        const channels = body.channels.map((one) => Object.assign(one, { thumbnail: null }));
        return { body: { channels } };
      },
    }),
  },
  "channelPage() lists": {
    "has no filter by country": ({ channelPage }) => ({
      channelPage: ({ country: _country, ...request }) => channelPage(request),
    }),
    "searches without regard to display names": ({ channelPage }) => ({
      channelPage: ({ search, ...request }) =>
        channelPage(search === "oup" ? request : { ...request, ...(search && { search }) }),
    }),
    "sorts every page by subscribers": ({ channelPage }) => ({
      channelPage: (request) => channelPage({ ...request, sort: "subscribers" }),
    }),
  },
  "shorts() lists": {
    "lists a page of shorts again": ({ shorts }) => ({
      shorts: (name, { after: _after, ...request }) => shorts(name, request),
    }),
    "lists what is not published yet": ({ shorts }) => ({
      shorts: (name, { before: _before, ...request }) => shorts(name, request),
    }),
    "lists the short of `before`, too": ({ shorts }) => ({
      shorts: (name, { before, ...request }) =>
        shorts(name, before === undefined ? request : { ...request, before: before + 1 }),
    }),
    "leaves out the short a millisecond before `before`": ({ shorts }) => ({
      shorts: (name, { before, ...request }) =>
        shorts(name, before === undefined ? request : { ...request, before: before - 1 }),
    }),
    "counts no likes": ({ shorts }) => ({
      shorts: async (...request) => {
        const { body } = await shorts(...request);
        const listed = body.shorts.map((one) => Object.assign(one, { likes: null }));
        return { body: { ...body, shorts: listed } };
      },
    }),
  },
  "short() and shortHistory()": {
    "finds a short in its first channel only": changeLines((line) =>
      line.replace(/("kind":"short".*"channel":)"(?:uc1|Twin)"/, '$1"UC1"'),
    ),
    "has a short without its history": ({ short }) => ({
      short: async (...names) => ({ body: { ...(await short(...names)).body, history: [] } }),
    }),
  },
  "channelHistory() and channelComparison()": {
    "begins each page of a history at its start": ({ channelHistory }) => ({
      channelHistory: (name, { after: _after, ...request }) => channelHistory(name, request),
    }),
    "compares subscribers only": ({ channelComparison }) => ({
      channelComparison: (request) =>
        channelComparison({ ...request, count: "subscribers", countIndex: 0 }),
    }),
  },
};

const MICROBLOG_FAULTS: Faults = {
  "user() and userBatch()": {
    "compares usernames with their case": ({ user }) => ({
      user: (name) => user(name === "nasa" ? "nobody" : name),
    }),
    "does not know users of tweets only": changeLines((line) =>
      line.replace('"username":"J-a_x.A"', '"username":"esa"'),
    ),
  },
  "userPage() lists": {
    "ignores the search": ({ userPage }) => ({
      userPage: ({ search: _search, ...request }) => userPage(request),
    }),
    "has another order of equal users": ({ userPage }) => ({
      userPage: async (request) => {
        const { body } = await userPage(request);
        return { body: { ...body, users: body.users.toReversed() } };
      },
    }),
  },
  "tweets() lists": {
    "filters the tweets of one day more": ({ tweets }) => ({
      tweets: (username, request, now) =>
        tweets(username, { ...request, days: request.days + 1 }, now),
    }),
    "leaves out a tweet that is as old as the filter": ({ tweets }) => ({
      tweets: (username, request, now) => tweets(username, request, now + 1),
    }),
    "lists a tweet that is a millisecond older than the filter": ({ tweets }) => ({
      tweets: (username, request, now) => tweets(username, request, now - 1),
    }),
    "has tweets without their counts": changeTweets((body) => ({
      ...body,
      tweets: Object.fromEntries(
        Object.entries(body.tweets).map(([id, tweet]) => [id, { ...tweet, metrics: [] }]),
      ),
    })),
    "reverses the order of the tweets": changeTweets((body) => ({
      ...body,
      tweets: Object.fromEntries(Object.entries(body.tweets).toReversed()),
    })),
  },
  "followers() lists": {
    "leaves out a count that is as old as the filter": ({ followers }) => ({
      followers: (username, request, now) => followers(username, request, now + 1),
    }),
    "lists a count that is a millisecond older than the filter": ({ followers }) => ({
      followers: (username, request, now) => followers(username, request, now - 1),
    }),
    "has empty pages where none is": ({ followers }) => ({
      followers: (username, request, now) =>
        followers(username, request, now).catch(() =>
          followers(username, { ...request, page: 0 }, now),
        ),
    }),
  },
  "tweet() and tweetHistory()": {
    "finds a tweet of anybody": ({ tweet }) => ({
      tweet: async (username, id) => {
        for (const name of [username, "NASA", "esa", "J-a_x.A"]) {
          const found = await tweet(name, id).catch(() => undefined);
          if (found !== undefined) return found;
        }
        return tweet(username, id);
      },
    }),
  },
  "userHistory() and userComparison()": {
    "takes every interval for days": ({ userHistory }) => ({
      userHistory: (name, request) => userHistory(name, { ...request, interval: "day" }),
    }),
  },
};

const OBSERVATION_FAULTS: Faults = {
  "importObservations() counts": {
    "forgets the first of two imports": () => ({
      importObservations: (lines) => openStore().importObservations(lines),
    }),
  },
  "importObservations() stores the good lines": {
    "rejects a byte order mark": changeLines((line) => line.replace("\uFEFF", "?")),
    "rejects a carriage return": changeLines((line) => line.replace("\r", "?")),
    "takes what is not UTF-8": changeLines((line) => (line.includes("\uFFFD") ? "" : line)),
    "stops at the first bad line": ({ importObservations }) => ({
      importObservations: (lines) => {
        const text = decoder.decode(lines);
        return importObservations(encoder.encode(text.split("no JSON")[0]));
      },
    }),
  },
  "importObservations() leaves the same": {
    "lets the first of two texts at an instant win": ({ importObservations }) => {
      const firsts = new Map<string, unknown>();
      return {
        importObservations: (lines) => {
          const kept = decoder
            .decode(lines)
            .split("\n")
            .map((line) => {
              const { id, observedAt, displayName, ...others } = JSON.parse(line);
              const key = `${id} ${observedAt}`;
              const first = firsts.has(key) ? firsts.get(key) : displayName;
              firsts.set(key, first);
              return JSON.stringify({ id, observedAt, displayName: first, ...others });
            });
          return importObservations(encoder.encode(kept.join("\n")));
        },
      };
    },
  },
};

type Suite = ReturnType<typeof createVideoStoreTests>;

/** A row for each fault: the fault, the test that finds it, and the suite of a store with it. */
function listFaults(
  faults: Faults,
  createSuite: (withStore: (run: (store: Store) => Promise<void>) => Promise<void>) => Suite,
): (readonly [fault: string, test: string, suite: Suite])[] {
  return Object.entries(faults).flatMap(([name, breaks]) =>
    Object.entries(breaks).map(([fault, breakStore]) => {
      const suite = createSuite((run) => {
        const store = openStore();
        return run({ ...store, ...breakStore(store) });
      });
      return [fault, name, suite] as const;
    }),
  );
}

const FAULTS = [
  ...listFaults(VIDEO_FAULTS, createVideoStoreTests),
  ...listFaults(MICROBLOG_FAULTS, createMicroblogStoreTests),
  ...listFaults(OBSERVATION_FAULTS, createObservationStoreTests),
];

describe("a conformance suite", () => {
  test.each(FAULTS)("finds a store that %s", async (_, name, suite) => {
    const named = suite.filter((candidate) => candidate.name.startsWith(name));
    expect(named).toHaveLength(1);
    const failure = await named[0]?.run().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
  });
});
