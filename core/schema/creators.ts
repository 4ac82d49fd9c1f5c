/** Schemas of `/api/creators`. */
import * as Type from "@sinclair/typebox";
import type * as resources from "../resources/creators.ts";
import { CREATOR_USERNAME_PATTERN, CREATOR_PLATFORMS } from "../creators.ts";
import { createChoice, strictObject, Instant, nullable, openObject } from "./fields.ts";
import type { ObjectSchema } from "./object-schema.ts";

const PlatformName = createChoice(CREATOR_PLATFORMS);

/** The body of `PATCH` and `DELETE /api/creators`. */
export const CreatorRequest: ObjectSchema<resources.CreatorRequest> = openObject({
  creator: Type.String({
    pattern: CREATOR_USERNAME_PATTERN.source,
    description: "Username without the @ symbol",
  }),
  platform: PlatformName,
});

/** The response to adding or removing a creator. */
export const CreatorResult: ObjectSchema<resources.CreatorResult> = strictObject({
  message: Type.String(),
  creator: Type.String({ description: "In the spelling of the list" }),
  platform: PlatformName,
  total_creators: Type.Integer({
    minimum: 0,
    description: "Size of the list after the operation",
  }),
});

/** The response of `GET /api/creators`. */
export const CreatorList: ObjectSchema<resources.CreatorList> = strictObject({
  creators: Type.Array(
    strictObject({
      creator: Type.String(),
      platform: PlatformName,
      added_at: Instant,
      last_success: nullable(Instant, { description: "When the creator was last observed" }),
      last_failure: nullable(Instant, {
        description: "When an observation last failed; null if it has succeeded since",
      }),
      failure: nullable(Type.String(), {
        description: "Why it failed, or why the source cannot have such a creator",
      }),
      next_due: nullable(Instant, { description: "When the creator is observed next" }),
    }),
    { description: "Sorted by platform and username" },
  ),
  total_creators: Type.Integer({ minimum: 0 }),
});
