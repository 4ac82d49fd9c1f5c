/** Schemas of error bodies. */
import * as Type from "@sinclair/typebox";
import type * as resources from "../resources/errors.ts";
import { strictObject, type SchemaOf } from "./fields.ts";

/** An error of `/api/video`. */
export const VideoError = strictObject({
  error: Type.String({ description: "What was wrong" }),
}) satisfies SchemaOf<resources.VideoError>;

/** An error of every other path. */
export const ServiceError = strictObject({
  error: Type.String({ description: "The name of the error" }),
  message: Type.String({ description: "What was sent and what is allowed" }),
}) satisfies SchemaOf<resources.ServiceError>;
