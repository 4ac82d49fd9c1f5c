/** The video part of the client: channels and their shorts. */
import type * as resources from "../resources/generated/types.ts";
import { list } from "./listing.ts";
import {
  createOwnerClient,
  read,
  readBuckets,
  type ChannelListQuery,
  type HistoryMethod,
  type OwnerClient,
  type ReadMethod,
  type ListMethod,
  type ShortsQuery,
} from "./methods.ts";
import type { Send } from "./request.ts";

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

/** A page is asked for by a parameter; without one, the response is the whole list. */
const PAGE_LIMIT = 100;

const ROOT = "api/video";

/** Creates the video part of a client. */
export function createVideoClient(send: Send): VideoClient {
  return {
    ...createOwnerClient(send, ROOT, "channel"),
    channels: (query, options) =>
      list(send, [ROOT, "channels"], query, (page) => page.channels, options, {
        limit: PAGE_LIMIT,
      }),
    allChannels: (options) =>
      read(send, [ROOT, "channels"], (body) => body.channels.length, options),
    channel: (channel, options) =>
      read(send, [ROOT, { channel }, "details"], (body) => body.id, options),
    shorts: (channel, query, options) =>
      list(send, [ROOT, { channel }, "shorts"], query, (page) => page.shorts, options),
    short: (channel, id, options) =>
      read(send, [ROOT, { channel }, "short", { id }], (body) => body.metrics, options),
    shortHistory: (channel, id, query, options) =>
      list(send, [ROOT, { channel }, "short", { id }, "history"], query, readBuckets, options),
  };
}
