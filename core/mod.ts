/**
 * The domain of creator metrics as pure functions: observations, pages, growth, credits, the
 * monitoring list. They read no clock, network or disk.
 *
 * @example
 * import { applyObservation, paginate, parseObservationLine, EMPTY_ENTITY } from "creator-metrics";
 *
 * const now = Date.parse("2026-11-20T12:00:00Z");
 * const line = '{"kind":"user","observedAt":"2026-11-20","username":"NASA","followers_count":7}';
 * const { entity, outcome } = applyObservation(EMPTY_ENTITY, parseObservationLine(line, now));
 * console.log(outcome, entity.attributes["username"]?.value); // new NASA
 * console.log(paginate(0, 50, entity.points.size).page_count); // 1
 *
 * @module
 */
export { channelKey, isChannelId, parseChannel } from "./channels.ts";
export {
  addCreator,
  CREATOR_PLATFORMS,
  CREATOR_USERNAME_PATTERN,
  creatorKey,
  parseCreator,
  removeCreator,
  type Creator,
  type CreatorPlatform,
  type CreatorSet,
  type CreatorTransition,
} from "./creators.ts";
export {
  comparePositions,
  decodeCursor,
  encodeCursor,
  isShortSelected,
  parseShortsRequest,
  type ShortPosition,
  type ShortsRequest,
} from "./cursor.ts";
export { computeDaysFilterStart, computeDaysFilterValidity, filterDays } from "./days.ts";
export {
  ENTITY_KINDS,
  KIND_FIELDS,
  type EntityFields,
  type EntityKind,
  type FieldType,
} from "./entity-kinds.ts";
export { DomainError, ERROR_CODES, quote, type ErrorCode } from "./errors.ts";
export {
  computeBaselineRange,
  computeFollowerChanges,
  computeGain,
  computeSubscriberGains,
  GAIN_DAYS,
  type CountPoint,
  type FollowerChange,
  type FollowerPoint,
  type SubscriberGains,
  type TimeRange,
} from "./growth.ts";
export { thinHistory } from "./history.ts";
export {
  applyEntry,
  computeBalance,
  EMPTY_LEDGER,
  InsufficientCreditsError,
  type CreditSums,
  type Ledger,
  type LedgerEntry,
} from "./ledger.ts";
export {
  CLOCK_SKEW_MAX_MS,
  DAYS_FILTER,
  HISTORY_MAX_POINTS,
  IDENTIFIER_MAX_CHARACTERS,
  LINE_MAX_BYTES,
  LINK_MAX_CHARACTERS,
  MAX_INTEGER,
  PAGE_LIMIT,
  PAGE_NUMBER,
  RECORD_MAX_POINTS,
  SHORTS_LIMIT,
  TEXT_MAX_CHARACTERS,
  type IntegerRange,
} from "./limits.ts";
export {
  applyObservation,
  EMPTY_ENTITY,
  findNewestCounts,
  mergeAttributes,
  mergeCounts,
  mergeObservations,
  parseObservation,
  parseObservationLine,
  type Attribute,
  type Attributes,
  type Counts,
  type Entity,
  type FieldValue,
  type Observation,
  type ObservationOutcome,
} from "./observations.ts";
export { paginate, parsePageRequest, type PageRequest } from "./pagination.ts";
export { parseInteger, parseIntegerParameter, type GetQueryValues } from "./parameters.ts";
export {
  applyRetentionRule,
  formatRetentionRule,
  parseRetentionPolicy,
  RETENTION_DAYS,
  type RetentionPolicy,
  type RetentionRule,
} from "./retention.ts";
export { compareText, foldCase, isIdentifier } from "./text.ts";
export {
  FIRST_INSTANT,
  formatDay,
  formatInstant,
  formatInstantWithoutZone,
  LAST_INSTANT,
  parseInstant,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
} from "./time.ts";
export { takeToken, type TakeTokenResult, type TokenBucket } from "./token-bucket.ts";
export type { AccountDetails, DayUsage } from "./schema/account.ts";
export type { CreatorList, CreatorRequest, CreatorResult } from "./schema/creators.ts";
export type { ServiceError, VideoError } from "./schema/errors.ts";
export type {
  FollowersPage,
  Pagination,
  TweetDetails,
  TweetRecord,
  TweetsPage,
  UserDetails,
} from "./schema/microblog.ts";
export type {
  ChannelObservation,
  ObservationLine,
  ShortObservation,
  TweetObservation,
  UserObservation,
} from "./schema/observations.ts";
export type {
  ChannelDetails,
  ChannelList,
  ChannelSummary,
  ShortDetails,
  ShortsPage,
  ShortSummary,
} from "./schema/video.ts";
