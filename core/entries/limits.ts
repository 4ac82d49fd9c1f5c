/**
 * The limits of the domain.
 *
 * @module @creator-metrics/core/limits
 */
export { BATCH_MAX_NAMES, CLOCK_SKEW_MAX_MS, COMPARISON_MAX_NAMES } from "../limits.ts";
export { DAYS_FILTER_RANGE, HISTORY_LIMIT_RANGE, HISTORY_MAX_POINTS } from "../limits.ts";
export { IDENTIFIER_MAX_CHARACTERS, INTEGER_MAX, LINK_MAX_CHARACTERS } from "../limits.ts";
export { LIST_LIMIT_RANGE, OBSERVATION_LINE_MAX_BYTES, PAGE_LIMIT_RANGE } from "../limits.ts";
export { PAGE_NUMBER_RANGE, SEARCH_MAX_CHARACTERS, SHORTS_LIMIT_RANGE } from "../limits.ts";
export { TEXT_MAX_CHARACTERS, TWEET_RECORD_MAX_POINTS, USAGE_DAYS_RANGE } from "../limits.ts";
export type { IntegerRange } from "../limits.ts";
