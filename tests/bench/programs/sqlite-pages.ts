/** Types and helpers for both variants of pages with bun:sqlite. */
import type { Database } from "bun:sqlite";

export const DAY_MS = 86_400_000;

/** A page to read. */
export interface PageQuery {
  readonly user: number;
  readonly username: string;
  readonly days: number;
  /** The time from which items are listed. */
  readonly start: number;
  readonly page: number;
  readonly limit: number;
}

/** Creates the bodies of the pages. */
export interface PageReader {
  tweets(listing: PageQuery): string;
  followers(listing: PageQuery): string;
}

/** A tweet of a page. */
export interface TweetRow {
  readonly key: number;
  readonly id: string;
  readonly text: string | null;
  readonly url: string | null;
  readonly observedAt: number;
  readonly createdAt: number;
}

/** The number of tweets and of follower counts of a user. */
export function prepareCounts(database: Database) {
  return {
    tweets: database.query<{ total: number }, [number, number]>(
      "SELECT count(*) AS total FROM tweets WHERE user = ? AND created_at >= ?",
    ),
    followers: database.query<{ total: number }, [number, number]>(
      "SELECT count(*) AS total FROM plain_user_observations " +
        "WHERE user = ? AND at >= ? AND followers_count IS NOT NULL",
    ),
  };
}

/** The `pagination` of a response. */
export function buildPagination({ page, limit }: PageQuery, total: number) {
  const pageCount = Math.ceil(total / limit);
  return { page, limit, total, page_count: pageCount, has_more: page + 1 < pageCount };
}
