/** What an error looks like. */
import { Type, type Static } from "@sinclair/typebox";
import { strictObject } from "./fields.ts";

/** An error of the video interface: one field. */
export const VideoError = strictObject({
  error: Type.String({ description: "What was wrong" }),
});
export type VideoError = Static<typeof VideoError>;

/** An error of every other interface. */
export const ServiceError = strictObject({
  error: Type.String({ description: "The name of the error" }),
  message: Type.String({ description: "One sentence with the offending value" }),
});
export type ServiceError = Static<typeof ServiceError>;
