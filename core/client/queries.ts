/** The queries of the client's methods. */
import type { HistoryInterval } from "../buckets.ts";
import type { ListOrder } from "../lists.ts";

/** The query of a history; instants are ISO 8601. */
export interface HistoryQuery {
  /** The first instant; by default 30 days before `to`, or before now. */
  readonly from?: string;
  /** The instant after the last one. */
  readonly to?: string;
  /** How observations are grouped; by default `day`. */
  readonly interval?: HistoryInterval;
  /** Buckets a page, 1 to 1,000. */
  readonly limit?: number;
}

/** The query of a list of channels or users. */
export interface ListQuery<Sort> {
  /** What the list is sorted by. */
  readonly sort?: Sort;
  /** By default `desc`: the greatest first. */
  readonly order?: ListOrder;
  /** What a username or display name contains, in any case. */
  readonly search?: string;
  /** Entities a page, 1 to 1,000. */
  readonly limit?: number;
}

/** The query of pages by number. */
export interface PageQuery {
  /** Days back from now, 1 to 14. */
  readonly days?: number;
  /** Items a page, 1 to 100. */
  readonly limit?: number;
}
