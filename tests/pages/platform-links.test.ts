/** Links to platforms: only where the platform is known for certain. */
import { expect, test } from "bun:test";
import {
  findChannelLink,
  findShortLink,
  findTweetLink,
  findUserLink,
} from "../../server/pages/platform-links.ts";

const CHANNEL = "UCLA_DiR1FfKNvjuUpBHmylQ";

test("findChannelLink() takes the identifiers of YouTube", () => {
  const href = `https://www.youtube.com/channel/${CHANNEL}`;
  expect(findChannelLink(CHANNEL)).toEqual({ href, platform: "YouTube" });
  const others = ["nasa", `${CHANNEL}x`, CHANNEL.slice(1), "CHaaaaaaaaaaaaaaaaaaaaaa", ""];
  expect(others.map(findChannelLink).filter(Boolean)).toEqual([]);
  expect(findChannelLink(`UC${"/".repeat(22)}`)).toBeUndefined();
});

test("findShortLink() takes shorts of channels of YouTube", () => {
  const href = "https://www.youtube.com/shorts/dQw4w9WgXcQ";
  expect(findShortLink(CHANNEL, "dQw4w9WgXcQ")).toEqual({ href, platform: "YouTube" });
  expect(findShortLink("nasa", "dQw4w9WgXcQ")).toBeUndefined();
  expect(findShortLink(CHANNEL, "dQw4w9WgXc")).toBeUndefined();
  expect(findShortLink(CHANNEL, "dQw4w9Wg/cQ")).toBeUndefined();
});

test.each([
  ["https://x.com/nasa/status/1", "X"],
  ["https://bsky.app/profile/bsky.app/post/3k", "Bluesky"],
  ["https://example.com/a", "example.com"],
  ["https://x.com.evil.test/nasa/status/1", "x.com.evil.test"],
])("findTweetLink(%j) is on %s", (stored, platform) => {
  expect(findTweetLink(stored)).toEqual({ href: stored, platform });
});

test.each([
  null,
  "",
  "http://x.com/nasa/status/1",
  "javascript:alert(1)",
  "data:text/html,x",
  "//x.com/nasa",
  "https://x.com@evil.test/",
])("findTweetLink(%j) is undefined", (stored) => {
  expect(findTweetLink(stored)).toBeUndefined();
});

test.each([
  ["nasa", "https://x.com/NASA/status/12", "https://x.com/NASA"],
  ["nasa", "https://twitter.com/nasa/status/12", "https://twitter.com/nasa"],
  ["bsky.app", "https://bsky.app/profile/bsky.app/post/3k2", "https://bsky.app/profile/bsky.app"],
])("findUserLink(%j, %j) is %j", (username, stored, href) => {
  expect(findUserLink(username, stored)?.href).toBe(href);
});

test.each([
  ["nasa", null],
  ["nasa", "https://x.com/other/status/12"],
  ["nasa", "https://x.com/i/web/status/12"],
  ["nasa", "http://x.com/nasa/status/12"],
  ["nasa", "https://example.com/nasa/status/12"],
  ["constructor", "https://constructor/constructor/status/12"],
  ["evil", "https://x.com.evil.test/evil/status/12"],
])("findUserLink(%j, %j) is undefined", (username, stored) => {
  expect(findUserLink(username, stored)).toBeUndefined();
});
