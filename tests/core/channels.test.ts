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
    ["nasa", "@nasa"],
    ["ピアノ教室", "@ピアノ教室"],
    ["UCLA", "@UCLA"],
    ["https://www.youtube.com/@nasa", "@nasa"],
    ["https://www.youtube.com/@nasa/shorts", "@nasa"],
    ["http://m.youtube.com/@NASA?si=x#y", "@NASA"],
    ["youtube.com/@nasa", "@nasa"],
    ["https://www.youtube.com/%40nasa", "@nasa"],
    ["https://www.youtube.com/@%E3%83%94%E3%82%A2%E3%83%8E%E6%95%99%E5%AE%A4", "@ピアノ教室"],
    [`https://www.youtube.com/channel/${ID}`, ID],
    [`https://www.youtube.com/channel/${ID}/videos`, ID],
  ])("takes %s as %s", (text, channel) => {
    expect(parseChannelName(text)).toBe(channel);
  });

  test.each([
    ["https://www.youtube.com/shorts/VREVC0wXPfs"],
    ["https://www.youtube.com/watch?v=VREVC0wXPfs"],
    ["https://youtu.be/VREVC0wXPfs"],
  ])("rejects %s, and says that it is the address of a video", (url) => {
    expect(catchDomainError(() => parseChannelName(url))).toEqual({
      code: "Invalid Request",
      message:
        "channel must not be the address of a video; send that of its channel, which the page of " +
        `the video links to. Got ${JSON.stringify(url)}`,
    });
  });

  test.each([
    ["@ab"],
    [`@${"x".repeat(31)}`],
    ["@na sa"],
    ["@na/sa"],
    ["@nasa\n"],
    ["x@nasa"],
    ["@na\u0000sa"],
    [""],
    [ID.slice(0, -1)],
    [`${ID}x`],
    [ID.toLowerCase()],
    [`https://video.example/${ID}`],
    ["https://www.youtube.com/user/nasa"],
    ["https://www.youtube.com/@%zz%"],
    [`https://www.youtube.com/channel/${ID}x`],
  ])("rejects %j with a message that says what is allowed", (channel) => {
    expect(catchDomainError(() => parseChannelName(channel))).toEqual({
      code: "Invalid Request",
      message:
        "channel must be a handle (@ and 3 to 30 letters, digits, _, ., - or ·), an identifier (UC " +
        "and 22 letters, digits, _ or -) or an address such as https://www.youtube.com/@nasa, got " +
        JSON.stringify(channel),
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
