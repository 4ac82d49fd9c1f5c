/** Response schemas of `/api/video`. `owners.ts` has histories, batches and comparisons. */
import * as Type from "@sinclair/typebox";
import { GAIN_PERIOD_DAYS } from "../growth.ts";
import {
  ChannelName,
  CountChange,
  createHistorySchema,
  CursorPagination,
  describe,
  Instant,
  nullable,
  strictObject,
} from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";
import { createGainSchemas, createKindFields } from "./kind-fields.ts";

const { attributes, counts } = createKindFields("channel");
const short = createKindFields("short");

/** A channel in the list of channels. */
export const ChannelSummary: ResourceSchemas["ChannelSummary"] = strictObject({
  id: attributes.id,
  username: attributes.username,
  displayName: attributes.displayName,
  subscribers: counts.subscribers,
  videoCount: counts.videoCount,
  thumbnail: attributes.thumbnail,
});

/** A channel in a page of channels: a summary, and the figure that the page is sorted by. */
export const ListedChannel: ResourceSchemas["ListedChannel"] = strictObject({
  ...ChannelSummary.properties,
  viewCount: Type.Optional(counts.viewCount),
  ...createGainSchemas("channel"),
});

/** The response of `GET /api/video/channels`; a page of the list has `pagination`. */
export const ChannelList: ResourceSchemas["ChannelList"] = strictObject({
  channels: Type.Array(ListedChannel, { description: "The channels" }),
  pagination: Type.Optional(CursorPagination),
});

const createGainSchema = (days: number) =>
  nullable(CountChange, {
    description:
      `The newest count minus the newest known count from ${days} to ${2 * days} days before ` +
      "it; null if there is none",
  });

/** The response of `GET /api/video/{channel}/details`. */
export const ChannelDetails: ResourceSchemas["ChannelDetails"] = strictObject({
  id: attributes.id,
  username: attributes.username,
  displayName: attributes.displayName,
  description: attributes.description,
  ...counts,
  joinedAt: attributes.joinedAt,
  country: attributes.country,
  thumbnail: attributes.thumbnail,
  bannerImage: attributes.bannerImage,
  statistics: strictObject(
    {
      dailySubscriberGain: createGainSchema(GAIN_PERIOD_DAYS.daily),
      weeklySubscriberGain: createGainSchema(GAIN_PERIOD_DAYS.weekly),
      monthlySubscriberGain: createGainSchema(GAIN_PERIOD_DAYS.monthly),
    },
    { description: "Gains of subscribers" },
  ),
});

const publishedAt = describe(Instant, "When the short was published");
const { views, likes, comments } = short.counts;

/** A short in a page of shorts. */
export const ShortSummary: ResourceSchemas["ShortSummary"] = strictObject({
  id: short.attributes.id,
  title: short.attributes.title,
  thumbnail: short.attributes.thumbnail,
  publishedAt,
  views,
  likes,
  comments,
});

/** The response of `GET /api/video/{channel}/shorts`, newest first. */
export const ShortsPage: ResourceSchemas["ShortsPage"] = strictObject({
  channel: ChannelName,
  shorts: Type.Array(ShortSummary, { description: "The shorts" }),
  pagination: CursorPagination,
});

/** The response of `GET /api/video/{channel}/short/{short_id}`. */
export const ShortDetails: ResourceSchemas["ShortDetails"] = strictObject({
  id: short.attributes.id,
  title: short.attributes.title,
  description: short.attributes.description,
  publishedAt,
  metrics: strictObject(short.counts, { description: "The newest counts" }),
  history: createHistorySchema({ views, likes, comments }),
});
