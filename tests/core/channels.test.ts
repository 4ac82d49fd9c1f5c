import { describe, expect, test } from "bun:test";
import { channelKey, parseChannel, isChannelId } from "../../core/channels.ts";
import { catchDomainError } from "../support/domain-error.ts";

const ID = `UC${"aB-_9".repeat(4)}xY`;

describe("parseChannel()", () => {
  test.each([
    ["@nasa"],
    ["@a.b"],
    ["@_-·"],
    ["@ピアノ教室"],
    ["@हिन्दी"],
    [`@${"x".repeat(30)}`],
    [ID],
  ])("accepts %s", (channel) => {
    expect(parseChannel(channel)).toBe(channel);
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
    expect(catchDomainError(() => parseChannel(channel))).toEqual({
      code: "Invalid Request",
      message:
        "channel must be a handle (@ and 3 to 30 letters, digits, _, ., - or ·) or an identifier " +
        `(UC and 22 letters, digits, _ or -), got ${JSON.stringify(channel)}`,
    });
  });
});

describe("channelKey()", () => {
  test("ignores the case of a handle, not of an identifier", () => {
    expect(channelKey("@NaSa")).toBe(channelKey("@nasa"));
    expect(channelKey(ID)).not.toBe(channelKey(`UC${ID.slice(2).toUpperCase()}`));
    expect(isChannelId(channelKey(ID))).toBe(true);
  });
});
