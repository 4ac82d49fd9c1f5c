/** The tweets of X: the timeline of a user, and the counts of tweets that are known. */
import { Type, type Static } from "@sinclair/typebox";
import type { DiscoveredItem, CollectionTarget } from "../../ports/targets.ts";
import { parseItems, readInstant, Unchecked } from "../client/responses.ts";
import { createCountedResult, createGoneResult, createObservationRecord } from "../poll-results.ts";
import type { PollResult, CollectorContext } from "../collector.ts";
import {
  describeProblem,
  resolveIdentity,
  createEmptyResponseError,
  findProblem,
} from "./users.ts";

const Tweet = Type.Object({
  id: Type.String({ minLength: 1 }),
  text: Unchecked,
  created_at: Unchecked,
  public_metrics: Type.Optional(
    Type.Object({
      retweet_count: Unchecked,
      repost_count: Unchecked,
      reply_count: Unchecked,
      like_count: Unchecked,
      quote_count: Unchecked,
      impression_count: Unchecked,
    }),
  ),
});
type Tweet = Static<typeof Tweet>;

const TweetsResponse = Type.Object({
  data: Type.Optional(Type.Array(Type.Unknown())),
  errors: Type.Optional(Type.Array(Type.Unknown())),
  meta: Type.Optional(Type.Object({ next_token: Type.Optional(Type.String()) })),
});

const TWEET_FIELDS = "created_at,public_metrics";
const TWEET_ID_PATTERN = /^\d{1,19}$/;
const PAGE_SIZE = 100;

/** X tells of the newest 3,200 tweets of a user. */
const PAGES_MAX = 32;

/**
 * Finds the tweets of a user, newest first, until a page is known, and observes them; replies and
 * retweets are left out. Its items are told at the end, together: what is older than a known one is
 * known too, also after a listing that was cut off.
 */
export async function* pollTimeline(
  target: CollectionTarget,
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const identity = await resolveIdentity(target, context);
  if ("target" in identity) {
    yield identity;
    return;
  }
  const { id, username, sourceState: memo } = identity;
  const path = `/2/users/${id}/tweets`;
  const items = new Map<string, DiscoveredItem>();
  let nextToken: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const { data, errors, meta } = await context.request({
      bucket: "timeline",
      path,
      query: {
        max_results: String(PAGE_SIZE),
        exclude: "replies,retweets",
        "tweet.fields": TWEET_FIELDS,
        pagination_token: nextToken,
      },
      schema: TweetsResponse,
    });
    if (data === undefined && errors?.length) {
      const problem = findProblem(id, errors);
      yield problem === undefined
        ? { target: target.id, failure: `X told nothing of the tweets of ${target.id}` }
        : createGoneResult(target.id, describeProblem(`The user ${target.id}`, problem));
      return;
    }
    if (data === undefined && meta === undefined) throw createEmptyResponseError(path);
    const { items: tweets, warning } = parseItems("x", Tweet, data ?? []);
    if (warning !== undefined) yield { target: target.id, failure: warning };
    const knownItems = await context.findKnownItems(tweets.map((tweet) => tweet.id));
    const now = context.now();
    for (const tweet of tweets) {
      const { finding, item } = readListedTweet(target, username, tweet, now);
      if (item !== undefined) items.set(item.id, item);
      yield finding;
    }
    nextToken = meta?.next_token;
    if (!nextToken || (tweets.length > 0 && tweets.every((tweet) => knownItems.has(tweet.id))))
      break;
  }
  yield { target: target.id, items: Array.from(items.values()), sourceState: memo };
}

/** Tells of a tweet of a page, also of a known one: its counts came with it. */
function readListedTweet(
  { id: target }: CollectionTarget,
  username: string,
  tweet: Tweet,
  now: number,
): { readonly finding: PollResult; readonly item?: DiscoveredItem } {
  const { id } = tweet;
  const publishedAt = readInstant(tweet.created_at);
  if (publishedAt === undefined) {
    return { finding: { target, failure: `X told no date of the tweet ${id}` } };
  }
  const finding = createTweetResult(target, tweet, username, now);
  if (finding.failure !== undefined) return { finding };
  return { finding, item: { id, publishedAt, sourceState: { username } } };
}

/** Observes tweets that are known. */
export async function* pollTweetCounts(
  batch: readonly CollectionTarget[],
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const possible = batch.filter(({ id }) => TWEET_ID_PATTERN.test(id));
  if (possible.length > 0) yield* pollTweetBatch(possible, context);
  for (const { id } of batch) {
    // It is of a source that was asked before this one, and would spoil the request for the others.
    if (!TWEET_ID_PATTERN.test(id)) {
      yield { target: id, failure: `X never told of the tweet ${id}: it numbers them` };
    }
  }
}

async function* pollTweetBatch(
  batch: readonly CollectionTarget[],
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const { data, errors } = await context.request({
    bucket: "tweets",
    path: "/2/tweets",
    query: { ids: batch.map(({ id }) => id).join(","), "tweet.fields": TWEET_FIELDS },
    schema: TweetsResponse,
  });
  if (data === undefined && errors === undefined) throw createEmptyResponseError("/2/tweets");
  const now = context.now();
  const { items, warning } = parseItems("x", Tweet, data ?? []);
  const tweets = new Map(items.map((tweet) => [tweet.id, tweet]));
  for (const { id, sourceState: memo, owner } of batch) {
    const tweet = tweets.get(id);
    const username = memo["username"] ?? owner;
    const problem = findProblem(id, errors);
    if (tweet === undefined) {
      yield problem === undefined
        ? { target: id, failure: warning ?? `X told nothing of the tweet ${id}` }
        : createGoneResult(id, describeProblem(`The tweet ${id}`, problem));
    } else if (username === null) {
      yield { target: id, failure: `It is not known whose the tweet ${id} is` };
    } else yield createTweetResult(id, tweet, username, now);
  }
}

function createTweetResult(
  target: string,
  { id, text, created_at, public_metrics: metrics = {} }: Tweet,
  username: string,
  observedAt: number,
): PollResult {
  const record = createObservationRecord("tweet", observedAt, {
    username,
    id,
    text,
    created_at,
    url: `https://x.com/${username}/status/${id}`,
    likes: metrics.like_count,
    retweets: metrics.retweet_count ?? metrics.repost_count,
    replies: metrics.reply_count,
    quotes: metrics.quote_count,
    impressions: metrics.impression_count,
  });
  return createCountedResult(target, record, observedAt, `X told no metrics of the tweet ${id}`);
}
