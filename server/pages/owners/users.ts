/** The requests of the pages of users and tweets, and the fields that they show. */
import type { MicroblogClient } from "../../../core/client/mod.ts";
import type { TweetRecord } from "../../../core/resources/generated/types.ts";
import { createPageSource } from "./page-source.ts";
import {
  PAGE_ITEMS,
  readComparison,
  readHistoryPage,
  type ListedItem,
  type OwnerPages,
} from "./owner-pages.ts";

/** How far back the tweets go. */
const TWEET_DAYS = 14;

export const USER_PAGES: OwnerPages = {
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
    hasLikes: true,
  },
  openList({ microblog }, query) {
    // The service checks the sort.
    const listing = microblog.users(query as Parameters<MicroblogClient["users"]>[0]);
    return createPageSource(listing, ({ users, pagination }) => ({
      items: users.map((user) => ({
        id: user.username,
        name: user.displayName ?? user.username,
        username: user.username,
        counts: user,
      })),
      hasMore: pagination.hasMore,
    }));
  },
  openItems({ microblog }, id) {
    const listing = microblog.tweets(id, { days: TWEET_DAYS, limit: PAGE_ITEMS });
    return createPageSource(listing, ({ tweets, pagination: { has_more, total } }) => ({
      items: Object.entries(tweets).map(readListedTweet),
      hasMore: has_more,
      total,
    }));
  },
  openHistory: ({ microblog }, id, query) =>
    createPageSource(microblog.history(id, query), readHistoryPage),
  openItemHistory: ({ microblog }, [username, id], query) =>
    createPageSource(microblog.tweetHistory(username, id, query), readHistoryPage),
  async read({ microblog }, name) {
    const { body } = await microblog.user(name);
    const { username, displayName, created_at, description, verified } = body;
    return {
      id: username,
      name: displayName ?? username,
      username,
      comparedName: username,
      since: created_at,
      description,
      note: verified === true ? "verified" : null,
      counts: body,
    };
  },
  async readItem({ microblog }, owner, id) {
    const { username, tweet } = (await microblog.tweet(owner, id)).body;
    return {
      id: tweet.id,
      title: `Tweet ${tweet.id}`,
      // A tweet without a known text shows that.
      text: tweet.text ?? "",
      publishedAt: tweet.created_at,
      counts: tweet.metrics,
      ownerLabel: username,
    };
  },
  compare({ microblog }, names, query) {
    // The service checks the count.
    const listing = microblog.compare(names, query as Parameters<MicroblogClient["compare"]>[1]);
    return readComparison(listing, ({ users }) =>
      users.map((named) => ({ name: named.name, label: named.found ? named.username : null })),
    );
  },
};

function readListedTweet([id, { text, created_at, metrics }]: [string, TweetRecord]): ListedItem {
  const { views = null, ...counts } = metrics.at(-1) ?? {};
  return {
    id,
    text,
    publishedAt: created_at,
    counts: { ...counts, impressions: views },
    likes: {
      values: metrics.map(({ likes }) => likes),
      // Here alone, an instant has no zone.
      instants: metrics.map(({ timestamp }) => Date.parse(`${timestamp}Z`)),
    },
  };
}
