/** The collector of X's API v2, for users and tweets: its limits and tasks. */
import { Type } from "@sinclair/typebox";
import { quoteValue } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { DAY_MS, formatInstant, MINUTE_MS, parseInstant } from "../../../core/time.ts";
import { readInstant, UncheckedFields, type ParsedItem } from "../client/responses.ts";
import type {
  CollectorContext,
  CreateCollector,
  QuotaBucket,
  CollectionTarget,
} from "../collector.ts";
import {
  createBatchTask,
  createListTask,
  createPollResult,
  observe,
  pollNewestFirst,
  throwFailure,
  type PollBatch,
} from "../poll-tasks.ts";
import { fetchList, readError } from "./responses.ts";
import { X } from "./source.ts";

const BATCH_SIZE = 100;

const User = Type.Object({
  id: Type.String({ pattern: "^\\d{1,19}$" }),
  username: Type.String(),
  public_metrics: UncheckedFields,
});
type User = ParsedItem<typeof User>;

/** A username can move to another user; after this time, the identity is requested again. */
const IDENTITY_MAX_AGE_MS = DAY_MS;

const pollUsers: PollBatch = async (batch, context) => {
  const findUser = await fetchUsers(batch, context);
  return ({ id }) => observeUser(context, id, findUser(id));
};

/** Reads the identity of a user from a recent source state, else from a request. */
async function resolveIdentity(target: CollectionTarget, context: CollectorContext) {
  const { id, username = target.id, identifiedAt = "" } = target.sourceState;
  const ageMs = context.now() - (parseInstant(identifiedAt) ?? -Infinity);
  const isFresh = ageMs >= 0 && ageMs < IDENTITY_MAX_AGE_MS;
  if (id !== undefined && isFresh) return { id, username, identifiedAt };
  const findUser = await fetchUsers([target], context);
  return createIdentity(context, findUser(target.id));
}

/** @returns A function that finds a user, or throws why X left the user out. */
async function fetchUsers(batch: readonly CollectionTarget[], context: CollectorContext) {
  const { items, warning, checkExists } = await fetchList(context, User, {
    bucket: "users",
    path: "/2/users/by",
    query: {
      usernames: batch.map(({ id }) => id).join(","),
      "user.fields": "created_at,description,profile_image_url,public_metrics,verified",
    },
  });
  const users = new Map(items.map((user) => [foldCase(user.username), user]));
  const requested = new Set(batch.map(({ id }) => foldCase(id)));
  const others = items.filter(({ username }) => !requested.has(foldCase(username)));
  return (id: string): User => {
    const user = users.get(foldCase(id));
    if (user !== undefined) return user;
    checkExists("user", id);
    const names = others.map(({ username }) => username).join(", ");
    const suffix = names === "" ? "" : `, but ${quoteValue(names)}`;
    const missing = `X returned nothing for the user ${id}${suffix}`;
    return throwFailure(warning ?? missing);
  };
}

/** Creates the source state of a target. `username` is in X's spelling. */
const createIdentity = ({ now }: CollectorContext, { id, username }: User) => ({
  id,
  username,
  identifiedAt: formatInstant(now()),
});

function observeUser(context: CollectorContext, targetId: string, user: User) {
  const { username, public_metrics: metrics = {} } = user;
  const fields = {
    username,
    displayName: user["name"],
    followers_count: metrics["followers_count"],
    following_count: metrics["following_count"],
    tweet_count: metrics["tweet_count"] ?? metrics["post_count"],
    description: user["description"],
    profile_image_url: user["profile_image_url"],
    created_at: user["created_at"],
    verified: user["verified"],
  };
  const missingCountsReason = `X returned no metrics of the user ${targetId}`;
  const observed = observe(context, "user", fields, missingCountsReason);
  return { ...observed, sourceState: createIdentity(context, user) };
}

const Tweet = Type.Object({
  id: Type.String({ minLength: 1 }),
  public_metrics: UncheckedFields,
});

