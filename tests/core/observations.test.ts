import { describe, expect, test } from "bun:test";
import { parseObservationLine, type Observation } from "../../core/observations.ts";
import { NOW, TRICKY_IDENTIFIERS } from "../support/arbitraries/values.ts";

const CHANNEL = { kind: "channel", observedAt: "2026-11-20", id: "c1" };
const SHORT = { kind: "short", observedAt: "2026-11-20", channel: "c1", id: "s1" };
const USER = { kind: "user", observedAt: "2026-11-20", username: "NASA" };
const TWEET = { kind: "tweet", observedAt: "2026-11-20", username: "NASA", id: "t1" };

function parseLine(line: string | object): Observation {
  return parseObservationLine(typeof line === "string" ? line : JSON.stringify(line), NOW);
}

describe("parseObservationLine()", () => {
  test("reads a channel with all its fields", () => {
    const line = {
      ...CHANNEL,
      observedAt: "2026-11-20T01:00+01:00",
      username: "nasa",
      displayName: "NASA",
      description: "",
      subscribers: 0,
      videoCount: 2 ** 53 - 1,
      viewCount: 7,
      joinedAt: "1970-01-02",
      country: "US",
      thumbnail: "https://a.example/t",
      bannerImage: "not even a link",
    };
    expect(parseLine(line)).toEqual({
      kind: "channel",
      entityId: "c1",
      observedAt: Date.UTC(2026, 10, 20),
      attributes: {
        username: "nasa",
        displayName: "NASA",
        description: "",
        joinedAt: 86_400_000,
        country: "US",
        thumbnail: "https://a.example/t",
        bannerImage: "not even a link",
      },
      counts: { subscribers: 0, videoCount: 2 ** 53 - 1, viewCount: 7 },
    });
  });

  test("treats a null field as absent", () => {
    const { attributes, counts } = parseLine({
      ...SHORT,
      title: null,
      views: null,
      likes: 3,
    });
    expect(attributes).toEqual({ channel: "c1" });
    expect(counts).toMatchObject({ views: null, likes: 3, comments: null, shares: null });
  });

  test("accepts null beside an escaped emoji and in a list", () => {
    const line = JSON.stringify({ ...TWEET, text: "here", url: null, likes: null, x: [null] });
    const { attributes } = parseLine(line.replace("here", String.raw`\ud83c\udf72`));
    expect(attributes).toEqual({ username: "NASA", text: "🍲" });
  });

  test("folds the case of a username into one entity and keeps the spelling", () => {
    const { entityId, attributes } = parseLine({ ...USER, verified: false });
    expect(entityId).toBe("nasa");
    expect(attributes).toEqual({ username: "NASA", verified: false });
    expect(parseLine({ ...USER, username: "ÉCOLE" }).entityId).toBe("école");
  });

  test("keeps the case of every other identifier", () => {
    expect(parseLine({ ...TWEET, id: "aB" }).entityId).toBe("aB");
    expect(parseLine({ ...CHANNEL, id: "aB" }).entityId).toBe("aB");
    expect(parseLine({ ...TWEET, id: "aB" }).attributes).toEqual({ username: "NASA" });
  });

  test.each(TRICKY_IDENTIFIERS)("keeps the identifier %j", (id) => {
    expect(parseLine({ ...TWEET, id, text: id })).toMatchObject({
      entityId: id,
      attributes: { text: id },
    });
  });

  test("ignores unknown fields, `__proto__` and `constructor` too", () => {
    const line =
      '{"kind":"user","observedAt":"2026-11-20","username":"a","likes":-1,"x":[{}],' +
      '"constructor":1,"__proto__":{"verified":true,"followers_count":5}}';
    expect(parseLine(line)).toEqual(parseLine({ ...USER, username: "a" }));
  });

  test("reads -0 as 0", () => {
    const line = '{"kind":"tweet","observedAt":"2026-11-20","username":"a","id":"1","likes":-0}';
    expect(Object.is(parseLine(line).counts["likes"], 0)).toBe(true);
  });

  test("accepts an instant up to five minutes ahead of the clock", () => {
    expect(parseLine({ ...USER, observedAt: "2026-11-20T12:05" }).observedAt).toBe(NOW + 300_000);
  });

  test("keeps texts unchanged, at full length", () => {
    const text = `\t\r\n\u0001${"😀".repeat(65_532)}`;
    expect(parseLine({ ...TWEET, text, url: "😀".repeat(2048) }).attributes).toEqual({
      username: "NASA",
      text,
      url: "😀".repeat(2048),
    });
    const id = "😀".repeat(256);
    expect(parseLine({ ...TWEET, id }).entityId).toBe(id);
  });

  test("accepts an escaped backslash before u0000", () => {
    const line = String.raw`{"kind":"user","observedAt":"2026-11-20","username":"a\\u0000"}`;
    expect(parseLine(line).entityId).toBe(String.raw`a\u0000`);
  });

  test("rejects a clock of NaN, which is before no instant", () => {
    const message = /^An instant must be from -?\d+ to \d+ milliseconds, got NaN$/;
    const line = JSON.stringify({ ...CHANNEL, observedAt: "9999-12-31" });
    expect(() => parseObservationLine(line, Number.NaN)).toThrow(RangeError);
    expect(() => parseObservationLine(line, Number.NaN)).toThrow(message);
  });
});
