/** The schemas judge a text like the functions that parse it, with any validator. */
import { describe, expect, test } from "bun:test";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import type { TSchema } from "@sinclair/typebox";
import { Ajv } from "ajv";
import * as fc from "fast-check";
import { parseBatchRequest } from "../../core/batch.ts";
import { parseCreator } from "../../core/creators.ts";
import { LINK_MAX_CHARACTERS, TEXT_MAX_CHARACTERS } from "../../core/limits.ts";
import { parseObservation } from "../../core/observations.ts";
import { ChannelBatchRequest } from "../../core/resources/owners.ts";
import { CreatorRequest } from "../../core/resources/creators.ts";
import { Identifier } from "../../core/resources/fields.ts";
import { ChannelObservation, UserObservation } from "../../core/resources/observations.ts";
import { isIdentifier } from "../../core/text.ts";
import { formatInstant, LAST_INSTANT, parseInstant } from "../../core/time.ts";
import {
  creatorNames,
  identifiers,
  instants,
  texts,
  utf16Texts,
} from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

/**
 * Says what each validator says, which must be the same. Not for a test to call: workers compile
 * nothing after their start.
 */
function createCheck(schema: TSchema): (value: unknown) => Record<string, boolean> {
  const compiled = TypeCompiler.Compile(schema);
  const ajv = new Ajv({ strict: false }).compile(schema);
  const ajvOfUnits = new Ajv({ strict: false, unicodeRegExp: false }).compile(schema);
  return (value) => ({
    value: Value.Check(schema, value),
    compiled: compiled.Check(value),
    ajv: ajv(value),
    ajvOfUnits: ajvOfUnits(value),
  });
}

const allSay = (isValid: boolean) => ({
  value: isValid,
  compiled: isValid,
  ajv: isValid,
  ajvOfUnits: isValid,
});

const isParsed = (parse: () => unknown) => catchDomainError(parse) === undefined;

const FAMILY = "👨‍👩‍👧‍👦"; // 7 characters

/** Texts around a maximum of characters, and those that validators count differently. */
const listEdges = (max: number): [what: string, text: string][] => [
  ["an empty text", ""],
  [`${max} letters`, "a".repeat(max)],
  [`${max + 1} letters`, "a".repeat(max + 1)],
  [`${max} emoji`, "😀".repeat(max)],
  [`${max + 1} emoji`, "😀".repeat(max + 1)],
  ["families up to the limit", FAMILY.repeat(Math.floor(max / 7))],
  ["families past the limit", FAMILY.repeat(Math.ceil((max + 1) / 7))],
  ["a NUL", "a\0"],
  ["a line end", "a\n"],
  ["a dot", "."],
  ["two dots", ".."],
  ["three dots", "..."],
  ["a name that begins with dots", "..a"],
  ["a C1 control character", "a\u0085"],
  ["half of a surrogate pair", "a\ud83d"],
  ["the other half", "\ude00a"],
  ["a pair in the wrong order", "\ude00\ud83d"],
];

const anyTexts = fc.oneof(texts, utf16Texts, identifiers, fc.string({ unit: "grapheme" }));

describe("Identifier", () => {
  const check = createCheck(Identifier);

  test.each([...listEdges(256), ...listEdges(200)])(
    "judges %s like isIdentifier()",
    (_what, text) => {
      expect(check(text)).toEqual(allSay(isIdentifier(text)));
    },
  );

  test("judges any text like isIdentifier()", () => {
    fc.assert(
      fc.property(anyTexts, (text) => {
        expect(check(text)).toEqual(allSay(isIdentifier(text)));
      }),
      { numRuns: 500 },
    );
  });
});

