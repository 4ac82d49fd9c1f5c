/** Schemas of the requests and responses of `/api/creators`: the monitoring list. */
import * as Type from "@sinclair/typebox";
import { CREATOR_PLATFORMS, CREATOR_USERNAME_PATTERN } from "../creators.ts";
import { createChoice, describe, Instant, nullable, strictObject } from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";

const PlatformName = createChoice(CREATOR_PLATFORMS, "Where the creator is");

/** The body of `PATCH` and `DELETE /api/creators`. */
export const CreatorRequest: ResourceSchemas["CreatorRequest"] = Type.Object({
  creator: Type.String({
    pattern: CREATOR_USERNAME_PATTERN.source,
    description: "Username without the @ symbol",
  }),
  platform: PlatformName,
});

/** The response to adding or removing a creator. */
export const CreatorResult: ResourceSchemas["CreatorResult"] = strictObject({
  message: Type.String({ description: "What was done, for people" }),
  creator: Type.String({ description: "In the spelling of the list" }),
  platform: PlatformName,
  total_creators: Type.Integer({
    minimum: 0,
    description: "Size of the list after the operation",
  }),
});

/** A creator of the monitoring list, and the state of collecting its data. */
export const ListedCreator: ResourceSchemas["ListedCreator"] = strictObject({
  creator: Type.String({ description: "Username without the @ symbol" }),
  platform: PlatformName,
  added_at: describe(Instant, "When the creator was added"),
  last_success: nullable(Instant, { description: "When the creator was last observed" }),
  last_failure: nullable(Instant, {
    description: "When an observation last failed; null if it has succeeded since",
  }),
  failure: nullable(Type.String(), {
    description: "Why it failed, or why the source cannot have such a creator",
  }),
  next_due: nullable(Instant, { description: "When the creator is observed next" }),
});

/** The response of `GET /api/creators`. */
export const CreatorList: ResourceSchemas["CreatorList"] = strictObject({
  creators: Type.Array(ListedCreator, { description: "Sorted by platform and username" }),
  total_creators: Type.Integer({ minimum: 0, description: "The size of the list" }),
});
