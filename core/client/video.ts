/** The video part of the client: channels and their shorts. */
import type * as resources from "../resources/generated/types.ts";
import type { Listing } from "./listing.ts";
import type { RequestOptions } from "./options.ts";
import { createOwnerClient, type OwnerClient } from "./owners.ts";
import type { ChannelListQuery, HistoryQuery, ShortsQuery } from "./queries.ts";
import type { Send } from "./request.ts";
import { createRequests } from "./requests.ts";
import type { Result } from "./result.ts";

/** Reads channels and shorts. `channel` is an identifier, or a username in any case. */
export interface VideoClient extends OwnerClient<
  resources.ChannelHistory,
  resources.ChannelBatch,
  resources.ChannelComparison
> {
  /** Channels, sorted by a figure. */
  channels(
    query?: ChannelListQuery,
    options?: RequestOptions,
  ): Listing<resources.ListedChannel, resources.ChannelList>;
  /** All channels in one response. */
  allChannels(options?: RequestOptions): Promise<Result<resources.ChannelList>>;
  /** A channel, by identifier or username. */
  channel(channel: string, options?: RequestOptions): Promise<Result<resources.ChannelDetails>>;
  /** The shorts of a channel, newest first; `before` is an instant in ISO 8601. */
  shorts(
    channel: string,
    query?: ShortsQuery,
    options?: RequestOptions,
  ): Listing<resources.ShortSummary, resources.ShortsPage>;
  /** A short with its history. */
  short(
    channel: string,
    id: string,
    options?: RequestOptions,
  ): Promise<Result<resources.ShortDetails>>;
  /** The counts of a short over time, oldest first. */
  shortHistory(
    channel: string,
    id: string,
    query?: HistoryQuery,
    options?: RequestOptions,
  ): Listing<resources.ShortHistory["history"][number], resources.ShortHistory>;
}

/** A page is asked for by a parameter; without one, the response is the whole list. */
const PAGE_LIMIT = 100;

/** Creates the video part of a client. */
export function createVideoClient(send: Send): VideoClient {
  const requests = createRequests(send, "video");
  const { get, list } = requests;
  return {
    ...createOwnerClient(requests, "channel"),
    channels: (query, options) =>
      list(["channels"], query, (page) => page.channels, options, {
        defaults: { limit: PAGE_LIMIT },
      }),
    allChannels: (options) => get(["channels"], (body) => body.channels.length, options),
    channel: (channel, options) => get([{ channel }, "details"], (body) => body.id, options),
    shorts: (channel, query, options) =>
      list([{ channel }, "shorts"], query, (page) => page.shorts, options),
    short: (channel, id, options) =>
      get([{ channel }, "short", { id }], (body) => body.metrics, options),
    shortHistory: (channel, id, query, options) =>
      list([{ channel }, "short", { id }, "history"], query, (page) => page.history, options),
  };
}
