/** The video interface as the reference describes it. */
import { IDENTIFIER_MAX_CHARACTERS, SHORTS_LIMIT } from "../../../core/limits.ts";
import { INSTANT_PATTERN } from "../../../core/time.ts";
import {
  describeBadParameter,
  describeOperation,
  describePathParameter,
  describeQueryParameter,
  createIntegerSchema,
  type ErrorExample,
} from "./operation.ts";

const CHANNEL_PARAMETER = describePathParameter(
  "channel",
  "A channel's identifier, or its username regardless of case; an identifier wins.",
  "sevenminutesoup",
);

/** An instant of 11 digits at most, and of each character of an identifier a dash and 6 at most. */
const CURSOR_MAX_CHARACTERS = 11 + 7 * IDENTIFIER_MAX_CHARACTERS;

const BAD_CHANNEL = describeBadParameter("channel");

const CHANNEL_NOT_FOUND: ErrorExample = ["Channel Not Found", "Channel nobody not found"];

const common = { tag: "Video", isCharged: true } as const;

/** The operations of the video interface. */
export const VIDEO_OPERATIONS = {
  channels: describeOperation({
    ...common,
    id: "listChannels",
    path: "/api/video/channels",
    summary: "List the available channels",
    description: "Most subscribers first, unknown counts last, then by identifier. 1 credit.",
    success: {
      status: 200,
      description: "All channels",
      schema: "ChannelList",
      example: {
        channels: [
          {
            id: "CHxZLXZirny0A43jTP8k9y",
            username: "sevenminutesoup",
            displayName: "Seven Minute Soup",
            subscribers: 249_944,
            videoCount: 1816,
            thumbnail: "https://example.com/video/channels/sevenminutesoup/avatar.jpg",
          },
        ],
      },
    },
  }),

  channel: describeOperation({
    ...common,
    id: "getChannel",
    path: "/api/video/sevenminutesoup/details",
    summary: "Details of a channel",
    description:
      "A gain is the present count minus the newest known count that is at least N and at most " +
      "2N days older than the newest observation; null where there is none. 1 credit.",
    parameters: [CHANNEL_PARAMETER],
    success: {
      status: 200,
      description: "The channel",
      schema: "ChannelDetails",
      example: {
        id: "CHxZLXZirny0A43jTP8k9y",
        username: "sevenminutesoup",
        displayName: "Seven Minute Soup",
        description: "One pot, seven minutes, no excuses.\nNew soup every day. 🍲",
        subscribers: 249_944,
        videoCount: 1816,
        viewCount: 151_156_567,
        joinedAt: "2019-02-11T17:20:05.000Z",
        country: "IE",
        thumbnail: "https://example.com/video/channels/sevenminutesoup/avatar.jpg",
        bannerImage: "https://example.com/video/channels/sevenminutesoup/banner.jpg",
        statistics: {
          dailySubscriberGain: 115,
          weeklySubscriberGain: 1910,
          monthlySubscriberGain: 2431,
        },
      },
    },
    errors: [BAD_CHANNEL, CHANNEL_NOT_FOUND],
  }),

  shorts: describeOperation({
    ...common,
    id: "listShorts",
    path: "/api/video/sevenminutesoup/shorts",
    summary: "Shorts of a channel",
    description:
      "Newest first, by publishedAt, then identifier. While hasMore is true, send nextCursor " +
      "back as cursor, or follow the Link header: the next page continues exactly after this " +
      "one, whatever is published in between. 1 credit.",
    parameters: [
      CHANNEL_PARAMETER,
      describeQueryParameter(
        "limit",
        "Maximum shorts returned.",
        createIntegerSchema(SHORTS_LIMIT),
      ),
      describeQueryParameter(
        "before",
        "Only shorts published before this date (midnight UTC) or date-time (no zone means UTC).",
        { type: "string", pattern: INSTANT_PATTERN },
      ),
      describeQueryParameter("cursor", "The nextCursor of the page before; combines with before.", {
        type: "string",
        minLength: 1,
        maxLength: CURSOR_MAX_CHARACTERS,
      }),
    ],
    success: {
      status: 200,
      description: "A page of shorts",
      schema: "ShortsPage",
      headers: ["Link"],
      example: {
        channel: "sevenminutesoup",
        shorts: [
          {
            id: "OtAdvfkapEY",
            title: "Late-night pumpkin soup",
            thumbnail: "https://example.com/video/shorts/OtAdvfkapEY/cover.jpg",
            publishedAt: "2026-11-20T13:42:39.000Z",
            views: 15_870,
            likes: 480,
            comments: 28,
          },
        ],
        pagination: {
          hasMore: true,
          nextCursor: "mo7x6b4bc-4f-74-41-64-76-66-6b-61-70-45-59",
        },
      },
    },
    errors: [
      ["Invalid Request", 'limit must be a whole number from 1 to 100, got "0"'],
      CHANNEL_NOT_FOUND,
    ],
  }),

  short: describeOperation({
    ...common,
    id: "getShort",
    path: "/api/video/sevenminutesoup/short/u7s9Y0J4Nnm",
    summary: "Details of a short",
    description: "With its history, oldest first. 1 credit.",
    parameters: [
      CHANNEL_PARAMETER,
      describePathParameter("short_id", "The short's identifier.", "u7s9Y0J4Nnm"),
    ],
    success: {
      status: 200,
      description: "The short",
      schema: "ShortDetails",
      headers: ["X-History-Thinned"],
      example: {
        id: "u7s9Y0J4Nnm",
        title: "One pot, one spoon: red lentil soup | no blender",
        description:
          "One pot, one spoon: red lentil soup | no blender\n\n#soup #onepot #shorts #cooking",
        publishedAt: "2024-01-01T15:34:18.000Z",
        metrics: { views: 53_558, likes: 3964, comments: 306, shares: 138 },
        history: [
          { timestamp: "2026-11-20T02:01:49.739Z", views: 53_558, likes: 3964, comments: 306 },
          { timestamp: "2026-11-21T02:01:49.739Z", views: 53_558, likes: 3964, comments: 306 },
        ],
      },
    },
    errors: [
      BAD_CHANNEL,
      CHANNEL_NOT_FOUND,
      ["Short Not Found", "Short nothing not found for channel sevenminutesoup"],
    ],
  }),
};
