/**
 * The operations of the API: what a client reads about each, and the schemas of its query, body and
 * result. `describeOperation()` derives the rest. `examples.json` has the examples and errors.
 */
import type { TObject } from "@sinclair/typebox";
import { PRICES } from "../reads/charge.ts";
import { USAGE_DAYS } from "../usage-days.ts";
import type { HeaderName } from "./headers.ts";
import { PageQuery, ShortsQuery, UsageQuery } from "./parameters.ts";
import type { SchemaName } from "./schemas.ts";

/** What cannot be derived about an operation. */
export interface OperationDeclaration {
  readonly summary: string;
  readonly description: string;
  readonly query?: TObject;
  readonly body?: SchemaName;
  readonly result: {
    readonly schema: SchemaName | "text";
    readonly description: string;
    /** 200 by default. */
    readonly status?: number;
    /** Headers that not every operation has. */
    readonly headers?: readonly HeaderName[];
  };
}

/** The parts of the API: a path belongs to the first whose prefix it has. Costs are in credits. */
export const API_PARTS = [
  { tag: "Video", prefix: "/api/video/", cost: PRICES.video, about: "Channels and shorts." },
  {
    tag: "Microblog",
    prefix: "/api/microblog/",
    cost: PRICES.microblog,
    about: "Users, tweets and followers.",
  },
  { tag: "Account", prefix: "/api/account", cost: 0, about: "The account of the API key." },
  { tag: "Creators", prefix: "/api/creators", cost: 0, about: "The monitoring list." },
  { tag: "Operation", prefix: "/", cost: 0, about: "Health and metrics, without an API key." },
];

/** What an operation of a part costs, for people. */
export function describePrice(cost: number): string {
  if (cost === 0) return "Free.";
  return cost === 1 ? "1 credit." : `${cost} credits.`;
}

/** The operations by `operationId`, with which each route names its own. */
export const OPERATIONS: Readonly<Record<string, OperationDeclaration>> = {
  listChannels: {
    summary: "List the available channels",
    description: "Most subscribers first, unknown counts last, then by identifier.",
    result: { schema: "ChannelList", description: "All channels" },
  },
  getChannel: {
    summary: "Details of a channel",
    description:
      "A gain is the present count minus the newest known count that is at least N and at most " +
      "2N days older than the newest observation; null if there is none.",
    result: { schema: "ChannelDetails", description: "The channel" },
  },
  listShorts: {
    summary: "Shorts of a channel",
    description:
      "Newest first, by publishedAt, then identifier. While hasMore is true, send nextCursor as " +
      "cursor, or follow the Link header: the next page continues exactly after this one, " +
      "whatever is published in between.",
    query: ShortsQuery,
    result: { schema: "ShortsPage", description: "A page of shorts", headers: ["Link"] },
  },
  getShort: {
    summary: "Details of a short",
    description: "With its history, oldest first.",
    result: { schema: "ShortDetails", description: "The short", headers: ["X-History-Thinned"] },
  },

  getUser: {
    summary: "Details of a user",
    description: "A user is known once the user or one of the user's tweets was observed.",
    result: { schema: "UserDetails", description: "The user" },
  },
  listTweets: {
    summary: "Latest tweets of a user",
    description:
      "The tweets created within the last days, newest first, by created_at, then identifier. " +
      "Each has all its observations, oldest first.",
    query: PageQuery,
    result: {
      schema: "TweetsPage",
      description: "A page of tweets",
      headers: ["X-History-Thinned"],
    },
  },
  listFollowers: {
    summary: "Follower counts and growth of a user",
    description:
      "The known counts of the last days, newest first. A change is the difference from the " +
      "previous known count, 0 for the first ever.",
    query: PageQuery,
    result: { schema: "FollowersPage", description: "A page of follower counts" },
  },
  getTweet: {
    summary: "Metrics of a tweet",
    description: "With its history, oldest first.",
    result: { schema: "TweetDetails", description: "The tweet", headers: ["X-History-Thinned"] },
  },

  getAccount: {
    summary: "The account of the API key",
    description: `Its balance, and its usage on each of up to ${USAGE_DAYS.max} days.`,
    query: UsageQuery,
    result: { schema: "AccountDetails", description: "The account" },
  },

  listCreators: {
    summary: "The monitoring list",
    description:
      "By platform and username, with the state of each creator's collection: profile and tweets " +
      "together.",
    result: { schema: "CreatorList", description: "The list" },
  },
  addCreator: {
    summary: "Add a creator",
    description: "A creator is a platform and a username, whose case does not matter.",
    body: "CreatorRequest",
    result: { schema: "CreatorResult", description: "The creator was added", status: 201 },
  },
  removeCreator: {
    summary: "Remove a creator",
    description: "Its collection stops. What was collected stays.",
    body: "CreatorRequest",
    result: { schema: "CreatorResult", description: "The creator was removed" },
  },

  live: {
    summary: "Whether the process is alive",
    description: "200 as long as the process answers at all.",
    result: { schema: "Health", description: "It is alive" },
  },
  ready: {
    summary: "Whether the service is ready",
    description:
      "200 if the database answers and can be written, else 503, within a second; also 503 while " +
      "the service stops. A source of observations that fails or is stopped is listed with the " +
      "reason and the start; it does not make the service unready.",
    result: { schema: "Readiness", description: "It is ready" },
  },
  metrics: {
    summary: "Metrics of the service",
    description: "In Prometheus' text format, from memory: also while the database is away.",
    result: { schema: "text", description: "The metrics" },
  },
};
