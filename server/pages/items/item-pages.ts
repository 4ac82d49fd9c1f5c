/** Tables of shorts and tweets with figures, and comparisons of them: requests and fields. */
import type { Client, Listing } from "../../../core/client/mod.ts";
import type { ItemKind } from "../../../core/kinds.ts";
import type { DailyValue, ShortRow, TweetRow } from "../../../core/resources/generated/types.ts";
import type { PageSource } from "../hooks.ts";
import type { Pictured } from "../pictures.ts";
import { findShortLink, findTweetLink, type PlatformLink } from "../platform-links.ts";
import { createPageSource } from "../owners/owners.ts";

export interface ItemRow {
  readonly id: string;
  readonly title: string | null;
  readonly publishedAt: string | null;
  readonly observedAt: string | null;
  readonly picture?: Pictured;
  readonly link: PlatformLink | undefined;
  /** Counts and metrics, by their names. */
  readonly figures: object;
  readonly trend: readonly DailyValue[];
}

interface ComparedItem {
  readonly id: string;
  readonly owner: string;
  readonly title: string | null;
  readonly publishedAt: string;
}

type Values = Readonly<{ values: readonly (number | null)[] }>;

interface ItemComparison {
  /** In the order of the request; `undefined` for one that is not found. */
  readonly items: readonly (ComparedItem | undefined)[];
  readonly rows:
    | Readonly<{ by: "age"; rows: readonly (Values & { readonly hours: number })[] }>
    | Readonly<{ by: "date"; rows: readonly (Values & { readonly timestamp: string })[] }>;
  readonly hasMore: boolean;
  /** In milliseconds since 1970 UTC. */
  readonly readAt: number;
}

type ComparisonQuery = Readonly<
  Partial<Record<"count" | "by" | "from" | "to" | "interval", string>> &
    Partial<Record<"step" | "limit", number>>
>;

/** The requests and fields of one kind of items. The names are those of figures and sorts. */
interface ItemPages {
  readonly published: string;
  readonly views: string;
  readonly perHour: string;
  readonly perDay: string;
  open(
    client: Client,
    owner: string,
    query: Readonly<{ sort: string; order?: string; limit: number }>,
  ): PageSource<ItemRow>;
  compare(client: Client, ids: readonly string[], query: ComparisonQuery): Promise<ItemComparison>;
}

const FIGURES = ["likes", "engagement", "ageMultiple", "observedAt", "trend"] as const;

const SHORT_PAGES: ItemPages = {
  published: "publishedAt",
  views: "views",
  perHour: "viewsPerHour",
  perDay: "viewsPerDay",
  open({ video }, channel, query) {
    const fields = ["title", "thumbnail", "publishedAt", "views", "viewsPerHour", "viewsPerDay"];
    // The service checks the query.
    const listing = video.shortTable({
      channels: [channel],
      fields: [...fields, ...FIGURES],
      ...query,
    } as Parameters<typeof video.shortTable>[0]);
    return createPageSource(listing, ({ shorts, pagination: { hasMore } }) => ({
      items: shorts.map((short) => ({
        ...readRow(short),
        title: short.title ?? null,
        publishedAt: short.publishedAt ?? null,
        picture: { kind: "short", id: short.id, link: short.thumbnail ?? null },
        link: findShortLink(channel, short.id),
      })),
      hasMore,
    }));
  },
  compare: ({ video }, ids, query) =>
    readComparison(
      video.compareShorts(ids, query as Parameters<typeof video.compareShorts>[1]),
      ({ shorts }) =>
        shorts.map((item) => (item.found ? { ...item, owner: item.channel } : undefined)),
    ),
};

const TWEET_PAGES: ItemPages = {
  published: "created_at",
  views: "impressions",
  perHour: "impressionsPerHour",
  perDay: "impressionsPerDay",
  open({ microblog }, username, query) {
    const fields = ["text", "url", "created_at", "impressions", "retweets", "replies"];
    // The service checks the query.
    const listing = microblog.tweetTable({
      usernames: [username],
      fields: [...fields, "impressionsPerHour", "impressionsPerDay", ...FIGURES],
      ...query,
    } as Parameters<typeof microblog.tweetTable>[0]);
    return createPageSource(listing, ({ tweets, pagination: { hasMore } }) => ({
      items: tweets.map((tweet) => ({
        ...readRow(tweet),
        title: tweet.text ?? null,
        publishedAt: tweet.created_at ?? null,
        link: findTweetLink(tweet.url ?? null),
      })),
      hasMore,
    }));
  },
  compare: ({ microblog }, ids, query) =>
    readComparison(
      microblog.compareTweets(ids, query as Parameters<typeof microblog.compareTweets>[1]),
      ({ tweets }) =>
        tweets.map((item) =>
          item.found
            ? { id: item.id, owner: item.username, title: item.text, publishedAt: item.created_at }
            : undefined,
        ),
    ),
};

export const ITEM_PAGES: Readonly<Record<ItemKind, ItemPages>> = {
  short: SHORT_PAGES,
  tweet: TWEET_PAGES,
};

const readRow = (row: ShortRow | TweetRow) => ({
  id: row.id,
  observedAt: row.observedAt ?? null,
  figures: row,
  trend: row.trend ?? [],
});

type ComparisonPage = Readonly<{ pagination: Readonly<{ hasMore: boolean }> }> &
  ItemComparison["rows"];

/** Reads the first page of a comparison; the view says if there are more. */
async function readComparison<Page extends ComparisonPage>(
  listing: Listing<unknown, Page>,
  getItems: (page: Page) => ItemComparison["items"],
): Promise<ItemComparison> {
  const readAt = Date.now();
  for await (const { body } of listing.pages()) {
    const { hasMore } = body.pagination;
    return { items: getItems(body), rows: body, hasMore, readAt };
  }
  throw new Error("The comparison has no page");
}
