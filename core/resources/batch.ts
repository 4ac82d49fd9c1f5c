/** Requests for several entities: batches of details, and comparisons of one count. */
import type { HistoryInterval } from "../buckets.ts";
import type { ServiceError, VideoError } from "./errors.ts";
import type { ChannelCounts, UserCounts } from "./history.ts";
import type { UserDetails } from "./microblog.ts";
import type { ChannelDetails, CursorPagination } from "./video.ts";

/** The body of `POST /api/video/details`. */
export interface ChannelBatchRequest {
  /** 1 to 100 identifiers, or usernames in any case; a name can be repeated. */
  channels: string[];
}

/** The body of `POST /api/microblog/details`. */
export interface UserBatchRequest {
  /** 1 to 100 usernames without the @ symbol, in any case; a name can be repeated. */
  usernames: string[];
}

/** What was found of an entity that a request named, or the body of the 404 of a single read. */
export type NamedResult<Found, NotFound> =
  | ({ name: string; found: true } & Found)
  | { name: string; found: false; error: NotFound };

/** The response of `POST /api/video/details`, in the order of the request. */
export interface ChannelBatch {
  /** One for each name. */
  results: NamedResult<{ details: ChannelDetails }, VideoError>[];
}

/** The response of `POST /api/microblog/details`, in the order of the request. */
export interface UserBatch {
  /** One for each name. */
  results: NamedResult<{ details: UserDetails }, ServiceError>[];
}

/** The rows of a comparison, oldest first. A bucket without any observation is not listed. */
export interface ComparisonTable {
  /** How the observations are grouped. */
  interval: HistoryInterval;
  /** One for each bucket. */
  rows: {
    /** The start of the bucket; with the interval `raw`, the instant itself. */
    timestamp: string;
    /**
     * In the order of the entities, the newest known value in the bucket; `null` if no observation
     * of the entity there has one.
     */
    values: (number | null)[];
  }[];
  /** How far the listing goes. */
  pagination: CursorPagination;
}

/** The response of `GET /api/video/compare`. */
export interface ChannelComparison extends ComparisonTable {
  /** The count that is compared. */
  count: keyof ChannelCounts;
  /** In the order of the request. */
  channels: NamedResult<{ channel: string }, VideoError>[];
}

/** The response of `GET /api/microblog/compare`. */
export interface UserComparison extends ComparisonTable {
  /** The count that is compared. */
  count: keyof UserCounts;
  /** In the order of the request. */
  users: NamedResult<{ username: string }, ServiceError>[];
}
