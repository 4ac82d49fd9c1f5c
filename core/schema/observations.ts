/** Schemas of the lines of an import or export; text and link fields are optional. */
import * as Type from "@sinclair/typebox";
import type * as resources from "../resources/observations.ts";
import { LINK_MAX_CHARACTERS, TEXT_MAX_CHARACTERS } from "../limits.ts";
import { CountOrNull, nullable, openObject } from "./fields.ts";
import type { ObjectSchema } from "./object-schema.ts";
import { createTextSchema, DATE_PATTERN, PathIdentifier } from "./texts.ts";

const optionalCount = Type.Optional(CountOrNull);
const text = Type.Optional(nullable(createTextSchema(0, TEXT_MAX_CHARACTERS)));
const link = Type.Optional(nullable(createTextSchema(0, LINK_MAX_CHARACTERS)));

const TIME_PATTERN =
  "(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)?";

/**
 * What `parseInstant()` accepts: only days that exist. It cannot exclude that a zone takes the
 * first or the last day of the years 0 to 9999 out of them.
 */
const instant = Type.String({ pattern: `^${DATE_PATTERN}(?:T${TIME_PATTERN})?$` });
const optionalInstant = Type.Optional(nullable(instant));

/** What a source says of a channel. */
export const ChannelObservation: ObjectSchema<resources.ChannelObservation> = openObject({
  kind: Type.Literal("channel"),
  observedAt: instant,
  id: PathIdentifier,
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
});

/** `channel` is the identifier of the channel. */
export const ShortObservation: ObjectSchema<resources.ShortObservation> = openObject({
  kind: Type.Literal("short"),
  observedAt: instant,
  channel: PathIdentifier,
  id: PathIdentifier,
  title: text,
  description: text,
  publishedAt: optionalInstant,
  thumbnail: link,
  views: optionalCount,
  likes: optionalCount,
  comments: optionalCount,
  shares: optionalCount,
});

/** What a source says of a user. */
export const UserObservation: ObjectSchema<resources.UserObservation> = openObject({
  kind: Type.Literal("user"),
  observedAt: instant,
  username: PathIdentifier,
  displayName: text,
  followers_count: optionalCount,
  following_count: optionalCount,
  tweet_count: optionalCount,
  description: text,
  profile_image_url: link,
  created_at: optionalInstant,
  verified: Type.Optional(nullable(Type.Boolean())),
});

/** What a source says of a tweet. */
export const TweetObservation: ObjectSchema<resources.TweetObservation> = openObject({
  kind: Type.Literal("tweet"),
  observedAt: instant,
  username: PathIdentifier,
  id: PathIdentifier,
  text,
  created_at: optionalInstant,
  url: link,
  likes: optionalCount,
  retweets: optionalCount,
  replies: optionalCount,
  quotes: optionalCount,
  impressions: optionalCount,
});

/** One line of an import or an export. */
export const ObservationLine: Type.TUnion<
  [
    typeof ChannelObservation,
    typeof ShortObservation,
    typeof UserObservation,
    typeof TweetObservation,
  ]
> = Type.Union([ChannelObservation, ShortObservation, UserObservation, TweetObservation]);
