/** Schemas of the lines of an import or export; text and link fields are optional. */
import * as Type from "@sinclair/typebox";
import type * as resources from "../resources/observations.ts";
import { IDENTIFIER_MAX_CHARACTERS, LINK_MAX_CHARACTERS, TEXT_MAX_CHARACTERS } from "../limits.ts";
import { INSTANT_PATTERN } from "../time.ts";
import { CountOrNull, nullable, type SchemaOf } from "./fields.ts";

const optionalCount = Type.Optional(CountOrNull);
const text = Type.Optional(nullable(Type.String({ maxLength: TEXT_MAX_CHARACTERS })));
const link = Type.Optional(nullable(Type.String({ maxLength: LINK_MAX_CHARACTERS })));
const identifier = Type.String({ minLength: 1, maxLength: IDENTIFIER_MAX_CHARACTERS });
const instant = Type.String({ pattern: INSTANT_PATTERN });
const optionalInstant = Type.Optional(nullable(instant));

export const ChannelObservation = Type.Object({
  kind: Type.Literal("channel"),
  observedAt: instant,
  id: identifier,
  username: text,
  displayName: text,
  description: text,
  subscribers: optionalCount,
  videoCount: optionalCount,
  viewCount: optionalCount,
  joinedAt: optionalInstant,
  country: text,
  thumbnail: link,
  bannerImage: link,
}) satisfies SchemaOf<resources.ChannelObservation>;

/** `channel` is the identifier of the channel. */
export const ShortObservation = Type.Object({
  kind: Type.Literal("short"),
  observedAt: instant,
  channel: identifier,
  id: identifier,
  title: text,
  description: text,
  publishedAt: optionalInstant,
  thumbnail: link,
  views: optionalCount,
  likes: optionalCount,
  comments: optionalCount,
  shares: optionalCount,
}) satisfies SchemaOf<resources.ShortObservation>;

export const UserObservation = Type.Object({
  kind: Type.Literal("user"),
  observedAt: instant,
  username: identifier,
  displayName: text,
  followers_count: optionalCount,
  following_count: optionalCount,
  tweet_count: optionalCount,
  description: text,
  profile_image_url: link,
  created_at: optionalInstant,
  verified: Type.Optional(nullable(Type.Boolean())),
}) satisfies SchemaOf<resources.UserObservation>;

export const TweetObservation = Type.Object({
  kind: Type.Literal("tweet"),
  observedAt: instant,
  username: identifier,
  id: identifier,
  text,
  created_at: optionalInstant,
  url: link,
  likes: optionalCount,
  retweets: optionalCount,
  replies: optionalCount,
  quotes: optionalCount,
  impressions: optionalCount,
}) satisfies SchemaOf<resources.TweetObservation>;

/** One line of an import or an export. */
export const ObservationLine = Type.Union([
  ChannelObservation,
  ShortObservation,
  UserObservation,
  TweetObservation,
]) satisfies SchemaOf<resources.ObservationLine>;
