/** Schemas of error bodies. */
import * as Type from "@sinclair/typebox";
import { ERROR_STATUSES, type ServiceErrorName } from "../error-statuses.ts";
import type * as resources from "../resources/errors.ts";
import { strictObject } from "./fields.ts";
import type { ObjectSchema } from "./object-schema.ts";

/** An error of `/api/video`. */
export const VideoError: ObjectSchema<resources.VideoError> = strictObject({
  error: Type.String({ description: "A sentence, or the name of the error" }),
});

/** An error of every other path. */
export const ServiceError: ObjectSchema<resources.ServiceError> = strictObject({
  error: Type.Unsafe<ServiceErrorName>({
    type: "string",
    enum: Object.keys(ERROR_STATUSES),
    description: "The name of the error",
  }),
  message: Type.String({ description: "What was sent and what is allowed" }),
});
