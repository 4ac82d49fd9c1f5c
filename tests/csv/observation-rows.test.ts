import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { encodeCsvRow, parseCsvRow } from "../../server/csv/rows.ts";
import { ENTITY_KINDS } from "../../core/kinds.ts";
import {
  createObservationRowParser,
  findRowKind,
  listObservationColumns,
} from "../../server/csv/observation-rows.ts";
import { parseObservation } from "../../core/observations.ts";
import { nearlyValidArbitrary, NOW, observationArbitrary } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

/** What the check of an observation returns or says. */
function check(value: unknown): unknown {
  let result: unknown;
  const error = catchDomainError(() => (result = parseObservation(value, NOW)));
  return error === undefined ? result : "invalid";
}

describe("listObservationColumns()", () => {
  test.each([
    [
      "channel",
      "kind,observedAt,id,username,displayName,description,joinedAt,country,thumbnail,bannerImage,subscribers,videoCount,viewCount",
    ],
    [
      "short",
      "kind,observedAt,id,channel,title,description,publishedAt,thumbnail,views,likes,comments,shares",
    ],
    [
      "user",
      "kind,observedAt,username,displayName,profile_image_url,description,created_at,verified,followers_count,following_count,tweet_count",
    ],
    [
      "tweet",
      "kind,observedAt,id,username,created_at,text,url,likes,retweets,replies,quotes,impressions",
    ],
  ] as const)("lists the columns of the kind %s", (kind, columns) => {
    expect(listObservationColumns(kind).join()).toBe(columns);
  });
});

describe("createObservationRowParser()", () => {
  test.each([...ENTITY_KINDS])("reads what a table of the kind %s has", (kind) => {
    const columns = listObservationColumns(kind);
    const parse = createObservationRowParser(kind, columns);
    fc.assert(
      fc.property(observationArbitrary(kind), (observation) => {
        const row = encodeCsvRow(columns.map((name) => observation[name])).slice(0, -2);
        const record = parse(parseCsvRow(row));
        expect(check(record)).toEqual(check(observation));
        const known = Object.entries(observation).filter(([, value]) => value !== null);
        // JSON has no -0.
        expect(record).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(known))));
      }),
    );
  });

  test.each([...ENTITY_KINDS])("reads any valid observation of the kind %s", (kind) => {
    const columns = listObservationColumns(kind);
    const parse = createObservationRowParser(kind, columns);
    fc.assert(
      fc.property(nearlyValidArbitrary(kind), (observation) => {
        const expected = check(observation);
        fc.pre(expected !== "invalid");
        const row = encodeCsvRow(columns.map((name) => observation[name])).slice(0, -2);
        expect(check(parse(parseCsvRow(row)))).toEqual(expected);
      }),
    );
  });

  const parseUser = createObservationRowParser("user", [
    "verified",
    "username",
    "observedAt",
    "displayName",
    "followers_count",
  ]);

  test("takes the columns in any order, and the kind without a column", () => {
    expect(parseUser(["true", "NASA", "2026-11-20", "=1+1", "7"])).toEqual({
      kind: "user",
      verified: true,
      username: "NASA",
      observedAt: "2026-11-20",
      displayName: "=1+1",
      followers_count: 7,
    });
  });

  test("tells an empty text from no value, and takes quotes around nothing for no number", () => {
    expect(parseUser([null, "a", "2026-11-20", "", ""])).toEqual({
      kind: "user",
      username: "a",
      observedAt: "2026-11-20",
      displayName: "",
    });
    expect(parseUser(["", "a", "", null, null])).toEqual({ kind: "user", username: "a" });
  });

  test.each([
    ["TRUE", true],
    ["False", false],
    ["yes", "yes"],
    ["1", "1"],
    ["truely", "truely"],
  ])("takes %j of a spreadsheet for %j", (cell, verified) => {
    expect(parseUser([cell, "a", null, null, null])["verified"]).toBe(verified);
  });

  test.each([
    ["0", 0],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
    ["9007199254740992", "9007199254740992"],
    ["1.2E+11", "1.2E+11"],
    ["1,200", "1,200"],
    ["12.0", "12.0"],
    [" 12", " 12"],
    ["-1", "-1"],
    ["007", "007"],
  ])("invents no count of %j", (cell, count) => {
    expect(parseUser([null, "a", null, null, cell])["followers_count"]).toBe(count);
  });

  test.each([
    [[null, "a"], "A row must have as many cells as the header, 5, got 2"],
    [[null], "A row must have as many cells as the header, 5, got 1"],
    [Array(6).fill("a"), "A row must have as many cells as the header, 5, got 6"],
  ])("rejects a row %j", (cells, message) => {
    expect(catchDomainError(() => parseUser(cells))?.message).toBe(message);
  });

  test("rejects a row of another kind", () => {
    const parse = createObservationRowParser("user", ["kind", "username", "observedAt"]);
    expect(catchDomainError(() => parse(["tweet", "a", "2026-11-20"]))?.message).toBe(
      'kind must be user as in the whole file, got "tweet"',
    );
    expect(parse([null, "a", "2026-11-20"])["kind"]).toBe("user");
  });

  test.each([
    [["username", "observedAt", "Followers"], 'Unknown column "Followers"'],
    [["username", "observedAt", "__proto__"], 'Unknown column "__proto__"'],
    [["username;observedAt"], 'Unknown column "username;observedAt"'],
    [["username", "observedAt", null], 'Unknown column ""'],
    [["username", "observedAt", "channel"], 'Unknown column "channel"'],
    [["username"], "Missing column observedAt"],
    [["observedAt", "displayName"], "Missing column username"],
  ])("rejects the columns %j", (header, message) => {
    const columns =
      ": the columns of the kind user, separated by commas, are " +
      listObservationColumns("user").join(", ");
    expect(catchDomainError(() => createObservationRowParser("user", header))?.message).toBe(
      message + columns,
    );
  });

  test("rejects a short without its channel, and a repeated column", () => {
    const reject = (header: string[]) =>
      catchDomainError(() => createObservationRowParser("short", header))?.message;
    expect(reject(["id", "observedAt"])).toStartWith("Missing column channel: ");
    expect(reject(["id", "observedAt", "channel", "id"])).toBe(
      'A column must be there once, got "id" twice',
    );
  });
});

describe("findRowKind()", () => {
  test("returns the kind in the row", () => {
    expect(findRowKind(["id", "kind"], ["7", "tweet"])).toBe("tweet");
  });

  test.each([
    [["id"], ["7"], "Without a column kind, the kind must be given: channel, short, user, tweet"],
    [["kind"], ["video"], 'kind must be one of channel, short, user, tweet, got "video"'],
    [["id", "kind"], ["7"], "kind must be one of channel, short, user, tweet, got undefined"],
  ])("rejects %j with the row %j", (header, cells, message) => {
    expect(catchDomainError(() => findRowKind(header, cells))?.message).toBe(message);
  });
});
