/** The microblog part of the client: users and their tweets. */
import type { UserSort } from "../lists.ts";
import { compareText } from "../text.ts";
import type * as resources from "../resources/generated/types.ts";
import type { Listing } from "./listing.ts";
import type { HistoryQuery, ListQuery, PageQuery } from "./queries.ts";
import { createRequests } from "./requests.ts";
import type { RequestOptions } from "./options.ts";
import type { Send } from "./request.ts";
import type { Result } from "./result.ts";
import type { PathSegment } from "./url.ts";

/** Reads users and tweets. `username` is without the @ symbol, in any case. */
export interface MicroblogClient {
  /** Users, sorted by a figure. */
  users(
    query?: ListQuery<UserSort>,
    options?: RequestOptions,
  ): Listing<resources.ListedUser, resources.UserList>;
  /** A user. */
  user(username: string, options?: RequestOptions): Promise<Result<resources.UserDetails>>;
  /** The tweets of a user with their identifiers, newest first. */
  tweets(
    username: string,
    query?: PageQuery,
    options?: RequestOptions,
  ): Listing<readonly [id: string, tweet: resources.TweetRecord], resources.TweetsPage>;
  /** The follower counts of a user, newest first. */
  followers(
    username: string,
    query?: PageQuery,
    options?: RequestOptions,
  ): Listing<
    resources.FollowersPage["followers"]["USER"]["metrics"][number],
    resources.FollowersPage
  >;
  /** A tweet with its history. */
  tweet(
    username: string,
    id: string,
    options?: RequestOptions,
  ): Promise<Result<resources.TweetDetails>>;
  /** The counts of a user over time, oldest first. */
  history(
    username: string,
    query?: HistoryQuery,
    options?: RequestOptions,
  ): Listing<resources.UserHistory["history"][number], resources.UserHistory>;
  /** The counts of a tweet over time, oldest first. */
  tweetHistory(
    username: string,
    id: string,
    query?: HistoryQuery,
    options?: RequestOptions,
  ): Listing<resources.TweetHistory["history"][number], resources.TweetHistory>;
  /** The details of 1 to 100 users; a credit a name. */
  details(
    usernames: readonly string[],
    options?: RequestOptions,
  ): Promise<Result<resources.UserBatch>>;
  /** A count of 1 to 10 users over time; a credit a name and page. */
  compare(
    usernames: readonly string[],
    query?: HistoryQuery & { readonly count?: keyof resources.UserCounts | undefined },
    options?: RequestOptions,
  ): Listing<resources.UserComparison["rows"][number], resources.UserComparison>;
}

/** Creates the microblog part of a client. */
export function createMicroblogClient(send: Send): MicroblogClient {
  const { get, postDetails, list } = createRequests(send, "microblog");
  const pathOfTweet = (username: string, id: string): PathSegment[] => [
    { username },
    "tweet",
    { id },
  ];
  return {
    users: (query, options) => list(["users"], query, (page) => page.users, options),
    user: (username, options) => get([{ username }, "details"], (body) => body.username, options),
    tweets: (username, query, options) =>
      list([{ username }, "tweets"], query, listTweets, options, { startName: "page" }),
    followers: (username, query, options) =>
      list([{ username }, "followers"], query, (page) => page.followers.USER.metrics, options, {
        startName: "page",
      }),
    tweet: (username, id, options) =>
      get(pathOfTweet(username, id), (body) => body.tweet.metrics, options),
    history: (username, query, options) =>
      list([{ username }, "history"], query, (page) => page.history, options),
    tweetHistory: (username, id, query, options) =>
      list([...pathOfTweet(username, id), "history"], query, (page) => page.history, options),
    details: (usernames, options) => postDetails({ usernames }, options),
    compare: (usernames, query, options) =>
      list(["compare"], query, (page) => page.rows, options, { defaults: { usernames } }),
  };
}

/** Lists tweets newest first. An object has identifiers such as `7` before all others. */
function listTweets({ tweets }: resources.TweetsPage) {
  return Object.entries(tweets).toSorted(
    ([idA, a], [idB, b]) => compareText(b.created_at, a.created_at) || compareText(idB, idA),
  );
}
