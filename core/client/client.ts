/** The client of the service: its interface, and the request that each of its methods sends. */
import type { SortName } from "../lists.ts";
import type * as resources from "../resources/generated/types.ts";
import { compareText } from "../text.ts";
import { list } from "./listing.ts";
import type {
  ChannelListQuery,
  HistoryMethod,
  ListMethod,
  ListQuery,
  OwnerClient,
  PageQuery,
  ReadMethod,
  ShortsQuery,
} from "./methods.ts";
import type { Result } from "./attempt.ts";
import { assertAllowed, type ClientOptions, type RequestOptions } from "./options.ts";
import { createSend, type PathSegment, type Send } from "./request.ts";

/** Reads channels and shorts. `channel` is an identifier, or a username in any case. */
export interface VideoClient extends OwnerClient<
  resources.ChannelHistory,
  resources.ChannelBatch,
  resources.ChannelComparison
> {
  /** Channels, sorted by a figure. */
  channels: ListMethod<[], ChannelListQuery, resources.ListedChannel, resources.ChannelList>;
  /** All channels in one response. */
  allChannels: ReadMethod<[], resources.ChannelList>;
  /** A channel, by identifier or username. */
  channel: ReadMethod<[channel: string], resources.ChannelDetails>;
  /** The shorts of a channel, newest first; `before` is an instant in ISO 8601. */
  shorts: ListMethod<[channel: string], ShortsQuery, resources.ShortSummary, resources.ShortsPage>;
  /** A short with its history. */
  short: ReadMethod<[channel: string, id: string], resources.ShortDetails>;
  /** The counts of a short over time, oldest first. */
  shortHistory: HistoryMethod<[channel: string, id: string], resources.ShortHistory>;
}

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

/**
 * A client of the service. A method rejects with a `MetricsError` after an error response, a
 * `ConnectionError` if no response came from the service (a `TimeoutError` if the time was over),
 * an `AbortError` after an abort, and a `RangeError` for an argument that no request can have.
 */
export interface Client {
  /** Channels and shorts. */
  readonly video: VideoClient;
  /** Users and tweets. */
  readonly microblog: MicroblogClient;
  /** The monitoring list. Free of charge. */
  readonly creators: {
    list: ReadMethod<[], resources.CreatorList>;
    add: ReadMethod<[creator: string], resources.CreatorResult>;
    remove: ReadMethod<[creator: string], resources.CreatorResult>;
  };
  /** The account of the key: its balance and its usage. Free of charge. */
  account: ReadMethod<
    [
      query?: {
        readonly from?: string | undefined;
        readonly to?: string | undefined;
        readonly by?: string | undefined;
      },
    ],
    resources.AccountDetails
  >;
}

/**
 * Creates a client.
 *
 * @throws {RangeError} For an option that is not allowed.
 *
 * @example
 * const client = createClient({ baseUrl: "http://127.0.0.1:3000", apiKey: "cm_..." });
 * Object.keys(client); // ["video", "microblog", "creators", "account"]
 */
export function createClient(clientOptions: ClientOptions): Client {
  const send = createSend(clientOptions);
  const path = ["api/creators"];
  const change =
    (method: "PATCH" | "DELETE"): Client["creators"]["add"] =>
    async (creator, options) => {
      assertAllowed("creator", creator, typeof creator === "string", "text");
      const body = { creator, platform: "microblog" };
      return send({ method, path, body, probe: (result) => result.total_creators }, options);
    };
  return {
    video: createVideoClient(send),
    microblog: createMicroblogClient(send),
    creators: {
      list: (options) => read(send, path, (body) => body.creators.length, options),
      add: change("PATCH"),
      remove: change("DELETE"),
    },
    account: (query, options) =>
      send({ method: "GET", path: ["api/account"], query, probe: (body) => body.balance }, options),
  };
}

