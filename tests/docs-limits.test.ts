/** Compares the limits in the documents with those of the code. */
import { expect, test } from "bun:test";
import * as coreLimits from "../core/limits.ts";
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from "../server/http/reads/charges.ts";
import { BODY_MAX_BYTES } from "../server/http/request-body.ts";
import { createAbortLimiter } from "../server/metering/rate-limit.ts";
import { findSection, parseNumbers, parseTable, readDoc } from "./support/docs.ts";

const apiDoc = await readDoc("server/API.md");

/** Every limit, by its name in the code. */
const limits: Readonly<Record<string, number | coreLimits.IntegerRange>> = {
  ...coreLimits,
  ABORTED_READS_PER_MINUTE: createAbortLimiter(() => 0).maxPerMinute,
  IDEMPOTENCY_KEY_MAX_CHARACTERS,
  BODY_MAX_BYTES,
};

test("server/API.md lists every limit", () => {
  const table = parseTable(findSection(apiDoc, "## Limits"));
  const rows = new Map(table.map(([what = "", limit = ""]) => [what, limit]));
  const limitTexts: Record<string, string | undefined> = {
    SHORTS_LIMIT_RANGE: rows.get("`limit` of `/shorts`"),
    HISTORY_LIMIT_RANGE: rows.get("`limit` of `/history` and `/compare`"),
    BATCH_MAX_NAMES: rows.get("names of a batch"),
    COMPARISON_MAX_NAMES: rows.get("names of a comparison"),
    NAMES_MAX_CHARACTERS: rows.get("names in a query"),
    LIST_LIMIT_RANGE: rows.get("`limit` of lists"),
    TABLE_LIMIT_MAX: rows.get("rows of a list with `fields`, and of shorts and tweets"),
    ZONE_MAX_CHARACTERS: rows.get("the name of a time zone"),
    FILTERED_PAGE_MAX_ENTITIES: rows.get("entities that a page of a filtered list looks at"),
    SAVED_LISTS_MAX: rows.get("saved lists of an account"),
    SAVED_LIST_MAX_NAMES: rows.get("names of a saved list"),
    LIST_NAME_MAX_CHARACTERS: rows.get("the name of a saved list"),
    SEARCH_MAX_CHARACTERS: rows.get("`search` and `country` of lists"),
    DAYS_FILTER_RANGE: rows.get("`days` of `/tweets` and `/followers`"),
    PAGE_NUMBER_RANGE: rows.get("`page` of `/tweets` and `/followers`"),
    PAGE_LIMIT_RANGE: rows.get("`limit` of `/tweets` and `/followers`"),
    INTEGER_MAX: rows.get("a count, an amount of credits"),
    USAGE_DAYS_RANGE: rows.get("days of usage in an answer"),
    IDEMPOTENCY_KEY_MAX_CHARACTERS: rows.get("an idempotency key"),
    ABORTED_READS_PER_MINUTE: rows.get("reads of a key without a response"),
    FREE_REPEATS_MAX: rows.get("free repeats with an idempotency key"),
    IDENTIFIER_MAX_CHARACTERS: rows.get("an identifier"),
    LINK_MAX_CHARACTERS: rows.get("a link of an observation"),
    TEXT_MAX_CHARACTERS: rows.get("any other text of an observation"),
    OBSERVATION_LINE_MAX_BYTES: rows.get("a line of observations"),
    REJECTED_LINES_LISTED_MAX: rows.get("rejected lines that an import lists"),
    BODY_MAX_BYTES: rows.get("a request body"),
    CLOCK_SKEW_MAX_MS: rows.get("`observedAt` ahead of the clock"),
    HISTORY_MAX_POINTS: rows.get("a history"),
    TWEET_RECORD_MAX_POINTS: rows.get("the history of each tweet in a page"),
    PICTURE_MAX_BYTES: rows.get("a picture"),
    PICTURE_MAX_PIXELS: rows.get("the area of a picture"),
    ADMIN_SESSION_HOURS: rows.get("a session of an administrator"),
    ADMIN_SESSIONS_MAX: rows.get("sessions of administrators at a time"),
  };
  expect(rows.size).toBe(Object.keys(limits).length);
  const documented = Object.entries(limitTexts).map(([name, text]) => [name, parseNumbers(text)]);
  const expected = Object.entries(limits).map(([name, limit]) => {
    if (typeof limit !== "number") return [name, [limit.min, limit.max, limit.default]];
    return [name, [name.endsWith("_MS") ? limit / 60_000 : limit]];
  });
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(expected));
});
