/** Reads channels and shorts from memory. */
import {
  compareShortPositions,
  computeEntityGains,
  createChannelDetails,
  createChannelList,
  createChannelNotFoundError,
  createComparisonTable,
  createFieldReader,
  createHistoryPage,
  createShortDetails,
  createShortNotFoundError,
  createShortSummary,
  findChannel,
  pageAfter,
  readChannelFields,
  readShortFields,
  type ShortFields,
  type VideoStore,
} from "@creator-metrics/core";
import { listPoints, type Entities } from "./observations.ts";

export function createVideoStore(entities: Entities): VideoStore {
  const listChannels = () =>
    Array.from(entities.channel, ([id, entity]) => {
      const fields = readChannelFields(id, entity);
      const observedAt = createFieldReader(entity).observedAt ?? 0;
      const gains = computeEntityGains("channel", entity);
      return { id, username: fields.username, observedAt, fields, gains };
    });

  function getChannel(name: string) {
    const channel = findChannel(name, listChannels());
    if (channel === undefined) throw createChannelNotFoundError(name);
    const { id, username, fields, gains } = channel;
    return { id, name: username ?? id, details: createChannelDetails(fields, gains) };
  }

  function findShort(channelId: string, id: string): ShortFields | undefined {
    const entity = entities.short.get(id);
    if (entity?.attributes["channel"]?.value !== channelId) return undefined;
    return readShortFields(id, entity);
  }

  function getShort(name: string, id: string) {
    const channel = getChannel(name);
    const short = findShort(channel.id, id);
    if (short === undefined) throw createShortNotFoundError(name, id);
    return { channel: channel.name, short, points: listPoints(entities, "short", id) };
  }

  function tryChannel(name: string) {
    return findChannel(name, listChannels()) === undefined
      ? createChannelNotFoundError(name)
      : getChannel(name);
  }

  return {
    async channels() {
      const channels = listChannels();
      const request = { sort: "subscribers", order: "desc", limit: channels.length + 1 } as const;
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
      const shorts = Array.from(entities.short.keys())
        .flatMap((id) => findShort(channel.id, id) ?? [])
        .toSorted(compareShortPositions);
      const { items, hasMore, nextCursor } = pageAfter(shorts, request);
      const pagination = { hasMore, nextCursor };
      return { body: { channel: channel.name, shorts: items.map(createShortSummary), pagination } };
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
