/** Polls tweets of X: finds those of a user, and observes the counts of known ones. */
import { Type } from "@sinclair/typebox";
import { readInstant, UncheckedFields, type ParsedItem } from "../client/responses.ts";
import { SourceError, type CollectorContext, type PollResult } from "../collector.ts";
import { createGoneResult, createPollResult } from "../poll-results.ts";
import { pollNewestFirst, type ListPage } from "../poll-tasks.ts";
import type { CollectionTarget } from "../targets.ts";
import { fetchList } from "./responses.ts";
import { resolveIdentity } from "./users.ts";

const Tweet = Type.Object({
  id: Type.String({ minLength: 1 }),
  public_metrics: UncheckedFields,
});

const TWEET_FIELDS = "created_at,public_metrics";
const PAGE_SIZE = 100;

/** X lists the newest 3,200 tweets of a user. */
const PAGES_MAX = 32;

/** Finds the new tweets of a user, without replies and retweets, and observes them. */
export async function* pollTimeline(
  target: CollectionTarget,
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const identity = await resolveIdentity(target, context);
  yield* pollNewestFirst(target.id, PAGES_MAX, (cursor) =>
    fetchTimelinePage(target.id, identity, cursor, context),
  );
  yield { targetId: target.id, sourceState: identity };
}

async function fetchTimelinePage(
  targetId: string,
  { id, username }: { readonly id: string; readonly username: string },
  cursor: string | undefined,
  context: CollectorContext,
): Promise<ListPage> {
  const page = await fetchList(context, Tweet, {
    bucket: "timeline",
    path: `/2/users/${id}/tweets`,
    query: {
      max_results: String(PAGE_SIZE),
      exclude: "replies,retweets",
      "tweet.fields": TWEET_FIELDS,
      pagination_token: cursor,
    },
  });
  const { items: tweets, warning, observedAt, nextToken } = page;
  if (page.hasOnlyErrors) {
    const reason = page.explainMissing("user", id, targetId);
    throw reason === undefined
      ? new SourceError("rejected", `X returned no tweets of ${targetId}`)
      : new SourceError("not-found", reason);
  }
  const knownItems = await context.findKnownItems(tweets.map((tweet) => tweet.id));
  // Known tweets are observed too: their counts came with the page.
  const entries = tweets.map((tweet) => {
    const publishedAt = readInstant(tweet["created_at"]);
    if (publishedAt === undefined) {
      return { result: { targetId, failure: `X returned no date of the tweet ${tweet.id}` } };
    }
    return {
      result: createTweetResult(targetId, tweet, username, observedAt),
      item: { id: tweet.id, publishedAt, sourceState: { username } },
    };
  });
  return {
    entries,
    warning,
    isKnown: tweets.length > 0 && tweets.every((tweet) => knownItems.has(tweet.id)),
    nextCursor: nextToken,
  };
}

/** Explains why X cannot have a tweet with this identifier; `undefined` if it can. */
export const explainInvalidTweetId = (id: string): string | undefined =>
  /^\d{1,19}$/.test(id) ? undefined : `X has no tweet ${id}: identifiers there are numbers`;

/** Observes the counts of known tweets. */
export async function pollTweetCounts(
  batch: readonly CollectionTarget[],
  context: CollectorContext,
): Promise<PollResult[]> {
  const { items, warning, observedAt, explainMissing } = await fetchList(context, Tweet, {
    bucket: "tweets",
    path: "/2/tweets",
    query: { ids: batch.map(({ id }) => id).join(","), "tweet.fields": TWEET_FIELDS },
  });
  const tweets = new Map(items.map((tweet) => [tweet.id, tweet]));
  return batch.map(({ id, sourceState, owner }) => {
    const tweet = tweets.get(id);
    if (tweet === undefined) {
      const reason = explainMissing("tweet", id);
      return reason === undefined
        ? { targetId: id, failure: warning ?? `X returned nothing for the tweet ${id}` }
        : createGoneResult(id, reason);
    }
    const username = sourceState["username"] ?? owner;
    return username === null
      ? { targetId: id, failure: `The author of the tweet ${id} is unknown` }
      : createTweetResult(id, tweet, username, observedAt);
  });
}

function createTweetResult(
  targetId: string,
  { id, text, created_at, public_metrics: metrics = {} }: ParsedItem<typeof Tweet>,
  username: string,
  observedAt: number,
): PollResult {
  const fields = {
    username,
    id,
    text,
    created_at,
    url: `https://x.com/${username}/status/${id}`,
    likes: metrics["like_count"],
    retweets: metrics["retweet_count"] ?? metrics["repost_count"],
    replies: metrics["reply_count"],
    quotes: metrics["quote_count"],
    impressions: metrics["impression_count"],
  };
  const missingCountsReason = `X returned no metrics of the tweet ${id}`;
  return createPollResult(targetId, "tweet", observedAt, fields, { missingCountsReason });
}
