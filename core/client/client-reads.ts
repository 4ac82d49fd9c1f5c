/** The interfaces of the reads of a client: channels with shorts, and users with tweets. */
import type * as resources from "../resources/generated/types.ts";
import type {
  ChannelListQuery,
  FieldName,
  HistoryMethod,
  ItemComparisonQuery,
  ItemListQuery,
  ListMethod,
  OwnerClient,
  PageQuery,
  ReadMethod,
  ShortsQuery,
  UserListQuery,
} from "./methods.ts";

/** Reads channels and shorts. `channel` is an identifier, or a username in any case. */
export interface VideoClient extends OwnerClient<
  resources.ChannelHistory,
  resources.ChannelBatch,
  resources.ChannelComparison
> {
  /** Channels, sorted by a figure. */
  channels: ListMethod<[], ChannelListQuery, resources.ListedChannel, resources.ChannelList>;
  /** Channels with chosen columns, sorted by a figure. */
  channelTable: ListMethod<
    [fields: readonly FieldName<resources.ChannelRow>[]],
    ChannelListQuery,
    resources.ChannelRow,
    resources.ChannelTable
  >;
  /** All channels in one response. */
  allChannels: ReadMethod<[], resources.ChannelList>;
  /** A channel, by identifier or username. */
  channel: ReadMethod<[channel: string], resources.ChannelDetails>;
  /** The shorts of a channel, newest first; `before` is an instant in ISO 8601. */
  shorts: ListMethod<[channel: string], ShortsQuery, resources.ShortSummary, resources.ShortsPage>;
  /** Shorts of all channels, or of some, with chosen columns. */
  shortTable: ListMethod<
    [],
    ItemListQuery<"short", resources.ShortRow>,
    resources.ShortRow,
    resources.ShortTable
  >;
  /** The details of 1 to 100 shorts by identifier; a credit each. */
  shortDetails: ReadMethod<[ids: readonly string[]], resources.ShortBatch>;
  /** A count of 1 to 10 shorts by date, or by hours since each was published; a credit each. */
  compareShorts: ListMethod<
    [ids: readonly string[]],
    ItemComparisonQuery<"short">,
    resources.ShortComparison["rows"][number],
    resources.ShortComparison
  >;
  /** A short with its history. */
  short: ReadMethod<[channel: string, id: string], resources.ShortDetails>;
  /** The counts of a short over time, oldest first. */
  shortHistory: HistoryMethod<[channel: string, id: string], resources.ShortHistory>;
  /** The metrics of a channel: gains, trend, projection. */
  metrics: ReadMethod<[channel: string], resources.ChannelMetrics>;
  /** The metrics of a short: rates, engagement, age multiple. */
  shortMetrics: ReadMethod<[channel: string, id: string], resources.ShortMetrics>;
}

/** Reads users and tweets. `username` is without the @ symbol, in any case. */
export interface MicroblogClient extends OwnerClient<
  resources.UserHistory,
  resources.UserBatch,
  resources.UserComparison
> {
  /** Users, sorted by a figure. */
  users: ListMethod<[], UserListQuery, resources.ListedUser, resources.UserList>;
  /** Users with chosen columns, sorted by a figure. */
  userTable: ListMethod<
    [fields: readonly Exclude<FieldName<resources.UserRow>, "username">[]],
    UserListQuery,
    resources.UserRow,
    resources.UserTable
  >;
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
  /** Tweets of all users, or of some, with chosen columns. */
  tweetTable: ListMethod<
    [],
    ItemListQuery<"tweet", resources.TweetRow>,
    resources.TweetRow,
    resources.TweetTable
  >;
  /** The details of 1 to 100 tweets by identifier; a credit each. */
  tweetDetails: ReadMethod<[ids: readonly string[]], resources.TweetBatch>;
  /** A count of 1 to 10 tweets by date, or by hours since each was created; a credit each. */
  compareTweets: ListMethod<
    [ids: readonly string[]],
    ItemComparisonQuery<"tweet">,
    resources.TweetComparison["rows"][number],
    resources.TweetComparison
  >;
  /** A tweet with its history. */
  tweet: ReadMethod<[username: string, id: string], resources.TweetDetails>;
  /** The counts of a tweet over time, oldest first. */
  tweetHistory: HistoryMethod<[username: string, id: string], resources.TweetHistory>;
  /** The metrics of a user: gains, trend, projection. */
  metrics: ReadMethod<[username: string], resources.UserMetrics>;
  /** The metrics of a tweet: rates, engagement, age multiple. */
  tweetMetrics: ReadMethod<[username: string, id: string], resources.TweetMetrics>;
}
