import { describe, expect, test } from "bun:test";
import { YOUTUBE } from "../../../server/collectors/youtube/source.ts";
import { catchDomainError } from "../../support/domain-error.ts";

const parseChannelName = (text: string) => YOUTUBE.parseChannelName?.(text);

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
