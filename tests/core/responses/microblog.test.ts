import { describe, expect, test } from "bun:test";
import { EMPTY_ENTITY, type Entity } from "../../../core/entities.ts";
import { readFields } from "../../../core/responses/entity-fields.ts";
import {
  createTweetDetails,
  createTweetsPage,
  createUserDetails,
  findUsername,
} from "../../../core/responses/microblog.ts";

const attribute = (value: string | number | boolean) => ({ value, at: 0 });

const user = {
  attributes: {
    displayName: attribute("Space"),
    profile_image_url: attribute("https://a.example/image"),
    description: attribute("About space"),
    created_at: attribute(0),
    verified: attribute(false),
  },
  points: new Map([[9, { followers_count: 1, following_count: 2, tweet_count: 3 }]]),
};

const tweet = {
  attributes: {
    username: attribute("NASA"),
    created_at: attribute(0),
    text: attribute("The moon"),
    url: attribute("https://a.example/moon"),
  },
  points: new Map([[9, { likes: 1, retweets: 2, replies: 3, quotes: 4, impressions: 5 }]]),
};

const COUNTS = { impressions: 5, likes: 1, retweets: 2, replies: 3, quotes: 4 };
const TWEET_FIELDS = {
  id: "t",
  username: "NASA",
  text: "The moon",
  url: "https://a.example/moon",
  created_at: 0,
  ...COUNTS,
};

const SUMMARY = {
  username: "nasa",
  displayName: "Space",
  followers_count: 1,
  following_count: 2,
  tweet_count: 3,
  profile_image_url: "https://a.example/image",
  verified: false,
};

describe("createUserDetails()", () => {
  test("has each field that readFields() reads", () => {
    expect(createUserDetails(readFields("user", "nasa", user))).toEqual({
      ...SUMMARY,
      description: "About space",
      created_at: "1970-01-01T00:00:00.000Z",
    });
  });

  test("is null where nothing is known", () => {
    const { username, ...rest } = createUserDetails(readFields("user", "nasa", EMPTY_ENTITY));
    expect(username).toBe("nasa");
    expect(new Set(Object.values(rest))).toEqual(new Set([null]));
  });
});

describe("findUsername()", () => {
  const tweetOf = (username: string, observedAt: number): Entity => ({
    attributes: { username: attribute(username) },
    points: new Map([[observedAt, {}]]),
  });

  test("is the spelling of the user, else of the tweet that was observed last", () => {
    const tweets = [tweetOf("nasa", 1), tweetOf("Nasa", 3), tweetOf("nASA", 2)];
    const named = { ...user, attributes: { username: attribute("NASA") } };
    expect(findUsername(named, tweets)).toBe("NASA");
    expect(findUsername(EMPTY_ENTITY, tweets)).toBe("Nasa");
    expect(findUsername(EMPTY_ENTITY, tweets.toReversed())).toBe("Nasa");
  });

  test("is the greater spelling of two tweets that were observed at once", () => {
    const tweets = [tweetOf("NASA", 1), tweetOf("nasa", 1), tweetOf("Nasa", 1)];
    expect(findUsername(EMPTY_ENTITY, tweets)).toBe("nasa");
    expect(findUsername(EMPTY_ENTITY, tweets.toReversed())).toBe("nasa");
  });

  test("ignores a tweet whose user is not known", () => {
    const unknown = { attributes: {}, points: new Map([[9, {}]]) };
    expect(findUsername(EMPTY_ENTITY, [unknown, tweetOf("nasa", 1)])).toBe("nasa");
    expect(findUsername(EMPTY_ENTITY, [unknown])).toBeUndefined();
  });

  test("is undefined if neither the user nor a tweet was observed", () => {
    expect(findUsername(EMPTY_ENTITY, [])).toBeUndefined();
  });
});

const POINTS = [
  { at: 0, counts: [1, 2, 3, 4, 5] },
  { at: 1, counts: [null, 0] },
];
const manyPoints = (length: number) =>
  Array.from({ length }, (_, index) => ({ at: index, counts: [] }));

describe("createTweetsPage()", () => {
  const DAY_MS = 86_400_000;
  const request = { days: 2, page: 0, limit: 2 };

  test("has tweets with a history of four counts, whose instants have no zone", () => {
    const tweets = [{ fields: TWEET_FIELDS, points: POINTS }];
    expect(createTweetsPage("NASA", tweets, request, 9)).toEqual({
      username: "NASA",
      tweets: {
        t: {
          created_at: "1970-01-01T00:00:00.000Z",
          metrics: [
            { likes: 1, replies: 3, retweets: 2, views: 5, timestamp: "1970-01-01T00:00:00.000" },
            {
              likes: null,
              replies: null,
              retweets: 0,
              views: null,
              timestamp: "1970-01-01T00:00:00.001",
            },
          ],
          text: "The moon",
          timestamp: "1970-01-01T00:00:00.001Z",
          url: "https://a.example/moon",
        },
      },
      filter_days: 2,
      pagination: { page: 0, limit: 2, total: 1, page_count: 1, has_more: false },
    });
  });

  test("lists the newest first, those of one instant by identifier, of the last days only", () => {
    const tweets = ["a", "c", "b", "old"].map((id, index) => ({
      fields: { ...TWEET_FIELDS, id, created_at: [9, 5, 5, -3 * DAY_MS][index] ?? 0 },
      points: POINTS,
    }));
    const list = (page: number) =>
      Object.keys(createTweetsPage("NASA", tweets, { ...request, page }, 9).tweets);
    expect([list(0), list(1)]).toEqual([["a", "c"], ["b"]]);
    expect(() => list(2)).toThrow("Page 2 is out of range");
  });

  test("keeps a tweet whose identifier is __proto__", () => {
    const tweets = [{ fields: { ...TWEET_FIELDS, id: "__proto__" }, points: POINTS }];
    const page = createTweetsPage("NASA", tweets, request, 9);
    expect(Object.keys(page.tweets)).toEqual(["__proto__"]);
  });

  test("thins a history to 250 points", () => {
    const count = (length: number) => {
      const tweets = [{ fields: TWEET_FIELDS, points: manyPoints(length) }];
      return createTweetsPage("NASA", tweets, request, 9).tweets["t"]?.metrics.length;
    };
    expect(count(250)).toBe(250);
    expect(count(251)).toBeLessThanOrEqual(250);
  });
});

describe("createTweetDetails()", () => {
  test("has what readFields() reads", () => {
    expect(readFields("tweet", "t", tweet)).toEqual(TWEET_FIELDS);
  });

  test("has the counts, and a history of impressions, likes and retweets", () => {
    expect(createTweetDetails("NASA", { fields: TWEET_FIELDS, points: POINTS })).toEqual({
      username: "NASA",
      tweet_id: "t",
      tweet: {
        id: "t",
        text: "The moon",
        created_at: "1970-01-01T00:00:00.000Z",
        metrics: COUNTS,
        history: [
          { timestamp: "1970-01-01T00:00:00.000Z", impressions: 5, likes: 1, retweets: 2 },
          { timestamp: "1970-01-01T00:00:00.001Z", impressions: null, likes: null, retweets: 0 },
        ],
      },
    });
  });

  test("thins a history to 1,000 points", () => {
    const count = (length: number) =>
      createTweetDetails("NASA", { fields: TWEET_FIELDS, points: manyPoints(length) }).tweet.history
        .length;
    expect(count(1000)).toBe(1000);
    expect(count(1001)).toBeLessThanOrEqual(1000);
  });
});
