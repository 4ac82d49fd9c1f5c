import { describe, expect, test } from "bun:test";
import { encodeCursor } from "../../../core/cursor.ts";
import { EMPTY_ENTITY } from "../../../core/entities.ts";
import { readFields } from "../../../core/responses/entity-fields.ts";
import {
  createChannelDetails,
  createShortDetails,
  createShortsPage,
  findChannel,
} from "../../../core/responses/video.ts";

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
  test("has each field that readFields() reads, and the gains of subscribers", () => {
    const gains = {
      dailySubscriberGain: 1,
      weeklySubscriberGain: 7,
      monthlySubscriberGain: 30,
      dailyViewGain: 5,
    };
    expect(createChannelDetails(readFields("channel", "UC1", channel), gains)).toEqual({
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
      readFields("channel", "UC1", EMPTY_ENTITY),
      {},
    );
    expect(id).toBe("UC1");
    const gains = { dailySubscriberGain: null, weeklySubscriberGain: null };
    expect(statistics).toEqual({ ...gains, monthlySubscriberGain: null });
    expect(new Set(Object.values(rest))).toEqual(new Set([null]));
  });
});

const SHORT_FIELDS = {
  id: "s",
  channel: "UC1",
  title: "Moon",
  description: "The moon",
  thumbnail: "https://a.example/moon",
  publishedAt: 0,
  views: 1,
  likes: 2,
  comments: 3,
  shares: 4,
};

describe("createShortsPage()", () => {
  const shorts = [
    { ...SHORT_FIELDS, id: "b", publishedAt: 5 },
    { ...SHORT_FIELDS, id: "a", publishedAt: 9 },
    { ...SHORT_FIELDS, id: "c", publishedAt: 5 },
  ];

  test("has shorts without their description and shares", () => {
    expect(createShortsPage("NASA", [SHORT_FIELDS], { limit: 5 })).toEqual({
      channel: "NASA",
      shorts: [
        {
          id: "s",
          title: "Moon",
          thumbnail: "https://a.example/moon",
          publishedAt: "1970-01-01T00:00:00.000Z",
          views: 1,
          likes: 2,
          comments: 3,
        },
      ],
      pagination: { hasMore: false, nextCursor: null },
    });
  });

  test("lists the newest first, those of one instant by identifier, and continues after a position", () => {
    const page = createShortsPage("NASA", shorts, { limit: 2 });
    expect(page.shorts.map(({ id }) => id)).toEqual(["a", "c"]);
    const after = { publishedAt: 5, id: "c" };
    expect(page.pagination).toEqual({
      hasMore: true,
      nextCursor: encodeCursor(["shorts"], 5, "c"),
    });
    const next = createShortsPage("NASA", shorts, { limit: 2, after });
    expect(next.shorts.map(({ id }) => id)).toEqual(["b"]);
    expect(createShortsPage("NASA", shorts, { limit: 2, before: 5 }).shorts).toEqual([]);
  });
});

describe("createShortDetails()", () => {
  test("has what readFields() reads", () => {
    expect({ ...readFields("short", "s", short), channel: "UC1" }).toEqual(SHORT_FIELDS);
  });

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

describe("findChannel()", () => {
  const channels = [
    { id: "UC1", username: "NASA", observedAt: 5 },
    { id: "UC3", username: "nasa", observedAt: 7 },
    { id: "UC2", username: "Nasa", observedAt: 7 },
    { id: "UC4", username: null, observedAt: 9 },
    { id: "nasa", username: "esa", observedAt: 1 },
    { id: "UC5", username: "UC4", observedAt: 9 },
  ];
  const find = (name: string) => [
    findChannel(name, channels)?.id,
    findChannel(name, channels.toReversed())?.id,
  ];

  test("finds the channel with this identifier, whatever others are called", () => {
    expect(find("UC4")).toEqual(["UC4", "UC4"]);
    expect(find("nasa")).toEqual(["nasa", "nasa"]);
  });

  test("finds the channel with this username that was observed last, then the smaller one", () => {
    expect(find("NaSa")).toEqual(["UC2", "UC2"]);
    expect(find("ESA")).toEqual(["nasa", "nasa"]);
    expect(findChannel("NaSa", channels.slice(0, 1))?.id).toBe("UC1");
  });

  test("finds nothing by the identifier in another case, nor by no name", () => {
    expect(find("uc1")).toEqual([undefined, undefined]);
    expect(find("null")).toEqual([undefined, undefined]);
  });
});
