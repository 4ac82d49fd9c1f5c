/**
 * The limits of query parameters, texts, imports, histories, sessions, pictures and free repeats,
 * and their type.
 */

/** An optional whole number: its bounds, both included, and its default. */
export interface IntegerRange {
  /** The least allowed value. */
  readonly min: number;
  /** The greatest allowed value. */
  readonly max: number;
  /** The value if none is given. */
  readonly default: number;
}

/** The largest count, amount or page number: the last integer that every JSON reader represents. */
export const INTEGER_MAX: number = Number.MAX_SAFE_INTEGER;

/** `limit` of `/shorts`. */
export const SHORTS_LIMIT_RANGE: IntegerRange = { min: 1, max: 100, default: 20 };

/** `days` of `/tweets` and `/followers`. */
export const DAYS_FILTER_RANGE: IntegerRange = { min: 1, max: 14, default: 3 };

/** `page` of `/tweets` and `/followers`. */
export const PAGE_NUMBER_RANGE: IntegerRange = { min: 0, max: INTEGER_MAX, default: 0 };

/** `limit` of `/tweets` and `/followers`. */
export const PAGE_LIMIT_RANGE: IntegerRange = { min: 1, max: 100, default: 50 };

/** `limit` of histories, in buckets. */
export const HISTORY_LIMIT_RANGE: IntegerRange = { min: 1, max: 1000, default: 1000 };

/** Characters of the name of a time zone. The longest one that exists has 32. */
export const ZONE_MAX_CHARACTERS = 64;

/** `limit` of lists of channels and users. */
export const LIST_LIMIT_RANGE: IntegerRange = { min: 1, max: 1000, default: 100 };

/** Rows of a page with chosen columns: each can have a trend, which is read from a history. */
export const TABLE_LIMIT_MAX = 100;

/** Days of usage that a response covers. */
export const USAGE_DAYS_RANGE: IntegerRange = { min: 1, max: 366, default: 30 };

/** Names of a batch. */
export const BATCH_MAX_NAMES = 100;

/** Characters of names in a query, with their commas: the HTTP server takes URLs of 16 KiB. */
export const NAMES_MAX_CHARACTERS = 5000;

/** Names of a comparison. */
export const COMPARISON_MAX_NAMES = 10;

/** Saved lists of an account. */
export const SAVED_LISTS_MAX = 100;

/** Channels and users of a saved list, together. A request reads all names of a list. */
export const SAVED_LIST_MAX_NAMES = 1000;

/** Characters (code points) of the name of a saved list. */
export const LIST_NAME_MAX_CHARACTERS = 64;

/** Entities that a filtered page examines, in about 40 ms: so it can list fewer than `limit`. */
export const FILTERED_PAGE_MAX_ENTITIES = 8000;

/** Characters (code points) of `search` and `country` of lists. */
export const SEARCH_MAX_CHARACTERS = 100;

/** Characters (code points) of an identifier, in a path and in an observation. */
export const IDENTIFIER_MAX_CHARACTERS = 256;

/** Characters (code points) of a link of an observation. */
export const LINK_MAX_CHARACTERS = 2048;

/** Characters (code points) of any other text of an observation. */
export const TEXT_MAX_CHARACTERS = 65_536;

/** Bytes of a line of observations. */
export const OBSERVATION_LINE_MAX_BYTES = 1_048_576;

/** Rejected lines that an import lists; it counts all of them. */
export const REJECTED_LINES_LISTED_MAX = 1000;

/** How far an observation may be ahead of the clock, because clocks differ. */
export const CLOCK_SKEW_MAX_MS = 300_000;

/** Points that the history of a short or a tweet lists before it is thinned. */
export const HISTORY_MAX_POINTS = 1000;

/** Points that each tweet of a page of tweets lists before its history is thinned. */
export const TWEET_RECORD_MAX_POINTS = 250;

/** Hours after which a session of an administrator ends at the latest. */
export const ADMIN_SESSION_HOURS = 12;

/** Sessions of administrators at a time: each process has all of them in memory. */
export const ADMIN_SESSIONS_MAX = 100;

/** Bytes of a picture. Bluesky takes avatars of up to 1,000,000. */
export const PICTURE_MAX_BYTES = 1_048_576;

/**
 * Pixels of a picture. A PNG of 31 kB with 16,000 x 16,000 pixels stopped a page in Chromium for
 * 6 s, and took 1.4 GB.
 */
export const PICTURE_MAX_PIXELS = 4_194_304;

/** Free repeats of a request with an idempotency key, within a day of its payment. */
export const FREE_REPEATS_MAX = 10;
