/**
 * What the operations have in common, and the schemas of their bodies. The OpenAPI document and the
 * types of Eden follow from it; reference.json has the texts and the examples.
 */
import { READ_COST } from "../reads/charge.ts";
import type reference from "./reference.json";
import type { SchemaName } from "./schemas.ts";

/** The name of an operation: `operationId` in the document. */
export type OperationId = keyof typeof reference.operations;

/** The parts of the API. Costs are in credits. */
export const API_PARTS = {
  Video: { cost: READ_COST, about: "Channels and shorts." },
  Microblog: { cost: READ_COST, about: "Users, tweets and followers." },
  Account: { cost: 0, about: "The account of the API key." },
  Creators: { cost: 0, about: "The monitoring list." },
  Operation: { cost: 0, about: "Health and metrics, without an API key." },
} as const;

/** What is known of an operation besides its route and its texts. */
export interface OperationFacts {
  readonly part: keyof typeof API_PARTS;
  /** The schema of the body of a request. */
  readonly body?: SchemaName;
  /** The schema of the response to a request that succeeds. */
  readonly result: SchemaName | "text";
  /** Of that response; 200 by default. */
  readonly status?: number;
}

export const OPERATIONS = {
  listChannels: { part: "Video", result: "ChannelList" },
  getChannel: { part: "Video", result: "ChannelDetails" },
  batchChannels: { part: "Video", body: "ChannelBatchRequest", result: "ChannelBatch" },
  listShorts: { part: "Video", result: "ShortsPage" },
  getShort: { part: "Video", result: "ShortDetails" },
  getChannelHistory: { part: "Video", result: "ChannelHistory" },
  compareChannels: { part: "Video", result: "ChannelComparison" },
  getShortHistory: { part: "Video", result: "ShortHistory" },
  listUsers: { part: "Microblog", result: "UserList" },
  getUser: { part: "Microblog", result: "UserDetails" },
  batchUsers: { part: "Microblog", body: "UserBatchRequest", result: "UserBatch" },
  listTweets: { part: "Microblog", result: "TweetsPage" },
  listFollowers: { part: "Microblog", result: "FollowersPage" },
  getTweet: { part: "Microblog", result: "TweetDetails" },
  getUserHistory: { part: "Microblog", result: "UserHistory" },
  compareUsers: { part: "Microblog", result: "UserComparison" },
  getTweetHistory: { part: "Microblog", result: "TweetHistory" },
  getAccount: { part: "Account", result: "AccountDetails" },
  listCreators: { part: "Creators", result: "CreatorList" },
  addCreator: { part: "Creators", body: "CreatorRequest", result: "CreatorResult", status: 201 },
  removeCreator: { part: "Creators", body: "CreatorRequest", result: "CreatorResult" },
  live: { part: "Operation", result: "Health" },
  ready: { part: "Operation", result: "Readiness" },
  metrics: { part: "Operation", result: "text" },
} as const satisfies Readonly<Record<OperationId, OperationFacts>>;

/** Whether a name is that of an operation. */
export function isOperationId(name: string): name is OperationId {
  return Object.hasOwn(OPERATIONS, name);
}
