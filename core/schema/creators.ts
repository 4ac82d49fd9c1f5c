/** The monitoring list: requests and answers. */
import { Type, type Static } from "@sinclair/typebox";
import { CREATOR_USERNAME_PATTERN, CREATOR_PLATFORMS } from "../creators.ts";
import { strictObject, Instant, nullable } from "./fields.ts";

const PlatformName = Type.String({
  enum: [...CREATOR_PLATFORMS],
  pattern: `^(?:${CREATOR_PLATFORMS.join("|")})$`,
});

/** The body of `PATCH` and `DELETE /api/creators`. */
export const CreatorRequest = Type.Object({
  creator: Type.String({
    pattern: CREATOR_USERNAME_PATTERN.source,
    description: "Username without the @ symbol",
  }),
  platform: PlatformName,
});
export type CreatorRequest = Static<typeof CreatorRequest>;

/** The answer of adding or removing a creator. */
export const CreatorResult = strictObject({
  message: Type.String(),
  creator: Type.String({ description: "As the list spells it" }),
  platform: PlatformName,
  total_creators: Type.Integer({
    minimum: 0,
    description: "Size of the list after the operation",
  }),
});
export type CreatorResult = Static<typeof CreatorResult>;

/** The answer of `GET /api/creators`. */
export const CreatorList = strictObject({
  creators: Type.Array(
    strictObject({
      creator: Type.String(),
      platform: PlatformName,
      added_at: Instant,
      last_success: nullable(Instant, { description: "When it was observed last" }),
      last_failure: nullable(Instant, {
        description: "When observing it failed last, unless what failed has succeeded since",
      }),
      failure: nullable(Type.String(), { description: "Why it failed" }),
      next_due: nullable(Instant, { description: "When it is observed next" }),
    }),
    { description: "By platform and username" },
  ),
  total_creators: Type.Integer({ minimum: 0 }),
});
export type CreatorList = Static<typeof CreatorList>;
