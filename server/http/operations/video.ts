/** The video interface as the reference describes it. */
import { IDENTIFIER_MAX_CHARACTERS, SHORTS_LIMIT } from "../../../core/limits.ts";
import { INSTANT_PATTERN } from "../../../core/time.ts";
import {
  badParameter,
  describe,
  pathParameter,
  queryParameter,
  wholeNumber,
  type ErrorExample,
} from "./describe.ts";

const CHANNEL = pathParameter(
  "channel",
  "A channel's identifier, or its username regardless of case; an identifier wins.",
  "sevenminutesoup",
);

/** An instant of 11 digits at most, and of each character of an identifier a dash and 6 at most. */
const CURSOR_MAX_CHARACTERS = 11 + 7 * IDENTIFIER_MAX_CHARACTERS;

const BAD_PATH = badParameter("channel");

const NO_CHANNEL: ErrorExample = ["Channel Not Found", "Channel nobody not found"];

const common = { tag: "Video", isCharged: true } as const;

/** The operations of the video interface. */
export const VIDEO_OPERATIONS = {
  channels: describe({
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
            id: "UC_x5XG1OV2P6uZZ5FSM9Ttw",
            username: "sevenminutesoup",
            displayName: "Seven Minute Soup",
            subscribers: 184_300,
            videoCount: 412,
            thumbnail: "https://example.com/channels/soup.jpg",
          },
        ],
      },
    },
  }),

  channel: describe({
    ...common,
    id: "getChannel",
    path: "/api/video/sevenminutesoup/details",
    summary: "Details of a channel",
    description:
      "A gain is the present count minus the newest known count that is at least N and at most " +
      "2N days older than the newest observation; null where there is none. 1 credit.",
    parameters: [CHANNEL],
    success: {
      status: 200,
      description: "The channel",
      schema: "ChannelDetails",
      example: {
        id: "UC_x5XG1OV2P6uZZ5FSM9Ttw",
        username: "sevenminutesoup",
        displayName: "Seven Minute Soup",
        description: "One soup, seven minutes.",
        subscribers: 184_300,
        videoCount: 412,
        viewCount: 21_904_113,
        joinedAt: "2019-03-02T10:00:00.000Z",
        country: "NZ",
        thumbnail: "https://example.com/channels/soup.jpg",
        bannerImage: null,
        statistics: {
          dailySubscriberGain: 120,
          weeklySubscriberGain: 930,
          monthlySubscriberGain: -40,
        },
      },
    },
    errors: [BAD_PATH, NO_CHANNEL],
  }),

  shorts: describe({
    ...common,
    id: "listShorts",
    path: "/api/video/sevenminutesoup/shorts",
    summary: "Shorts of a channel",
    description:
      "Newest first, by publishedAt, then identifier. While hasMore is true, send nextCursor " +
      "back as cursor, or follow the Link header: the next page continues exactly after this " +
      "one, whatever is published in between. 1 credit.",
    parameters: [
      CHANNEL,
      queryParameter("limit", "Maximum shorts returned.", wholeNumber(SHORTS_LIMIT)),
      queryParameter(
        "before",
        "Only shorts published before this date (midnight UTC) or date-time (no zone means UTC).",
        { type: "string", pattern: INSTANT_PATTERN },
      ),
      queryParameter("cursor", "The nextCursor of the page before; combines with before.", {
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
            id: "-aB9_xYz012",
            title: "Leek and lime",
            thumbnail: "https://example.com/shorts/-aB9_xYz012.jpg",
            publishedAt: "2026-11-20T08:15:30.000Z",
            views: 10_412,
            likes: null,
            comments: 17,
          },
        ],
        pagination: { hasMore: true, nextCursor: "mwp4tk9n-2d-61-42" },
      },
    },
    errors: [
      ["Invalid Request", 'limit must be a whole number from 1 to 100, got "0"'],
      NO_CHANNEL,
    ],
  }),

  short: describe({
    ...common,
    id: "getShort",
    path: "/api/video/sevenminutesoup/short/-aB9_xYz012",
    summary: "Details of a short",
    description: "With its history, oldest first. 1 credit.",
    parameters: [CHANNEL, pathParameter("short_id", "The short's identifier.", "-aB9_xYz012")],
    success: {
      status: 200,
      description: "The short",
      schema: "ShortDetails",
      headers: ["X-History-Thinned"],
      example: {
        id: "-aB9_xYz012",
        title: "Leek and lime",
        description: null,
        publishedAt: "2026-11-20T08:15:30.000Z",
        metrics: { views: 10_412, likes: null, comments: 17, shares: null },
        history: [
          { timestamp: "2026-11-20T09:00:00.000Z", views: 950, likes: null, comments: 2 },
          { timestamp: "2026-11-20T10:00:00.000Z", views: 10_412, likes: null, comments: 17 },
        ],
      },
    },
    errors: [
      BAD_PATH,
      NO_CHANNEL,
      ["Short Not Found", "Short nothing not found for channel sevenminutesoup"],
    ],
  }),
};
