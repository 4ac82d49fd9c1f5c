import { describe, expect, test } from "bun:test";
import { getChannelKey, findChannel, isChannelId, parseChannelName } from "../../core/channels.ts";
import { catchDomainError } from "../support/domain-error.ts";

const ID = `UC${"aB-_9".repeat(4)}xY`;

describe("parseChannelName()", () => {
  test.each([
    ["@nasa"],
    ["@a.b"],
    ["@_-·"],
    ["@ピアノ教室"],
    ["@हिन्दी"],
    [`@${"x".repeat(30)}`],
    [ID],
  ])("accepts %s", (channel) => {
    expect(parseChannelName(channel)).toBe(channel);
  });

  test.each([
    ["nasa"],
    ["@ab"],
    [`@${"x".repeat(31)}`],
    ["@na sa"],
    ["@na/sa"],
    ["@nasa\n"],
    ["x@nasa"],
    ["@na\u0000sa"],
    [""],
    [ID.slice(1)],
    [ID.slice(0, -1)],
    [`${ID}x`],
    [ID.toLowerCase()],
    [`https://video.example/${ID}`],
  ])("rejects %j with a message that says what is allowed", (channel) => {
    expect(catchDomainError(() => parseChannelName(channel))).toEqual({
      code: "Invalid Request",
      message:
        "channel must be a handle (@ and 3 to 30 letters, digits, _, ., - or ·) or an identifier " +
        `(UC and 22 letters, digits, _ or -), got ${JSON.stringify(channel)}`,
    });
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

describe("getChannelKey()", () => {
  test("ignores the case of a handle, not of an identifier", () => {
    expect(getChannelKey("@NaSa")).toBe(getChannelKey("@nasa"));
    expect(getChannelKey(ID)).not.toBe(getChannelKey(`UC${ID.slice(2).toUpperCase()}`));
    expect(isChannelId(getChannelKey(ID))).toBe(true);
  });
});
