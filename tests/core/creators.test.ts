/** Creators of the monitoring list: parsing, equality in any case, adding and removing. */
import { describe, expect, test } from "bun:test";
import { Ajv } from "ajv";
import * as fc from "fast-check";
import {
  addCreator,
  createCreatorList,
  createCreatorResult,
  parseCreator,
  getCreatorKey,
  readUsername,
  removeCreator,
  type Creator,
  type CreatorSet,
} from "../../core/creators.ts";
import * as creatorsSchemas from "../../core/resources/creators.ts";
import { creatorNames, texts } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

const makeCreator = (creator: string): Creator => ({ platform: "microblog", creator });

const NAME_RULE =
  "creator must be a username of 1 to 64 letters, digits, _, . or -, without @, " +
  "beginning with a letter, a digit or _, got ";

test.each([
  ["nasa", "nasa"],
  ["@nasa", "nasa"],
  ["@bsky.app", "bsky.app"],
  ["https://bsky.app/profile/bsky.app", "bsky.app"],
  ["bsky.app/profile/nature.com/post/3l6oveex3ii2l", "nature.com"],
  ["https://x.com/NASA", "NASA"],
  [
    "https://x.com/i/web/status/1346889436626259968",
    "https://x.com/i/web/status/1346889436626259968",
  ],
  ["https://www.twitter.com/@NASA/status/1346889436626259968?s=20", "NASA"],
  ["https://mobile.twitter.com/NASA#top", "NASA"],
  ["bsky.app", "bsky.app"],
  ["https://example.com/nasa", "https://example.com/nasa"],
  ["", ""],
])("readUsername() reads %s as %s", (text, username) => {
  expect(readUsername(text)).toBe(username);
});

const matchesSchema = new Ajv({ strict: false }).compile(creatorsSchemas.CreatorRequest);

describe("parseCreator()", () => {
  test.each(["a", "_", "7", "NASA", "a.b-c_d", "x".repeat(64), "constructor", "__proto__"])(
    "accepts the username %j as it is spelt",
    (creator) => {
      expect(parseCreator({ creator, platform: "microblog" })).toEqual(makeCreator(creator));
    },
  );

  test.each<[written: string, creator: unknown]>([
    ['""', ""],
    ['"@nasa"', "@nasa"],
    ['".nasa"', ".nasa"],
    ['"-nasa"', "-nasa"],
    ['"na sa"', "na sa"],
    [String.raw`"nasa\n"`, "nasa\n"],
    ['"nasa/.."', "nasa/.."],
    ['"\u212a"', "\u212a"], // the Kelvin sign, whose lower case is k
    ['"ñasa"', "ñasa"],
    [String.raw`"nasa\u0000"`, "nasa\0"],
    [`"${"x".repeat(65)}"`, "x".repeat(65)],
    ["undefined", undefined],
    ["null", null],
    ["7", 7],
    ['["nasa"]', ["nasa"]],
  ])("rejects the username %s", (written, creator) => {
    expect(catchDomainError(() => parseCreator({ creator, platform: "microblog" }))).toEqual({
      code: "Invalid Request",
      message: NAME_RULE + written,
    });
  });

  test.each<[written: string, platform: unknown]>([
    ['"video"', "video"],
    ['"Microblog"', "Microblog"],
    ['""', ""],
    ["undefined", undefined],
    ['["microblog"]', ["microblog"]],
  ])("rejects the platform %s", (written, platform) => {
    expect(catchDomainError(() => parseCreator({ creator: "nasa", platform }))).toEqual({
      code: "Invalid Request",
      message: `platform must be "microblog", got ${written}`,
    });
  });

  test.each<[written: string, body: unknown]>([
    ["null", null],
    ["undefined", undefined],
    ["[]", []],
    ['"nasa"', "nasa"],
    ["7", 7],
  ])("rejects the body %s", (written, body) => {
    expect(catchDomainError(() => parseCreator(body))).toEqual({
      code: "Invalid Request",
      message: `The body must be an object with creator and platform, got ${written}`,
    });
  });

  test("ignores unknown fields and returns none of them", () => {
    const body: unknown = JSON.parse(
      '{"creator":"nasa","platform":"microblog","admin":true,"__proto__":{"creator":"esa"}}',
    );
    expect(parseCreator(body)).toEqual(makeCreator("nasa"));
  });

  test("accepts exactly what the schema of the request accepts", () => {
    const bodies = fc.record(
      {
        creator: fc.oneof(
          creatorNames,
          creatorNames.map((name) => `${name}\n`),
          texts,
          fc.nat(),
        ),
        platform: fc.oneof({ weight: 4, arbitrary: fc.constant("microblog") }, texts),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: bodies }, fc.jsonValue()), (body) => {
        expect(catchDomainError(() => parseCreator(body)) === undefined).toBe(matchesSchema(body));
      }),
      { numRuns: 300 },
    );
  });
});

