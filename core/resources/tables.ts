/** Response schemas of lists with chosen columns. `core/columns.ts` has the names. */
import * as Type from "@sinclair/typebox";
import { DAILY_VALUE_DAYS } from "../daily-values.ts";
import {
  ChannelName,
  Count,
  CursorPagination,
  Day,
  describe,
  InstantOrNull,
  strictObject,
  TextOrNull,
  Username,
} from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";
import { createKindFields } from "./kind-fields.ts";
import { createMetricSchemas } from "./metric-fields.ts";
import { UserList } from "./microblog.ts";
import { ChannelList } from "./video.ts";

const channel = createKindFields("channel");
const short = createKindFields("short");
const user = createKindFields("user");
const tweet = createKindFields("tweet");

const { id: channelId, ...channelAttributes } = channel.attributes;
const { id: shortId, channel: _channel, ...shortAttributes } = short.attributes;
const { username: _user, ...userAttributes } = user.attributes;
const { id: tweetId, username: _username, ...tweetAttributes } = tweet.attributes;

/** The value of a count on a day. */
export const DailyValue: ResourceSchemas["DailyValue"] = strictObject({
  day: describe(Day, "The UTC day"),
  value: describe(Count, "The newest known value of the day"),
});

/** The columns that rows of every kind can have at the end. */
const LAST_COLUMNS = {
  observedAt: describe(InstantOrNull, "The newest observation"),
  trend: Type.Array(DailyValue, {
    maxItems: DAILY_VALUE_DAYS,
    description:
      `The known values of the last ${DAILY_VALUE_DAYS} days up to the newest observation, oldest first, of ` +
      "subscribers, followers, views or impressions. A day without a known value is left out",
  }),
};

const OwnerDisplayName = describe(TextOrNull, "Display name of the channel or user");

/** Makes every field optional: a row has those that the request names. */
function makeOptional<Properties extends Type.TProperties>(properties: Properties) {
  const entries = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]);
  // `Object.fromEntries()` does not know the names.
  return Object.fromEntries(entries) as {
    [Name in keyof Properties]: Type.TOptional<Properties[Name]>;
  };
}

/** A channel with chosen columns. */
export const ChannelRow: ResourceSchemas["ChannelRow"] = strictObject({
  id: channelId,
  ...makeOptional({
    ...channelAttributes,
    ...channel.counts,
    ...createMetricSchemas("channel"),
    ...LAST_COLUMNS,
  }),
});

/** A user with chosen columns. */
export const UserRow: ResourceSchemas["UserRow"] = strictObject({
  username: Username,
  ...makeOptional({
    ...userAttributes,
    ...user.counts,
    ...createMetricSchemas("user"),
    ...LAST_COLUMNS,
  }),
});

/** A short with chosen columns. */
export const ShortRow: ResourceSchemas["ShortRow"] = strictObject({
  id: shortId,
  ...makeOptional({
    channel: ChannelName,
    displayName: OwnerDisplayName,
    ...shortAttributes,
    ...short.counts,
    ...createMetricSchemas("short"),
    ...LAST_COLUMNS,
  }),
});

/** A tweet with chosen columns. */
export const TweetRow: ResourceSchemas["TweetRow"] = strictObject({
  id: tweetId,
  ...makeOptional({
    username: Username,
    displayName: OwnerDisplayName,
    ...tweetAttributes,
    ...tweet.counts,
    ...createMetricSchemas("tweet"),
    ...LAST_COLUMNS,
  }),
});

/** A page of channels with chosen columns. */
export const ChannelTable: ResourceSchemas["ChannelTable"] = strictObject({
  channels: Type.Array(ChannelRow, { description: "The channels, with the columns of fields" }),
  pagination: CursorPagination,
});

/** A page of users with chosen columns. */
export const UserTable: ResourceSchemas["UserTable"] = strictObject({
  users: Type.Array(UserRow, { description: "The users, with the columns of fields" }),
  pagination: CursorPagination,
});

/** The response of `GET /api/video/shorts`. */
export const ShortTable: ResourceSchemas["ShortTable"] = strictObject({
  shorts: Type.Array(ShortRow, { description: "The shorts, with the columns of fields" }),
  pagination: CursorPagination,
});

/** The response of `GET /api/microblog/tweets`. */
export const TweetTable: ResourceSchemas["TweetTable"] = strictObject({
  tweets: Type.Array(TweetRow, { description: "The tweets, with the columns of fields" }),
  pagination: CursorPagination,
});

/** The response of `GET /api/video/channels`: with `fields`, rows of these columns. */
export const ChannelPage: ResourceSchemas["ChannelPage"] = Type.Union([ChannelList, ChannelTable]);

/** The response of `GET /api/microblog/users`: with `fields`, rows of these columns. */
export const UserPage: ResourceSchemas["UserPage"] = Type.Union([UserList, UserTable]);
