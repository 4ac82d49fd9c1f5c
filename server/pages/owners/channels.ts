/** The requests of the pages of channels and shorts, and the fields that they show. */
import type { VideoClient } from "../../../core/client/mod.ts";
import { createPageSource } from "./page-source.ts";
import { PAGE_ITEMS, readComparison, readHistoryPage, type OwnerPages } from "./owner-pages.ts";

export const CHANNEL_PAGES: OwnerPages = {
  kind: "channel",
  path: "channels",
  itemKind: "short",
  itemPath: "shorts",
  listedCounts: ["subscribers", "videoCount"],
  roundedCount: "subscribers",
  hasCountry: true,
  emptyHint: "Import observations, or let the service collect some.",
  items: {
    counts: ["views", "likes", "comments"],
    emptyText: "No short of this channel was observed yet.",
    publishedLabel: "Published",
    hasTitles: true,
    hasLikes: false,
  },
  openList({ video }, query) {
    // The service checks the sort.
    const listing = video.channels(query as Parameters<VideoClient["channels"]>[0]);
    return createPageSource(listing, ({ channels, pagination }) => ({
      items: channels.map((channel) => ({
        id: channel.id,
        name: channel.displayName ?? channel.username ?? channel.id,
        username: channel.username,
        counts: channel,
      })),
      hasMore: pagination?.hasMore === true,
    }));
  },
  openItems: ({ video }, id) =>
    createPageSource(video.shorts(id, { limit: PAGE_ITEMS }), ({ shorts, pagination }) => ({
      items: shorts.map((short) => ({
        id: short.id,
        text: short.title,
        publishedAt: short.publishedAt,
        counts: short,
      })),
      hasMore: pagination.hasMore,
    })),
  openHistory: ({ video }, id, query) =>
    createPageSource(video.history(id, query), readHistoryPage),
  openItemHistory: ({ video }, [channel, id], query) =>
    createPageSource(video.shortHistory(channel, id, query), readHistoryPage),
  async read({ video }, name) {
    const { body } = await video.channel(name);
    const { id, username, displayName, joinedAt, description, country, statistics } = body;
    return {
      id,
      name: displayName ?? username ?? id,
      username: username ?? id,
      comparedName: username === null || username.includes(",") ? id : username,
      since: joinedAt,
      description,
      note: country,
      counts: body,
      gains: {
        daily: statistics.dailySubscriberGain,
        weekly: statistics.weeklySubscriberGain,
        monthly: statistics.monthlySubscriberGain,
      },
    };
  },
  async readItem({ video }, channel, id) {
    const { body } = await video.short(channel, id);
    return {
      id: body.id,
      title: body.title ?? body.id,
      text: body.description,
      publishedAt: body.publishedAt,
      counts: body.metrics,
      ownerLabel: "The channel",
    };
  },
  compare({ video }, names, query) {
    // The service checks the count.
    const listing = video.compare(names, query as Parameters<VideoClient["compare"]>[1]);
    return readComparison(listing, ({ channels }) =>
      channels.map((named) => ({ name: named.name, label: named.found ? named.channel : null })),
    );
  },
};