const TWEET_FIELDS = "created_at,public_metrics";
const PAGE_SIZE = 100;

/** X lists the newest 3,200 tweets of a user. */
const PAGES_MAX = 32;

/** Finds the new tweets of a user, without replies and retweets, and observes them. */
async function* pollTimeline(target: CollectionTarget, context: CollectorContext) {
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
) {
  const page = await fetchList(context, Tweet, {
    path: `/2/users/${id}/tweets`,
    query: {
      max_results: String(PAGE_SIZE),
      exclude: "replies,retweets",
      "tweet.fields": TWEET_FIELDS,
      pagination_token: cursor,
    },
  });
  const { items: tweets, warning, nextToken } = page;
  if (page.hasOnlyErrors) {
    page.checkExists("user", id, targetId);
    throwFailure(`X returned no tweets of ${targetId}`);
  }
  const knownItems = await context.findKnownItems(tweets.map((tweet) => tweet.id));
  // Known tweets are observed too: their counts came with the page.
  const results = tweets.map((tweet) =>
    createPollResult(targetId, () => {
      const publishedAt =
        readInstant(tweet["created_at"]) ??
        throwFailure(`X returned no date of the tweet ${tweet.id}`);
      const items = [{ id: tweet.id, publishedAt, sourceState: { username } }];
      return { ...observeTweet(context, tweet, username), items };
    }),
  );
  const isKnown = tweets.length > 0 && tweets.every((tweet) => knownItems.has(tweet.id));
  return { results, warning, isKnown, nextCursor: nextToken };
}

const explainInvalidTweetId = (id: string) =>
  /^\d{1,19}$/.test(id) ? undefined : `X has no tweet ${id}: identifiers there are numbers`;

const pollTweetCounts: PollBatch = async (batch, context) => {
  const { items, warning, checkExists } = await fetchList(context, Tweet, {
    path: "/2/tweets",
    query: { ids: batch.map(({ id }) => id).join(","), "tweet.fields": TWEET_FIELDS },
  });
  const tweets = new Map(items.map((tweet) => [tweet.id, tweet]));
  return ({ id, sourceState, owner }) => {
    const tweet = tweets.get(id);
    if (tweet === undefined) {
      checkExists("tweet", id);
      return throwFailure(warning ?? `X returned nothing for the tweet ${id}`);
    }
    const unknown = `The author of the tweet ${id} is unknown`;
    return observeTweet(context, tweet, sourceState["username"] ?? owner ?? throwFailure(unknown));
  };
};

function observeTweet(
  context: CollectorContext,
  { id, text, created_at, public_metrics: metrics = {} }: ParsedItem<typeof Tweet>,
  username: string,
) {
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
  return observe(context, "tweet", fields, `X returned no metrics of the tweet ${id}`);
}

const WINDOW_MS = 15 * MINUTE_MS;

/** X has no daily quota; the windows of a day make one. */
function createWindowBucket(requests: number): QuotaBucket {
  const window = { requests, durationMs: WINDOW_MS, headerPrefix: "x-rate-limit" };
  return { unitsPerDay: (requests * DAY_MS) / WINDOW_MS, zone: "UTC", window };
}

export const createXCollector: CreateCollector = ({ baseUrl, credential }) => ({
  source: X,
  baseUrl,
  credentials: { headers: { authorization: `Bearer ${credential}` }, query: {} },
  buckets: {
    users: createWindowBucket(300),
    timeline: createWindowBucket(10_000),
    tweets: createWindowBucket(3500),
  },
  tasks: {
    profile: createBatchTask("users", BATCH_SIZE, pollUsers, X.explainInvalidUsername),
    items: createListTask("timeline", pollTimeline, X.explainInvalidUsername),
    counts: createBatchTask("tweets", BATCH_SIZE, pollTweetCounts, explainInvalidTweetId),
  },
  readError,
});