describe("UserObservation", () => {
  const check = createCheck(UserObservation);

  test.each([
    ["username", 256],
    ["displayName", TEXT_MAX_CHARACTERS],
    ["profile_image_url", LINK_MAX_CHARACTERS],
  ] as const)("judges any %s like parseObservation()", (field, max) => {
    const judge = (text: string) => {
      const line = { kind: "user", observedAt: "2026-11-20", username: "nasa", [field]: text };
      expect([line, check(line)]).toEqual([
        line,
        allSay(isParsed(() => parseObservation(line, LAST_INSTANT))),
      ]);
    };
    for (const [, text] of listEdges(max)) judge(text);
    fc.assert(fc.property(anyTexts, judge));
  });
});

describe("ChannelBatchRequest", () => {
  const check = createCheck(ChannelBatchRequest);

  test("judges any name like parseBatchRequest()", () => {
    const judge = (name: string) => {
      const body = { channels: [name] };
      const isValid = isParsed(() => parseBatchRequest("channel", body));
      expect([name, check(body)]).toEqual([name, allSay(isValid)]);
    };
    for (const [, text] of listEdges(256)) judge(text);
    fc.assert(fc.property(anyTexts, judge));
  });
});

describe("CreatorRequest", () => {
  const check = createCheck(CreatorRequest);

  test("judges any username like parseCreator()", () => {
    const judge = (creator: string) => {
      const body = { creator, platform: "microblog" };
      expect([creator, check(body)]).toEqual([creator, allSay(isParsed(() => parseCreator(body)))]);
    };
    for (const [, text] of listEdges(64)) judge(text);
    fc.assert(fc.property(fc.oneof(anyTexts, creatorNames), judge));
  });
});

describe("ChannelObservation", () => {
  const check = createCheck(ChannelObservation);
  const instant = TypeCompiler.Compile(ChannelObservation.properties.observedAt);
  const judge = (joinedAt: string) => {
    const line = { kind: "channel", observedAt: "2026-11-20", id: "a", joinedAt };
    // A pattern cannot compute that a zone takes an instant out of the years 0 to 9999.
    if (/^(?:0000-01-01|9999-12-31)T.*[+-]\d{2}:\d{2}$/.test(joinedAt)) return;
    const isValid = parseInstant(joinedAt) !== undefined;
    expect([joinedAt, check(line)]).toEqual([joinedAt, allSay(isValid)]);
  };

  test("judges every day of 400 years and those around like parseInstant()", () => {
    for (let year = 1898; year <= 2306; year++) {
      for (let month = 1; month <= 12; month++) {
        for (const day of ["00", "01", "28", "29", "30", "31", "32"]) {
          const text = `${year}-${String(month).padStart(2, "0")}-${day}`;
          expect([text, instant.Check(text)]).toEqual([text, parseInstant(text) !== undefined]);
        }
      }
    }
  });

  test("judges any instant like parseInstant()", () => {
    const digits = (max: number) =>
      fc.oneof(
        { weight: 9, arbitrary: fc.nat(max).map((number) => String(number).padStart(2, "0")) },
        { weight: 1, arbitrary: fc.stringMatching(/^[0-9]{1,3}$/) },
      );
    const years = fc.stringMatching(/^[0-9]{4}$/);
    const dates = fc.tuple(years, digits(13), digits(32)).map((parts) => parts.join("-"));
    const fractions = fc.stringMatching(/^(?::[0-6][0-9](?:\.[0-9]{0,4})?)?$/);
    const zones = fc.stringMatching(/^(?:Z|[+-][0-2][0-9]:[0-6][0-9])?$/);
    const times = fc
      .tuple(digits(24), digits(60), fractions, zones)
      .map(([hour, minute, ...end]) => `T${hour}:${minute}${end.join("")}`);
    const shaped = fc.tuple(dates, fc.oneof(times, fc.constant(""))).map((parts) => parts.join(""));
    fc.assert(fc.property(fc.oneof(shaped, instants.map(formatInstant), texts), judge), {
      numRuns: 2000,
      examples: [
        ["2026-11-20\n"],
        ["２０２６-11-20"],
        ["0000-02-29"],
        ["1900-02-29"],
        ["2000-02-29"],
      ],
    });
  });
});