const read = <Body>(
  send: Send,
  path: readonly PathSegment[],
  probe: (body: Body) => unknown,
  options?: RequestOptions,
): Promise<Result<Body>> => send({ method: "GET", path, probe }, options);

const readBuckets = <Bucket>(page: { readonly history: readonly Bucket[] }): readonly Bucket[] =>
  page.history;

type CursorPage = Pick<resources.ChannelHistory, "pagination">;

/** Creates the reads of owners. A request has one owner as `name`, several as its plural. */
function createOwnerClient<
  History extends CursorPage & { readonly history: readonly unknown[] },
  Batch extends { readonly results: readonly unknown[] },
  Comparison extends CursorPage & { readonly count: string; readonly rows: readonly unknown[] },
>(send: Send, root: string, name: "channel" | "username"): OwnerClient<History, Batch, Comparison> {
  const plural = `${name}s`;
  return {
    history: (owner, query, options) =>
      list(send, [root, { [name]: owner }, "history"], query, readBuckets, options),
    async details(names, options) {
      const isNames = Array.isArray(names) && names.every((value) => typeof value === "string");
      assertAllowed(plural, names, isNames, "an array of names");
      const probe = ({ results }: Batch) => results.length;
      const body = { [plural]: names };
      return send({ method: "POST", path: [root, "details"], body, probe }, options);
    },
    compare: (names, query, options) =>
      list(send, [root, "compare"], query, (page) => page.rows, options, { [plural]: names }),
  };
}

const VIDEO = "api/video";

/** The size of a page of channels. A request without parameters gets the whole list, not a page. */
const CHANNELS_LIMIT = 100;

function createVideoClient(send: Send): VideoClient {
  return {
    ...createOwnerClient(send, VIDEO, "channel"),
    channels: (query, options) =>
      list(send, [VIDEO, "channels"], query, (page) => page.channels, options, {
        limit: CHANNELS_LIMIT,
      }),
    allChannels: (options) =>
      read(send, [VIDEO, "channels"], (body) => body.channels.length, options),
    channel: (channel, options) =>
      read(send, [VIDEO, { channel }, "details"], (body) => body.id, options),
    shorts: (channel, query, options) =>
      list(send, [VIDEO, { channel }, "shorts"], query, (page) => page.shorts, options),
    short: (channel, id, options) =>
      read(send, [VIDEO, { channel }, "short", { id }], (body) => body.metrics, options),
    shortHistory: (channel, id, query, options) =>
      list(send, [VIDEO, { channel }, "short", { id }, "history"], query, readBuckets, options),
  };
}

const MICROBLOG = "api/microblog";

function createMicroblogClient(send: Send): MicroblogClient {
  return {
    ...createOwnerClient(send, MICROBLOG, "username"),
    users: (query, options) =>
      list(send, [MICROBLOG, "users"], query, (page) => page.users, options),
    user: (username, options) =>
      read(send, [MICROBLOG, { username }, "details"], (body) => body.username, options),
    tweets: (username, query, options) =>
      list(send, [MICROBLOG, { username }, "tweets"], query, listTweets, options),
    followers: (username, query, options) =>
      list(send, [MICROBLOG, { username }, "followers"], query, readFollowers, options),
    tweet: (username, id, options) =>
      read(send, [MICROBLOG, { username }, "tweet", { id }], (body) => body.tweet.metrics, options),
    tweetHistory: (username, id, query, options) =>
      list(
        send,
        [MICROBLOG, { username }, "tweet", { id }, "history"],
        query,
        readBuckets,
        options,
      ),
  };
}

const readFollowers = ({ followers }: resources.FollowersPage) => followers.USER.metrics;

/** Lists tweets newest first. The parsed object lost this order: it puts keys such as `7` first. */
function listTweets({ tweets }: resources.TweetsPage) {
  return Object.entries(tweets).toSorted(
    ([idA, a], [idB, b]) => compareText(b.created_at, a.created_at) || compareText(idB, idA),
  );
}
