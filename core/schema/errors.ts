/** Schemas of error bodies. */
import { Type, type Static } from "@sinclair/typebox";
import { strictObject } from "./fields.ts";

/** An error of `/api/video`. */
export const VideoError = strictObject({
  error: Type.String({ description: "What was wrong" }),
});
export type VideoError = Static<typeof VideoError>;

/** An error of every other path. */
export const ServiceError = strictObject({
  error: Type.String({ description: "The name of the error" }),
  message: Type.String({ description: "What was sent and what is allowed" }),
});
export type ServiceError = Static<typeof ServiceError>;
