/** The tweets of X: the timeline of a user, and the counts of tweets that are known. */
import { Type, type Static } from "@sinclair/typebox";
import type { FoundItem, Target } from "../../core/collection.ts";
import { believe, instantOf, Told } from "./answers.ts";
import { countedOf, goneOf, recordOf } from "./findings.ts";
import type { Finding, Surroundings } from "./port.ts";
import { describeProblem, identityOf, nothingTold, problemOf } from "./x-users.ts";

const Tweet = Type.Object({
  id: Type.String({ minLength: 1 }),
  text: Told,
  created_at: Told,
  public_metrics: Type.Optional(
    Type.Object({
      retweet_count: Told,
      repost_count: Told,
      reply_count: Told,
      like_count: Told,
      quote_count: Told,
      impression_count: Told,
    }),
  ),
});
type Tweet = Static<typeof Tweet>;

const Tweets = Type.Object({
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
export async function* timelineOf(
  target: Target,
  surroundings: Surroundings,
): AsyncGenerator<Finding> {
  const identity = await identityOf(target, surroundings);
  if ("target" in identity) {
    yield identity;
    return;
  }
  const { id, username, memo } = identity;
  const path = `/2/users/${id}/tweets`;
  const items = new Map<string, FoundItem>();
  let token: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const { data, errors, meta } = await surroundings.ask({
      bucket: "timeline",
      path,
      query: {
        max_results: String(PAGE_SIZE),
        exclude: "replies,retweets",
        "tweet.fields": TWEET_FIELDS,
        pagination_token: token,
      },
      schema: Tweets,
    });
    if (data === undefined && errors?.length) {
      const problem = problemOf(id, errors);
      yield problem === undefined
        ? { target: target.id, failure: `X told nothing of the tweets of ${target.id}` }
        : goneOf(target.id, describeProblem(`The user ${target.id}`, problem));
      return;
    }
    if (data === undefined && meta === undefined) throw nothingTold(path);
    const { items: tweets, doubt } = believe("x", Tweet, data ?? []);
    if (doubt !== undefined) yield { target: target.id, failure: doubt };
    const known = await surroundings.knownOf(tweets.map((tweet) => tweet.id));
    const now = surroundings.now();
    for (const tweet of tweets) {
      const { finding, item } = tell(target, username, tweet, now);
      if (item !== undefined) items.set(item.id, item);
      yield finding;
    }
    token = meta?.next_token;
    if (!token || (tweets.length > 0 && tweets.every((tweet) => known.has(tweet.id)))) break;
  }
  yield { target: target.id, items: Array.from(items.values()), memo };
}

/** Tells of a tweet of a page, also of a known one: its counts came with it. */
function tell(
  { id: target }: Target,
  username: string,
  tweet: Tweet,
  now: number,
): { readonly finding: Finding; readonly item?: FoundItem } {
  const { id } = tweet;
  const publishedAt = instantOf(tweet.created_at);
  if (publishedAt === undefined) {
    return { finding: { target, failure: `X told no date of the tweet ${id}` } };
  }
  const finding = tellTweet(target, tweet, username, now);
  if (finding.failure !== undefined) return { finding };
  return { finding, item: { id, publishedAt, memo: { username } } };
}

/** Observes tweets that are known. */
export async function* countsOf(
  batch: readonly Target[],
  surroundings: Surroundings,
): AsyncGenerator<Finding> {
  const possible = batch.filter(({ id }) => TWEET_ID_PATTERN.test(id));
  if (possible.length > 0) yield* tellTweets(possible, surroundings);
  for (const { id } of batch) {
    // It is of a source that was asked before this one, and would spoil the request for the others.
    if (!TWEET_ID_PATTERN.test(id)) {
      yield { target: id, failure: `X never told of the tweet ${id}: it numbers them` };
    }
  }
}

async function* tellTweets(
  batch: readonly Target[],
  surroundings: Surroundings,
): AsyncGenerator<Finding> {
  const { data, errors } = await surroundings.ask({
    bucket: "tweets",
    path: "/2/tweets",
    query: { ids: batch.map(({ id }) => id).join(","), "tweet.fields": TWEET_FIELDS },
    schema: Tweets,
  });
  if (data === undefined && errors === undefined) throw nothingTold("/2/tweets");
  const now = surroundings.now();
  const { items, doubt } = believe("x", Tweet, data ?? []);
  const tweets = new Map(items.map((tweet) => [tweet.id, tweet]));
  for (const { id, memo, owner } of batch) {
    const tweet = tweets.get(id);
    const username = memo["username"] ?? owner;
    const problem = problemOf(id, errors);
    if (tweet === undefined) {
      yield problem === undefined
        ? { target: id, failure: doubt ?? `X told nothing of the tweet ${id}` }
        : goneOf(id, describeProblem(`The tweet ${id}`, problem));
    } else if (username === null) {
      yield { target: id, failure: `It is not known whose the tweet ${id} is` };
    } else yield tellTweet(id, tweet, username, now);
  }
}

function tellTweet(
  target: string,
  { id, text, created_at, public_metrics: metrics = {} }: Tweet,
  username: string,
  at: number,
): Finding {
  const record = recordOf("tweet", at, {
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
  return countedOf(target, record, at, `X told no metrics of the tweet ${id}`);
}
