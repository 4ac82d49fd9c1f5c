/** Implements the pages of channels with shorts, and of users with tweets: requests and fields. */
import type { Listing, MicroblogClient, VideoClient } from "../../../core/client/mod.ts";
import type { TweetRecord } from "../../../core/resources/generated/types.ts";
import type { ComparisonTable, HistoryPage } from "../../../core/histories.ts";
import type { PageSource } from "../hooks.ts";
import { PAGE_ITEMS, type ListedItem, type ListedOwner, type OwnerPages } from "./owner-pages.ts";

const CHANNEL_PAGES: OwnerPages = {
  kind: "channel",
  path: "channels",
  itemKind: "short",
  itemPath: "shorts",
  listedCounts: ["subscribers", "videoCount"],
  roundedCount: "subscribers",
  hasCountry: true,
  emptyHint: "Import observations, or let the service collect some.",
  items: {
    counts: ["views", "likes", "comments"],
    emptyText: "No short of this channel was observed yet.",
    publishedLabel: "Published",
    hasTitles: true,
  },
  openList({ video }, query) {
    // The service checks the sort.
    const listing = video.channels(query as Parameters<VideoClient["channels"]>[0]);
    return createPageSource(listing, ({ channels, pagination }) => ({
      items: channels.map((channel) => listOwner(channel.id, channel)),
      hasMore: pagination?.hasMore === true,
    }));
  },
  openItems: ({ video }, channel) =>
    createPageSource(video.shorts(channel, { limit: PAGE_ITEMS }), ({ shorts, pagination }) => ({
      items: shorts.map(({ id, title, publishedAt, ...counts }) => ({
        id,
        text: title,
        publishedAt,
        counts,
      })),
      hasMore: pagination.hasMore,
    })),
  openHistory: ({ video }, [channel, short], query) =>
    short === undefined
      ? openHistory(video.history(channel, query))
      : openHistory(video.shortHistory(channel, short, query)),
  async read({ video }, name) {
    const { body } = await video.channel(name);
    const { id, username, joinedAt, description, country, statistics } = body;
    return {
      ...listOwner(id, body),
      username: username ?? id,
      comparedName: username === null || username.includes(",") ? id : username,
      since: joinedAt,
      description,
      note: country,
      gains: {
        daily: statistics.dailySubscriberGain,
        weekly: statistics.weeklySubscriberGain,
        monthly: statistics.monthlySubscriberGain,
      },
    };
  },
  async readItem({ video }, channel, short) {
    const { body } = await video.short(channel, short);
    const { id, title, description: text, publishedAt, metrics: counts } = body;
    return { id, title: title ?? id, text, publishedAt, counts, ownerLabel: "The channel" };
  },
  compare({ video }, names, query) {
    // The service checks the count.
    const listing = video.compare(names, query as Parameters<VideoClient["compare"]>[1]);
    return readComparison(listing, ({ channels }) =>
      channels.map((named) => ({ name: named.name, label: named.found ? named.channel : null })),
    );
  },
};

const TWEET_DAYS = 14;

const USER_PAGES: OwnerPages = {
  kind: "user",
  path: "users",
  itemKind: "tweet",
  itemPath: "tweets",
  listedCounts: ["followers_count", "tweet_count", "following_count"],
  hasCountry: false,
  emptyHint: "Add creators to the monitoring list, or import observations.",
  items: {
    counts: ["impressions", "likes", "retweets", "replies"],
    days: TWEET_DAYS,
    emptyText: `No tweet of the last ${TWEET_DAYS} days was observed.`,
    publishedLabel: "Created",
    hasTitles: false,
  },
  openList({ microblog }, query) {
    // The service checks the sort.
    const listing = microblog.users(query as Parameters<MicroblogClient["users"]>[0]);
    return createPageSource(listing, ({ users, pagination }) => ({
      items: users.map((user) => listOwner(user.username, user)),
      hasMore: pagination.hasMore,
    }));
  },
  openItems({ microblog }, username) {
    const listing = microblog.tweets(username, { days: TWEET_DAYS, limit: PAGE_ITEMS });
    return createPageSource(listing, ({ tweets, pagination: { has_more, total } }) => ({
      items: Object.entries(tweets).map(readListedTweet),
      hasMore: has_more,
      total,
    }));
  },
  openHistory: ({ microblog }, [username, tweet], query) =>
    tweet === undefined
      ? openHistory(microblog.history(username, query))
      : openHistory(microblog.tweetHistory(username, tweet, query)),
  async read({ microblog }, name) {
    const { body } = await microblog.user(name);
    const { username, created_at, description, verified } = body;
    return {
      ...listOwner(username, body),
      username,
      comparedName: username,
      since: created_at,
      description,
      note: verified === true ? "verified" : null,
    };
  },
  async readItem({ microblog }, owner, name) {
    const { username, tweet } = (await microblog.tweet(owner, name)).body;
    const { id, created_at: publishedAt, metrics: counts } = tweet;
    // The page shows an empty text as unknown.
    const text = tweet.text ?? "";
    return { id, title: `Tweet ${id}`, text, publishedAt, counts, ownerLabel: username };
  },
  compare({ microblog }, names, query) {
    // The service checks the count.
    const listing = microblog.compare(names, query as Parameters<MicroblogClient["compare"]>[1]);
    return readComparison(listing, ({ users }) =>
      users.map((named) => ({ name: named.name, label: named.found ? named.username : null })),
    );
  },
};

export const OWNERS = [CHANNEL_PAGES, USER_PAGES] as const;

type Named = Readonly<Record<"username" | "displayName", string | null>>;

function listOwner(id: string, owner: Named): ListedOwner {
  const { username, displayName } = owner;
  return { id, name: displayName ?? username ?? id, username, counts: owner };
}

function readListedTweet([id, { text, created_at, metrics }]: [string, TweetRecord]): ListedItem {
  const { views = null, ...counts } = metrics.at(-1) ?? {};
  return {
    id,
    text,
    publishedAt: created_at,
    counts: { ...counts, impressions: views },
    likes: {
      values: metrics.map(({ likes }) => likes),
      // Only these timestamps have no time zone: they are in UTC.
      instants: metrics.map(({ timestamp }) => Date.parse(`${timestamp}Z`)),
    },
  };
}

function createPageSource<Item, Page>(
  listing: Listing<unknown, Page>,
  readPage: (page: Page) => Awaited<ReturnType<PageSource<Item>>>,
): PageSource<Item> {
  const pages = listing.pages();
  return async () => {
    const { done, value } = await pages.next();
    return done === true ? undefined : readPage(value.body);
  };
}

const openHistory = <Counts extends object>(listing: Listing<unknown, HistoryPage<Counts>>) =>
  createPageSource(listing, ({ history, pagination: { hasMore } }) => ({
    items: history,
    hasMore,
  }));

/** Reads the first page of a comparison: no range of these pages needs a second page. */
async function readComparison<Page extends ComparisonTable, Owners>(
  listing: Listing<unknown, Page>,
  getOwners: (page: Page) => Owners,
) {
  const readAt = Date.now();
  for await (const { body } of listing.pages()) {
    return { owners: getOwners(body), rows: body.rows, readAt };
  }
  throw new Error("The comparison has no page");
}
