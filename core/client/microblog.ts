/** The microblog part of the client: users and their tweets. */
import type { SortName } from "../lists.ts";
import { compareText } from "../text.ts";
import type * as resources from "../resources/generated/types.ts";
import type { Listing } from "./listing.ts";
import { createOwnerClient, type OwnerClient } from "./owners.ts";
import type { HistoryQuery, ListQuery, PageQuery } from "./queries.ts";
import { createRequests } from "./requests.ts";
import type { RequestOptions } from "./options.ts";
import type { Send } from "./request.ts";
import type { Result } from "./result.ts";

/** Reads users and tweets. `username` is without the @ symbol, in any case. */
export interface MicroblogClient extends OwnerClient<
  resources.UserHistory,
  resources.UserBatch,
  resources.UserComparison
> {
  /** Users, sorted by a figure. */
  users(
    query?: ListQuery<SortName<"user">>,
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
  /** The counts of a tweet over time, oldest first. */
  tweetHistory(
    username: string,
    id: string,
    query?: HistoryQuery,
    options?: RequestOptions,
  ): Listing<resources.TweetHistory["history"][number], resources.TweetHistory>;
}

/** Creates the microblog part of a client. */
export function createMicroblogClient(send: Send): MicroblogClient {
  const requests = createRequests(send, "microblog");
  const { get, list } = requests;
  return {
    ...createOwnerClient(requests, "username"),
    users: (query, options) => list(["users"], query, (page) => page.users, options),
    user: (username, options) => get([{ username }, "details"], (body) => body.username, options),
    tweets: (username, query, options) =>
      list([{ username }, "tweets"], query, listTweets, options, { startName: "page" }),
    followers: (username, query, options) =>
      list([{ username }, "followers"], query, (page) => page.followers.USER.metrics, options, {
        startName: "page",
      }),
    tweet: (username, id, options) =>
      get([{ username }, "tweet", { id }], (body) => body.tweet.metrics, options),
    tweetHistory: (username, id, query, options) =>
      list([{ username }, "tweet", { id }, "history"], query, (page) => page.history, options),
  };
}

/** Lists tweets newest first. An object has identifiers such as `7` before all others. */
function listTweets({ tweets }: resources.TweetsPage) {
  return Object.entries(tweets).toSorted(
    ([idA, a], [idB, b]) => compareText(b.created_at, a.created_at) || compareText(idB, idA),
  );
}
