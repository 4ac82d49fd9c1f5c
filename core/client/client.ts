/** The client of the service: its interface, and the request that each of its methods sends. */
import type * as resources from "../resources/generated/types.ts";
import { compareText } from "../text.ts";
import { list } from "./listing.ts";
import { createOwnerClient, readBatch, readBuckets, readRows } from "./named-reads.ts";
import type { ReadMethod } from "./methods.ts";
import type { MicroblogClient, VideoClient } from "./client-reads.ts";
import type { Result } from "./attempt.ts";
import { assertAllowed, type ClientOptions, type RequestOptions } from "./options.ts";
import { createListsClient, type ListsClient } from "./lists.ts";
import { createSend, type PathSegment, type Send } from "./request.ts";

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
  /** Saved lists of channels and users. Free of charge. */
  readonly lists: ListsClient;
  /** All metrics by name, with unit, formula, window and limits. Free of charge. */
  metrics: ReadMethod<[], resources.MetricList>;
  /** The account of the key: its balance and its usage. Free of charge. */
  account: ReadMethod<
    [
      query?: {
        readonly from?: string | undefined;
        readonly to?: string | undefined;
        readonly zone?: string | undefined;
        readonly by?: string | undefined;
      },
    ],
    resources.AccountDetails
  >;
  /**
   * Replaces the key by a new one, which only this response has. The old key stays valid for the
   * overlap: `0`, or a duration such as `12h`; 24 hours by default. Free of charge.
   */
  rotateKey: (overlap?: string, options?: RequestOptions) => Promise<Result<resources.RotatedKey>>;
}

/**
 * Creates a client.
 *
 * @throws {RangeError} For an option that is not allowed.
 *
 * @example
 * const client = createClient({ baseUrl: "http://127.0.0.1:3000", apiKey: "cm_..." });
 * Object.keys(client); // ["video", "microblog", "creators", "lists", "metrics", "account", "rotateKey"]
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
    lists: createListsClient(send),
    metrics: (options) => read(send, ["api/metrics"], (body) => body.metrics.length, options),
    account: (query, options) =>
      send({ method: "GET", path: ["api/account"], query, probe: (body) => body.balance }, options),
    rotateKey: rotateKey.bind(null, send),
  };
}

async function rotateKey(
  send: Send,
  overlap?: string,
  options?: RequestOptions,
): Promise<Result<resources.RotatedKey>> {
  const isOverlap = overlap === undefined || typeof overlap === "string";
  assertAllowed("overlap", overlap, isOverlap, "text");
  const path = ["api/account/keys/rotate"];
  const body = { overlap };
  const probe = ({ key }: resources.RotatedKey) => key;
  return send({ method: "POST", path, body, isChange: true, probe }, options);
}

const read = <Body>(
  send: Send,
  path: readonly PathSegment[],
  probe: (body: Body) => unknown,
  options?: RequestOptions,
): Promise<Result<Body>> => send({ method: "GET", path, probe }, options);

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
    channelTable: (fields, query, options) =>
      list(send, [VIDEO, "channels"], query, (page) => page.channels, options, { fields }),
    allChannels: (options) =>
      read(send, [VIDEO, "channels"], (body) => body.channels.length, options),
    channel: (channel, options) =>
      read(send, [VIDEO, { channel }, "details"], (body) => body.id, options),
    shorts: (channel, query, options) =>
      list(send, [VIDEO, { channel }, "shorts"], query, (page) => page.shorts, options),
    shortTable: (query, options) =>
      list(send, [VIDEO, "shorts"], query, (page) => page.shorts, options),
    shortDetails: (ids, options) => readBatch(send, [VIDEO, "shorts"], ids, options),
    compareShorts: (ids, query, options) =>
      list(send, [VIDEO, "compare-shorts"], query, readRows, options, { ids }),
    short: (channel, id, options) =>
      read(send, [VIDEO, { channel }, "short", { id }], (body) => body.metrics, options),
    shortHistory: (channel, id, query, options) =>
      list(send, [VIDEO, { channel }, "short", { id }, "history"], query, readBuckets, options),
    metrics: (channel, options) =>
      read(send, [VIDEO, { channel }, "metrics"], (body) => body.metrics, options),
    shortMetrics: (channel, id, options) =>
      read(send, [VIDEO, { channel }, "short", { id }, "metrics"], (body) => body.metrics, options),
  };
}

const MICROBLOG = "api/microblog";

function createMicroblogClient(send: Send): MicroblogClient {
  return {
    ...createOwnerClient(send, MICROBLOG, "username"),
    users: (query, options) =>
      list(send, [MICROBLOG, "users"], query, (page) => page.users, options),
    userTable: (fields, query, options) =>
      list(send, [MICROBLOG, "users"], query, (page) => page.users, options, { fields }),
    user: (username, options) =>
      read(send, [MICROBLOG, { username }, "details"], (body) => body.username, options),
    tweets: (username, query, options) =>
      list(send, [MICROBLOG, { username }, "tweets"], query, listTweets, options),
    followers: (username, query, options) =>
      list(send, [MICROBLOG, { username }, "followers"], query, readFollowers, options),
    tweetTable: (query, options) =>
      list(send, [MICROBLOG, "tweets"], query, (page) => page.tweets, options),
    tweetDetails: (ids, options) => readBatch(send, [MICROBLOG, "tweets"], ids, options),
    compareTweets: (ids, query, options) =>
      list(send, [MICROBLOG, "compare-tweets"], query, readRows, options, { ids }),
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
    metrics: (username, options) =>
      read(send, [MICROBLOG, { username }, "metrics"], (body) => body.metrics, options),
    tweetMetrics: (username, id, options) =>
      read(
        send,
        [MICROBLOG, { username }, "tweet", { id }, "metrics"],
        (body) => body.metrics,
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
