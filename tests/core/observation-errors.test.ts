import { describe, expect, test } from "bun:test";
import {
  parseObservation,
  parseObservationLine,
  type Observation,
} from "../../core/observations.ts";
import { NOW } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

const CHANNEL = { kind: "channel", observedAt: "2026-11-20", id: "c1" };
const SHORT = { kind: "short", observedAt: "2026-11-20", channel: "c1", id: "s1" };
const USER = { kind: "user", observedAt: "2026-11-20", username: "NASA" };
const TWEET = { kind: "tweet", observedAt: "2026-11-20", username: "NASA", id: "t1" };

const INSTANT_RULE =
  "an ISO 8601 date (2026-11-20) or date-time (2026-11-20T08:15:30.123Z) that exists";
const COUNT_RULE = "a whole number from 0 to 9007199254740991";
const AHEAD_RULE = "observedAt must not be more than 5 minutes ahead of the clock";
const TEXT_RULE = "must have no NUL and no lone surrogate";
const NUL = String.raw`A text ${TEXT_RULE}, got "a\u0000"`;
const LONE_SURROGATE = String.raw`A text ${TEXT_RULE}, got "\ud83d"`;
const LINKS = [
  [CHANNEL, "thumbnail"],
  [CHANNEL, "bannerImage"],
  [SHORT, "thumbnail"],
  [USER, "profile_image_url"],
  [TWEET, "url"],
] as const;

function parseLine(line: string | object): Observation {
  return parseObservationLine(typeof line === "string" ? line : JSON.stringify(line), NOW);
}

