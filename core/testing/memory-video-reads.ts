/** Reads channels and shorts from memory. */
import { findChannel } from "../channels.ts";
import { findNewestCounts } from "../entities.ts";
import { createNotFoundError } from "../errors.ts";
import { computeEntityGains } from "../growth.ts";
import { readFields } from "../responses/entity-fields.ts";
import { createComparisonTable, createHistoryPage } from "../responses/histories.ts";
import { createChannelList } from "../responses/lists.ts";
import {
  createChannelDetails,
  createShortDetails,
  createShortsPage,
  type ShortFields,
} from "../responses/video.ts";
import type { VideoStore } from "../stores.ts";
import { listPoints, type Entities } from "./memory-observations.ts";

/** Finds channels and their shorts. */
function createChannelFinder(entities: Entities) {
  const listChannels = () =>
    Array.from(entities.channel, ([id, entity]) => {
      const fields = readFields("channel", id, entity);
      const observedAt = findNewestCounts(entity)?.at ?? 0;
      const gains = computeEntityGains("channel", entity);
      return { id, username: fields.username, observedAt, fields, gains };
    });

  function getChannel(name: string) {
    const channel = findChannel(name, listChannels());
    if (channel === undefined) throw createNotFoundError("channel", name);
    const { id, username, fields, gains } = channel;
    return { id, name: username ?? id, details: createChannelDetails(fields, gains) };
  }

  function findShort(channelId: string, id: string): ShortFields | undefined {
    const entity = entities.short.get(id);
    if (entity?.attributes["channel"]?.value !== channelId) return undefined;
    const { publishedAt, ...fields } = readFields("short", id, entity);
    // A short is listed once its instant of publication is known.
    return publishedAt === null ? undefined : { ...fields, publishedAt };
  }

  function getShort(name: string, id: string) {
    const channel = getChannel(name);
    const short = findShort(channel.id, id);
    if (short === undefined) throw createNotFoundError("short", name, id);
    return { channel: channel.name, short, points: listPoints(entities, "short", id) };
  }

  function tryChannel(name: string) {
    return findChannel(name, listChannels()) === undefined
      ? createNotFoundError("channel", name)
      : getChannel(name);
  }

  return { listChannels, getChannel, tryChannel, findShort, getShort };
}

/** Creates the reads of channels and shorts. */
export function createVideoReads(entities: Entities): VideoStore {
  const { listChannels, getChannel, tryChannel, findShort, getShort } =
    createChannelFinder(entities);
  return {
    async channels() {
      const channels = listChannels();
      const list = { kind: "channel", sort: "subscribers", order: "desc" } as const;
      const request = { ...list, limit: channels.length + 1 };
      return { body: { channels: createChannelList(channels, request).channels } };
    },
    channelPage: async (request) => ({ body: createChannelList(listChannels(), request) }),
    channel: async (name) => ({ body: getChannel(name).details }),
    async channelBatch(names) {
      const found = names.map(tryChannel);
      return found.map((channel) => ("details" in channel ? channel.details : channel));
    },
    async channelComparison(request) {
      const found = request.names.map(tryChannel);
      const histories = found.map((channel) =>
        "id" in channel ? listPoints(entities, "channel", channel.id) : [],
      );
      const table = createComparisonTable(histories, request.countIndex, request);
      const { rows, pagination } = table;
      const names = found.map((channel) => ("id" in channel ? channel.name : channel));
      return { body: { entities: names, rows, pagination } };
    },
    async shorts(name, request) {
      const channel = getChannel(name);
      const ids = Array.from(entities.short.keys());
      const shorts = ids.flatMap((id) => findShort(channel.id, id) ?? []);
      return { body: createShortsPage(channel.name, shorts, request) };
    },
    async short(name, id) {
      const { short, points } = getShort(name, id);
      return { body: createShortDetails(short, points) };
    },
    async channelHistory(name, request) {
      const channel = getChannel(name);
      const points = listPoints(entities, "channel", channel.id);
      return { body: { channel: channel.name, ...createHistoryPage("channel", points, request) } };
    },
    async shortHistory(name, id, request) {
      const { channel, points } = getShort(name, id);
      const page = createHistoryPage("short", points, request);
      return { body: { channel, short_id: id, ...page } };
    },
  };
}
