/** Schemas of error bodies. */
import * as Type from "@sinclair/typebox";
import { ERROR_STATUSES, type ServiceErrorName } from "../error-statuses.ts";
import type * as resources from "../resources/errors.ts";
import { strictObject, type SchemaOf } from "./fields.ts";

/** An error of `/api/video`. */
export const VideoError = strictObject({
  error: Type.String({ description: "A sentence, or the name of the error" }),
}) satisfies SchemaOf<resources.VideoError>;

/** An error of every other path. */
export const ServiceError = strictObject({
  error: Type.Unsafe<ServiceErrorName>({
    type: "string",
    enum: Object.keys(ERROR_STATUSES),
    description: "The name of the error",
  }),
  message: Type.String({ description: "What was sent and what is allowed" }),
}) satisfies SchemaOf<resources.ServiceError>;
