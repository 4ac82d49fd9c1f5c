/** What both ways of reading pages with bun:sqlite have in common. */
import type { Database } from "bun:sqlite";

export const DAY_MS = 86_400_000;

/** A page to read. */
export interface PageQuery {
  readonly user: number;
  readonly username: string;
  readonly days: number;
  /** The first instant that is listed. */
  readonly start: number;
  readonly page: number;
  readonly limit: number;
}

/** Makes the bodies of the pages. */
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

/** How many tweets, and how many follower counts, a user's listing has. */
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

/** The `pagination` of an answer. */
export function buildPagination({ page, limit }: PageQuery, total: number) {
  const pageCount = Math.ceil(total / limit);
  return { page, limit, total, page_count: pageCount, has_more: page + 1 < pageCount };
}
