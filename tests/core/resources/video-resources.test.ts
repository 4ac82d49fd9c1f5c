import { describe, expect, test } from "bun:test";
import { EMPTY_ENTITY } from "../../../core/entities.ts";
import {
  createChannelDetails,
  createChannelSummary,
  createShortDetails,
  createShortSummary,
  readChannelFields,
  readShortFields,
} from "../../../core/resources/video-resources.ts";

const at = Date.UTC(2026, 10, 20);
const attribute = (value: string | number) => ({ value, at });

const channel = {
  attributes: {
    username: attribute("NASA"),
    displayName: attribute("Space"),
    description: attribute("About space"),
    joinedAt: attribute(0),
    country: attribute("US"),
    thumbnail: attribute("https://a.example/thumbnail"),
    bannerImage: attribute("https://a.example/banner"),
  },
  points: new Map([[at, { subscribers: 1, videoCount: 2, viewCount: 3 }]]),
};

const short = {
  attributes: {
    title: attribute("Moon"),
    description: attribute("The moon"),
    thumbnail: attribute("https://a.example/moon"),
    publishedAt: attribute(0),
  },
  points: new Map([[at, { views: 1, likes: 2, comments: 3, shares: 4 }]]),
};

describe("createChannelDetails()", () => {
  test("has each field that readChannelFields() reads, and the gains of subscribers", () => {
    const gains = { dailyGain: 1, weeklyGain: 7, monthlyGain: 30, dailyViews: 5 };
    expect(createChannelDetails(readChannelFields("UC1", channel), gains)).toEqual({
      id: "UC1",
      username: "NASA",
      displayName: "Space",
      description: "About space",
      subscribers: 1,
      videoCount: 2,
      viewCount: 3,
      joinedAt: "1970-01-01T00:00:00.000Z",
      country: "US",
      thumbnail: "https://a.example/thumbnail",
      bannerImage: "https://a.example/banner",
      statistics: { dailySubscriberGain: 1, weeklySubscriberGain: 7, monthlySubscriberGain: 30 },
    });
  });

  test("is null where nothing is known", () => {
    const { id, statistics, ...rest } = createChannelDetails(
      readChannelFields("UC1", EMPTY_ENTITY),
      {},
    );
    expect(id).toBe("UC1");
    const gains = { dailySubscriberGain: null, weeklySubscriberGain: null };
    expect(statistics).toEqual({ ...gains, monthlySubscriberGain: null });
    expect(new Set(Object.values(rest))).toEqual(new Set([null]));
  });
});

describe("createChannelSummary()", () => {
  test("has six of the fields", () => {
    expect(createChannelSummary(readChannelFields("UC1", channel))).toEqual({
      id: "UC1",
      username: "NASA",
      displayName: "Space",
      subscribers: 1,
      videoCount: 2,
      thumbnail: "https://a.example/thumbnail",
    });
  });
});

const SHORT_FIELDS = {
  id: "s",
  title: "Moon",
  description: "The moon",
  thumbnail: "https://a.example/moon",
  publishedAt: 0,
  views: 1,
  likes: 2,
  comments: 3,
  shares: 4,
};

describe("readShortFields()", () => {
  test("reads all fields", () => {
    expect(readShortFields("s", short)).toEqual(SHORT_FIELDS);
  });

  test("is undefined while it is not known when the short was published", () => {
    const { publishedAt: _, ...attributes } = short.attributes;
    expect(readShortFields("s", { ...short, attributes })).toBeUndefined();
  });
});

describe("createShortSummary()", () => {
  test("leaves out the description and the shares", () => {
    expect(createShortSummary(SHORT_FIELDS)).toEqual({
      id: "s",
      title: "Moon",
      thumbnail: "https://a.example/moon",
      publishedAt: "1970-01-01T00:00:00.000Z",
      views: 1,
      likes: 2,
      comments: 3,
    });
  });
});

describe("createShortDetails()", () => {
  test("has the counts, and a history of views, likes and comments", () => {
    const points = [
      { at: 0, counts: [5, 6, 7, 8] },
      { at: 1, counts: [null, 0] },
    ];
    expect(createShortDetails(SHORT_FIELDS, points)).toEqual({
      id: "s",
      title: "Moon",
      description: "The moon",
      publishedAt: "1970-01-01T00:00:00.000Z",
      metrics: { views: 1, likes: 2, comments: 3, shares: 4 },
      history: [
        { timestamp: "1970-01-01T00:00:00.000Z", views: 5, likes: 6, comments: 7 },
        { timestamp: "1970-01-01T00:00:00.001Z", views: null, likes: 0, comments: null },
      ],
    });
  });

  test("thins a history to 1,000 points", () => {
    const points = Array.from({ length: 1001 }, (_, index) => ({ at: index, counts: [] }));
    expect(createShortDetails(SHORT_FIELDS, points).history.length).toBeLessThanOrEqual(1000);
    expect(createShortDetails(SHORT_FIELDS, points.slice(1)).history.length).toBe(1000);
  });
});
