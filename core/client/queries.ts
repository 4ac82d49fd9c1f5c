/** The queries of the client's methods. */
import type { HistoryInterval } from "../buckets.ts";
import type { ListOrder } from "../lists.ts";

/** The query of a history; instants are ISO 8601. */
export interface HistoryQuery {
  /** The first instant; by default 30 days before `to`, or before now. */
  readonly from?: string | undefined;
  /** The instant after the last one. */
  readonly to?: string | undefined;
  /** How observations are grouped; by default `day`. */
  readonly interval?: HistoryInterval | undefined;
  /** The `nextCursor` of a page, to begin with the page after it. */
  readonly cursor?: string | undefined;
  /** Buckets a page, 1 to 1,000. */
  readonly limit?: number | undefined;
}

/** The query of a list of channels or users. */
export interface ListQuery<Sort> {
  /** What the list is sorted by. */
  readonly sort?: Sort | undefined;
  /** By default `desc`: the greatest first. */
  readonly order?: ListOrder | undefined;
  /** What a username or display name contains, in any case. */
  readonly search?: string | undefined;
  /** The `nextCursor` of a page, to begin with the page after it. */
  readonly cursor?: string | undefined;
  /** Entities a page, 1 to 1,000. */
  readonly limit?: number | undefined;
}

/** The query of pages by number. */
export interface PageQuery {
  /** Days back from now, 1 to 14. */
  readonly days?: number | undefined;
  /** The page to begin with; 0 is the first. */
  readonly page?: number | undefined;
  /** Items a page, 1 to 100. */
  readonly limit?: number | undefined;
}