const REJECTIONS: [what: string, line: string | object, message: string][] = [
  ["an empty line", "", 'The line must be a JSON object, got ""'],
  ["a line that is not JSON", "{kind", 'The line must be a JSON object, got "{kind"'],
  ["two objects on a line", "{}{}", 'The line must be a JSON object, got "{}{}"'],
  [
    "a raw NUL",
    '{"kind":"\0"}',
    String.raw`The line must be a JSON object, got "{\"kind\":\"\u0000\"}"`,
  ],
  ["an array", "[]", "An observation must be a JSON object, got []"],
  ["null", "null", "An observation must be a JSON object, got null"],
  ["a number", "7", "An observation must be a JSON object, got 7"],
  ["no kind", {}, "kind must be one of channel, short, user, tweet, got undefined"],
  [
    "an unknown kind",
    { kind: "video" },
    'kind must be one of channel, short, user, tweet, got "video"',
  ],
  [
    "a kind in capitals",
    { kind: "User" },
    'kind must be one of channel, short, user, tweet, got "User"',
  ],
  [
    "the name of an inherited property as kind",
    { kind: "constructor" },
    'kind must be one of channel, short, user, tweet, got "constructor"',
  ],
  ["no observedAt", { ...USER, observedAt: null }, "observedAt must be a string, got null"],
  ["observedAt as a number", { ...USER, observedAt: 0 }, "observedAt must be a string, got 0"],
  [
    "observedAt on a day that does not exist",
    { ...USER, observedAt: "2026-02-29" },
    `observedAt must be ${INSTANT_RULE}, got "2026-02-29"`,
  ],
  [
    "observedAt more than five minutes ahead",
    { ...USER, observedAt: "2026-11-20T12:05:00.001Z" },
    `${AHEAD_RULE}, got "2026-11-20T12:05:00.001Z" at 2026-11-20T12:00:00.000Z`,
  ],
  [
    "observedAt ahead by its zone",
    { ...USER, observedAt: "2026-11-20T12:00:00-01:00" },
    `${AHEAD_RULE}, got "2026-11-20T12:00:00-01:00" at 2026-11-20T12:00:00.000Z`,
  ],
  ["no identifier", { ...TWEET, id: undefined }, "id must be a string, got undefined"],
  ["an identifier as a number", { ...TWEET, id: 7 }, "id must be a string, got 7"],
  ["a user without a username", { ...USER, username: null }, "username must be a string, got null"],
  [
    "a tweet without a username",
    { ...TWEET, username: null },
    "username must be a string, got null",
  ],
  ["a short without a channel", { ...SHORT, channel: null }, "channel must be a string, got null"],
  ["an empty identifier", { ...CHANNEL, id: "" }, "id must not be empty"],
  ["an empty channel of a short", { ...SHORT, channel: "" }, "channel must not be empty"],
  ["an identifier that URLs resolve", { ...TWEET, id: "." }, 'id must not be . or .., got "."'],
  [
    "a channel of a short that URLs resolve",
    { ...SHORT, channel: ".." },
    'channel must not be . or .., got ".."',
  ],
  [
    "a username that URLs resolve",
    { ...USER, username: ".." },
    'username must not be . or .., got ".."',
  ],
  [
    "an identifier of 257 characters",
    { ...CHANNEL, id: "x".repeat(257) },
    "id must have at most 256 characters",
  ],
  [
    "an identifier of 257 emoji",
    { ...CHANNEL, id: "😀".repeat(257) },
    "id must have at most 256 characters",
  ],
  [
    "a control character in an identifier",
    { ...USER, username: "a\nb" },
    String.raw`username must have no control character, got "a\nb"`,
  ],
  [
    "a C1 control character in an identifier",
    { ...USER, username: "a\u0085" },
    String.raw`username must have no control character, got "a\u0085"`,
  ],
  ["a text as a number", { ...TWEET, text: 7 }, "text must be a string, got 7"],
  ["a text as an array", { ...TWEET, text: ["a"] }, 'text must be a string, got ["a"]'],
  [
    "a text of 65,537 characters",
    { ...TWEET, text: "x".repeat(65_537) },
    "text must have at most 65536 characters",
  ],
  ...LINKS.map(([observation, field]): [string, object, string] => [
    `a link of 2,049 characters as ${field} of a ${observation.kind}`,
    { ...observation, [field]: "x".repeat(2049) },
    `${field} must have at most 2048 characters`,
  ]),
  [
    "a boolean as a text",
    { ...USER, verified: "true" },
    'verified must be true or false, got "true"',
  ],
  ["a boolean as a number", { ...USER, verified: 0 }, "verified must be true or false, got 0"],
  [
    "a date that does not exist",
    { ...SHORT, publishedAt: "2026-11-31" },
    `publishedAt must be ${INSTANT_RULE}, got "2026-11-31"`,
  ],
  ["a date as a number", { ...CHANNEL, joinedAt: 0 }, "joinedAt must be a string, got 0"],
  ["a negative count", { ...TWEET, likes: -1 }, `likes must be ${COUNT_RULE}, got -1`],
  ["a fractional count", { ...TWEET, likes: 1.5 }, `likes must be ${COUNT_RULE}, got 1.5`],
  [
    "a count over 2^53 - 1",
    { ...USER, tweet_count: 2 ** 53 },
    `tweet_count must be ${COUNT_RULE}, got 9007199254740992`,
  ],
  ...["9007199254740991.4", "4503599627370496.1", "90071992547409914e-1"].map(
    (count): [string, string, string] => [
      `the fractional count ${count}, which is read as a whole number`,
      `{"ignored":"1.5",${JSON.stringify({ ...SHORT, likes: 7 }).slice(1, -2)}${count}}`,
      `likes must be ${COUNT_RULE}, got ${count}`,
    ],
  ),
  ["a count as a text", { ...TWEET, likes: "1" }, `likes must be ${COUNT_RULE}, got "1"`],
  ["a count as a boolean", { ...TWEET, likes: true }, `likes must be ${COUNT_RULE}, got true`],
  [
    "a count that overflows to Infinity",
    JSON.stringify({ ...TWEET, likes: 7 }).replace(":7", ":1e400"),
    `likes must be ${COUNT_RULE}, got Infinity`,
  ],
  ["a NUL in a text", { ...TWEET, text: "a\0" }, NUL],
  ["a NUL in an identifier", { ...TWEET, id: "a\0" }, NUL],
  ["a lone surrogate in a text", { ...TWEET, text: "\ud83d" }, LONE_SURROGATE],
  [
    "a lone surrogate as an escape in capitals",
    String.raw`{"kind":"tweet","x":"\uD83D"}`,
    LONE_SURROGATE,
  ],
  [
    "a lone surrogate in an ignored field",
    { ...TWEET, x: { y: ["a", "\ude00"] } },
    String.raw`A text ${TEXT_RULE}, got "\ude00"`,
  ],
  [
    "a NUL in an ignored field",
    { ...TWEET, x: "\0" },
    String.raw`A text ${TEXT_RULE}, got "\u0000"`,
  ],
  [
    "a NUL in the name of an ignored field",
    { ...TWEET, "x\0": 1 },
    String.raw`A text ${TEXT_RULE}, got "x\u0000"`,
  ],
  [
    "an unescaped lone surrogate",
    JSON.stringify({ ...TWEET, x: "here" }).replace("here", "\ud83d"),
    LONE_SURROGATE,
  ],
];

describe("parseObservationLine()", () => {
  test.each(REJECTIONS)("rejects %s", (_what, line, message) => {
    expect(catchDomainError(() => parseLine(line))).toEqual({ code: "Invalid Request", message });
  });

  test("rejects JSON nested deeper than the stack", () => {
    const nested = "[".repeat(100_000) + "]".repeat(100_000);
    for (const line of [nested, `{"kind":${nested}}`]) {
      expect(catchDomainError(() => parseLine(line))?.message).toEndWith(`got ${"[".repeat(80)}…`);
    }
  });

  test("has a short message for a long line", () => {
    const error = catchDomainError(() => parseLine("x".repeat(1_000_000)));
    expect(error?.message).toStartWith('The line must be a JSON object, got "xxx');
    expect(error?.message.length).toBeLessThan(200);
  });
});

describe("parseObservation()", () => {
  test.each([
    ["a NUL in a text", { ...TWEET, text: "a\0" }, `text ${TEXT_RULE}`],
    ["a lone surrogate in a link", { ...TWEET, url: "\ud83d" }, `url ${TEXT_RULE}`],
    ["a lone surrogate in an identifier", { ...TWEET, id: "\ude00" }, `id ${TEXT_RULE}`],
  ])("rejects %s in a value", (_what, value, message) => {
    expect(catchDomainError(() => parseObservation(value, NOW))).toEqual({
      code: "Invalid Request",
      message,
    });
  });
});
