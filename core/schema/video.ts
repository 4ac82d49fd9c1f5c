/** The resources and pages of the video interface. */
import { Type, type Static } from "@sinclair/typebox";
import {
  CountChange,
  strictObject,
  CountOrNull,
  Instant,
  InstantOrNull,
  LinkOrNull,
  nullable,
  TextOrNull,
} from "./fields.ts";

/** An element of the list of channels. */
export const ChannelSummary = strictObject({
  id: Type.String(),
  username: TextOrNull,
  displayName: TextOrNull,
  subscribers: CountOrNull,
  videoCount: CountOrNull,
  thumbnail: LinkOrNull,
});
export type ChannelSummary = Static<typeof ChannelSummary>;

/** The answer of `GET /api/video/channels`: most subscribers first. */
export const ChannelList = strictObject({ channels: Type.Array(ChannelSummary) });
export type ChannelList = Static<typeof ChannelList>;

const createGainSchema = (days: number) =>
  nullable(CountChange, {
    description:
      `The present count minus the newest known count from ${days} to ${2 * days} days ` +
      "before it; null where there is none",
  });

/** The answer of `GET /api/video/{channel}/details`. */
export const ChannelDetails = strictObject({
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
    dailySubscriberGain: createGainSchema(1),
    weeklySubscriberGain: createGainSchema(7),
    monthlySubscriberGain: createGainSchema(30),
  }),
});
export type ChannelDetails = Static<typeof ChannelDetails>;

/** An element of a page of shorts. */
export const ShortSummary = strictObject({
  id: Type.String(),
  title: TextOrNull,
  thumbnail: LinkOrNull,
  publishedAt: Instant,
  views: CountOrNull,
  likes: CountOrNull,
  comments: CountOrNull,
});
export type ShortSummary = Static<typeof ShortSummary>;

/** The answer of `GET /api/video/{channel}/shorts`: newest first. */
export const ShortsPage = strictObject({
  channel: Type.String({
    description: "The channel's username, or its identifier where no source gave a username",
  }),
  shorts: Type.Array(ShortSummary),
  pagination: strictObject({
    hasMore: Type.Boolean(),
    nextCursor: nullable(
      Type.String({ description: "Send it back as `cursor`; null when hasMore is false" }),
    ),
  }),
});
export type ShortsPage = Static<typeof ShortsPage>;

/** The answer of `GET /api/video/{channel}/short/{short_id}`. */
export const ShortDetails = strictObject({
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
  history: Type.Array(
    strictObject({
      timestamp: Instant,
      views: CountOrNull,
      likes: CountOrNull,
      comments: CountOrNull,
    }),
    { description: "Oldest first" },
  ),
});
export type ShortDetails = Static<typeof ShortDetails>;
