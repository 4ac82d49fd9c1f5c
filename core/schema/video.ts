/** Schemas of `/api/video`. */
import * as Type from "@sinclair/typebox";
import type * as resources from "../resources/video.ts";
import { GAIN_PERIOD_DAYS } from "../growth.ts";
import {
  CountChange,
  CursorPagination,
  strictObject,
  CountOrNull,
  createHistorySchema,
  Instant,
  InstantOrNull,
  LinkOrNull,
  nullable,
  TextOrNull,
} from "./fields.ts";
import type { ObjectSchema } from "./object-schema.ts";

/** An element of the list of channels. */
export const ChannelSummary: ObjectSchema<resources.ChannelSummary> = strictObject({
  id: Type.String(),
  username: TextOrNull,
  displayName: TextOrNull,
  subscribers: CountOrNull,
  videoCount: CountOrNull,
  thumbnail: LinkOrNull,
});

const ChangeOrNull = nullable(CountChange);

/** An element of a page of channels: a summary, and the figure that the page is sorted by. */
export const ListedChannel: ObjectSchema<resources.ListedChannel> = strictObject({
  ...ChannelSummary.properties,
  viewCount: Type.Optional(CountOrNull),
  dailyGain: Type.Optional(ChangeOrNull),
  weeklyGain: Type.Optional(ChangeOrNull),
  monthlyGain: Type.Optional(ChangeOrNull),
  dailyViews: Type.Optional(ChangeOrNull),
  weeklyViews: Type.Optional(ChangeOrNull),
  monthlyViews: Type.Optional(ChangeOrNull),
});

/** The response of `GET /api/video/channels`; a page of the list has `pagination`. */
export const ChannelList: ObjectSchema<resources.ChannelList> = strictObject({
  channels: Type.Array(ListedChannel),
  pagination: Type.Optional(CursorPagination),
});

const createGainSchema = (days: number) =>
  nullable(CountChange, {
    description:
      `The newest count minus the newest known count from ${days} to ${2 * days} days before ` +
      "it; null if there is none",
  });

/** The response of `GET /api/video/{channel}/details`. */
export const ChannelDetails: ObjectSchema<resources.ChannelDetails> = strictObject({
  id: Type.String(),
  username: TextOrNull,
  displayName: TextOrNull,
  description: TextOrNull,
  subscribers: CountOrNull,
  videoCount: CountOrNull,
  viewCount: CountOrNull,
  joinedAt: InstantOrNull,
  country: nullable(Type.String({ description: "Short country code" })),
  thumbnail: LinkOrNull,
  bannerImage: LinkOrNull,
  statistics: strictObject({
    dailySubscriberGain: createGainSchema(GAIN_PERIOD_DAYS.daily),
    weeklySubscriberGain: createGainSchema(GAIN_PERIOD_DAYS.weekly),
    monthlySubscriberGain: createGainSchema(GAIN_PERIOD_DAYS.monthly),
  }),
});

/** An element of a page of shorts. */
export const ShortSummary: ObjectSchema<resources.ShortSummary> = strictObject({
  id: Type.String(),
  title: TextOrNull,
  thumbnail: LinkOrNull,
  publishedAt: Instant,
  views: CountOrNull,
  likes: CountOrNull,
  comments: CountOrNull,
});

/** The response of `GET /api/video/{channel}/shorts`, newest first. */
export const ShortsPage: ObjectSchema<resources.ShortsPage> = strictObject({
  channel: Type.String({
    description: "The channel's username, or its identifier if no source reported a username",
  }),
  shorts: Type.Array(ShortSummary),
  pagination: CursorPagination,
});

/** The response of `GET /api/video/{channel}/short/{short_id}`. */
export const ShortDetails: ObjectSchema<resources.ShortDetails> = strictObject({
  id: Type.String(),
  title: TextOrNull,
  description: TextOrNull,
  publishedAt: Instant,
  metrics: strictObject({
    views: CountOrNull,
    likes: CountOrNull,
    comments: CountOrNull,
    shares: CountOrNull,
  }),
  history: createHistorySchema({ views: CountOrNull, likes: CountOrNull, comments: CountOrNull }),
});
