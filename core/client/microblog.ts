/** The microblog part of the client: users and their tweets. */
import type { SortName } from "../lists.ts";
import type * as resources from "../resources/generated/types.ts";
import { compareText } from "../text.ts";
import { list } from "./listing.ts";
import {
  createOwnerClient,
  read,
  readBuckets,
  type HistoryMethod,
  type ListQuery,
  type OwnerClient,
  type PageQuery,
  type ReadMethod,
  type ListMethod,
} from "./methods.ts";
import type { Send } from "./request.ts";

/** Reads users and tweets. `username` is without the @ symbol, in any case. */
export interface MicroblogClient extends OwnerClient<
  resources.UserHistory,
  resources.UserBatch,
  resources.UserComparison
> {
  /** Users, sorted by a figure. */
  users: ListMethod<[], ListQuery<SortName<"user">>, resources.ListedUser, resources.UserList>;
  /** A user. */
  user: ReadMethod<[username: string], resources.UserDetails>;
  /** The tweets of a user with their identifiers, newest first. */
  tweets: ListMethod<
    [username: string],
    PageQuery,
    readonly [id: string, tweet: resources.TweetRecord],
    resources.TweetsPage
  >;
  /** The follower counts of a user, newest first. */
  followers: ListMethod<
    [username: string],
    PageQuery,
    resources.FollowersPage["followers"]["USER"]["metrics"][number],
    resources.FollowersPage
  >;
  /** A tweet with its history. */
  tweet: ReadMethod<[username: string, id: string], resources.TweetDetails>;
  /** The counts of a tweet over time, oldest first. */
  tweetHistory: HistoryMethod<[username: string, id: string], resources.TweetHistory>;
}

const ROOT = "api/microblog";

/** Creates the microblog part of a client. */
export function createMicroblogClient(send: Send): MicroblogClient {
  return {
    ...createOwnerClient(send, ROOT, "username"),
    users: (query, options) => list(send, [ROOT, "users"], query, (page) => page.users, options),
    user: (username, options) =>
      read(send, [ROOT, { username }, "details"], (body) => body.username, options),
    tweets: (username, query, options) =>
      list(send, [ROOT, { username }, "tweets"], query, listTweets, options),
    followers: (username, query, options) =>
      list(send, [ROOT, { username }, "followers"], query, readFollowers, options),
    tweet: (username, id, options) =>
      read(send, [ROOT, { username }, "tweet", { id }], (body) => body.tweet.metrics, options),
    tweetHistory: (username, id, query, options) =>
      list(send, [ROOT, { username }, "tweet", { id }, "history"], query, readBuckets, options),
  };
}

const readFollowers = ({ followers }: resources.FollowersPage) => followers.USER.metrics;

/** Lists tweets newest first. An object has identifiers such as `7` before all others. */
function listTweets({ tweets }: resources.TweetsPage) {
  return Object.entries(tweets).toSorted(
    ([idA, a], [idB, b]) => compareText(b.created_at, a.created_at) || compareText(idB, idA),
  );
}
