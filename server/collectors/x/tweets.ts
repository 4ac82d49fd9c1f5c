/** Polls tweets of X: finds those of a user, and observes the counts of known ones. */
import { Type, type Static } from "@sinclair/typebox";
import type { CollectionTarget } from "../targets.ts";
import { parseItems, readInstant, Unchecked, UncheckedFields } from "../client/responses.ts";
import { createGoneResult, createPollResult } from "../poll-results.ts";
import { pollNewestFirst, type ListPage } from "../poll-tasks.ts";
import { SourceError, type PollResult, type CollectorContext } from "../collector.ts";
import { X } from "./source.ts";
import {
  describeProblem,
  resolveIdentity,
  createEmptyResponseError,
  findProblem,
  ListResponse,
  type UserIdentity,
} from "./users.ts";

const Tweet = Type.Object({
  id: Type.String({ minLength: 1 }),
  text: Unchecked,
  created_at: Unchecked,
  public_metrics: UncheckedFields,
});
type Tweet = Static<typeof Tweet>;

const TWEET_FIELDS = "created_at,public_metrics";
const TWEET_ID_PATTERN = /^\d{1,19}$/;
const PAGE_SIZE = 100;

/** X lists the newest 3,200 tweets of a user. */
const PAGES_MAX = 32;

/** Finds the new tweets of a user, without replies and retweets, and observes them. */
export async function* pollTimeline(
  target: CollectionTarget,
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const identity = await resolveIdentity(target, context);
  yield* pollNewestFirst({
    targetId: target.id,
    maxPages: PAGES_MAX,
    fetchPage: (cursor) => fetchTimelinePage(target.id, identity, cursor, context),
  });
  yield { targetId: target.id, sourceState: identity };
}

async function fetchTimelinePage(
  targetId: string,
  { id, username }: UserIdentity,
  cursor: string | undefined,
  { request, now, findKnownItems }: CollectorContext,
): Promise<ListPage> {
  const path = `/2/users/${id}/tweets`;
  const { data, errors, meta } = await request({
    bucket: "timeline",
    path,
    query: {
      max_results: String(PAGE_SIZE),
      exclude: "replies,retweets",
      "tweet.fields": TWEET_FIELDS,
      pagination_token: cursor,
    },
    schema: ListResponse,
  });
  if (data === undefined && errors?.length) {
    const problem = findProblem(id, errors);
    throw problem === undefined
      ? new SourceError("rejected", `X returned no tweets of ${targetId}`)
      : new SourceError("not-found", describeProblem(`The user ${targetId}`, problem));
  }
  if (data === undefined && meta === undefined) throw createEmptyResponseError(path);
  const { items: tweets, warning } = parseItems(X.title, Tweet, data ?? []);
  const knownItems = await findKnownItems(tweets.map((tweet) => tweet.id));
  const observedAt = now();
  // Known tweets are observed too: their counts came with the page.
  const entries = tweets.map((tweet) => {
    const publishedAt = readInstant(tweet.created_at);
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
    nextCursor: meta?.next_token,
  };
}

/** Explains why X cannot have a tweet with this identifier; `undefined` if it can. */
export function explainInvalidTweetId(id: string): string | undefined {
  if (TWEET_ID_PATTERN.test(id)) return undefined;
  return `X has no tweet ${id}: identifiers there are numbers`;
}

/** Observes the counts of known tweets. */
export async function pollTweetCounts(
  batch: readonly CollectionTarget[],
  { request, now }: CollectorContext,
): Promise<PollResult[]> {
  const path = "/2/tweets";
  const { data, errors } = await request({
    bucket: "tweets",
    path,
    query: { ids: batch.map(({ id }) => id).join(","), "tweet.fields": TWEET_FIELDS },
    schema: ListResponse,
  });
  if (data === undefined && errors === undefined) throw createEmptyResponseError(path);
  const observedAt = now();
  const { items, warning } = parseItems(X.title, Tweet, data ?? []);
  const tweets = new Map(items.map((tweet) => [tweet.id, tweet]));
  return batch.map(({ id, sourceState, owner }) => {
    const tweet = tweets.get(id);
    const username = sourceState["username"] ?? owner;
    if (tweet === undefined) {
      const problem = findProblem(id, errors);
      return problem === undefined
        ? { targetId: id, failure: warning ?? `X returned nothing for the tweet ${id}` }
        : createGoneResult(id, describeProblem(`The tweet ${id}`, problem));
    }
    return username === null
      ? { targetId: id, failure: `The author of the tweet ${id} is unknown` }
      : createTweetResult(id, tweet, username, observedAt);
  });
}

function createTweetResult(
  targetId: string,
  { id, text, created_at, public_metrics: metrics = {} }: Tweet,
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