describe("getCreatorKey()", () => {
  test("is equal for all spellings of a username, and for no other username", () => {
    fc.assert(
      fc.property(creatorNames, creatorNames, (a, b) => {
        const isSame = a.toLowerCase() === b.toLowerCase();
        expect(getCreatorKey(makeCreator(a)) === getCreatorKey(makeCreator(b))).toBe(isSame);
      }),
    );
  });
});

describe("addCreator()", () => {
  test("keeps the spelling of the added creator", () => {
    const { set, creator } = addCreator(new Map(), makeCreator("NaSa"));
    expect([...set.values()]).toEqual([makeCreator("NaSa")]);
    expect(creator).toEqual(makeCreator("NaSa"));
  });

  test("rejects a new creator if the list is full", () => {
    const { set } = addCreator(new Map(), makeCreator("nasa"), 2);
    const full = addCreator(set, makeCreator("esa"), 2).set;
    expect(catchDomainError(() => addCreator(full, makeCreator("jaxa"), 2))).toEqual({
      code: "Creator List Full",
      message: "The monitoring list holds at most 2 creators; remove one to add another",
    });
    expect(() => addCreator(full, makeCreator("NASA"), 2)).toThrow("is already in");
    const { set: left } = removeCreator(full, makeCreator("nasa"));
    expect(addCreator(left, makeCreator("jaxa"), 2).set.size).toBe(2);
  });

  test("rejects a listed creator in another case, and names the listed spelling", () => {
    const { set } = addCreator(new Map(), makeCreator("NaSa"));
    expect(catchDomainError(() => addCreator(set, makeCreator("nasa")))).toEqual({
      code: "Creator Already Exists",
      message: "Creator NaSa on microblog is already in the monitoring list",
    });
  });

  test("does not change its argument", () => {
    const empty: CreatorSet = new Map();
    addCreator(empty, makeCreator("nasa"));
    expect(empty.size).toBe(0);
  });
});

describe("removeCreator()", () => {
  test("finds the creator in any case and returns the listed spelling", () => {
    const { set } = addCreator(new Map(), makeCreator("NaSa"));
    const removed = removeCreator(set, makeCreator("nAsA"));
    expect(removed.creator).toEqual(makeCreator("NaSa"));
    expect(removed.set.size).toBe(0);
    expect(set.size).toBe(1);
  });

  test("rejects a creator that is not in the list", () => {
    expect(catchDomainError(() => removeCreator(new Map(), makeCreator("nasa")))).toEqual({
      code: "Creator Not Found",
      message: "Creator nasa on microblog is not in the monitoring list",
    });
  });

  test("allows adding the creator again in another spelling", () => {
    const { set } = addCreator(new Map(), makeCreator("NaSa"));
    const added = addCreator(removeCreator(set, makeCreator("nasa")).set, makeCreator("nasa"));
    expect([...added.set.values()]).toEqual([makeCreator("nasa")]);
  });
});

test("addCreator() and removeCreator() behave as a set of usernames that ignores case", () => {
  const operations = fc.array(fc.tuple(fc.boolean(), creatorNames), { maxLength: 60 });
  fc.assert(
    fc.property(operations, (list) => {
      const model: string[] = [];
      let set: CreatorSet = new Map();
      for (const [isAdd, name] of list) {
        const before = set;
        const found = model.findIndex((listed) => listed.toLowerCase() === name.toLowerCase());
        const operate = isAdd ? addCreator : removeCreator;
        const error = catchDomainError(() => (set = operate(before, makeCreator(name)).set));
        if (isAdd) expect(error?.code === "Creator Already Exists").toBe(found >= 0);
        else expect(error?.code === "Creator Not Found").toBe(found < 0);
        if (isAdd && found < 0) model.push(name);
        if (!isAdd && found >= 0) model.splice(found, 1);
        expect([...set.values()].map(({ creator }) => creator)).toEqual(model);
      }
    }),
  );
});

describe("createCreatorResult()", () => {
  test.each([
    ["added", "Creator NASA added to the monitoring list"],
    ["removed", "Creator NASA removed from the monitoring list"],
  ] as const)("says that a creator was %s", (change, message) => {
    const creator = { creator: "NASA", platform: "microblog" } as const;
    expect(createCreatorResult(creator, 3, change)).toEqual({
      ...creator,
      message,
      total_creators: 3,
    });
  });
});

describe("createCreatorList()", () => {
  test("sorts creators by username regardless of case, and counts them", () => {
    const creators = ["b", "C", "a"].map((creator) => ({
      creator,
      platform: "microblog" as const,
      added_at: "2026-11-20T08:15:30.123Z",
      last_success: null,
      last_failure: null,
      failure: null,
      next_due: null,
    }));
    const list = createCreatorList(creators);
    expect(list.creators.map(({ creator }) => creator)).toEqual(["a", "b", "C"]);
    expect(list.total_creators).toBe(3);
  });
});
