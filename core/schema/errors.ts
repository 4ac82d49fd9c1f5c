/** Schemas of error bodies. */
import * as Type from "@sinclair/typebox";
import { ERROR_STATUSES, isErrorCode } from "../error-statuses.ts";
import type * as resources from "../resources/errors.ts";
import { createChoice, strictObject } from "./fields.ts";
import type { ObjectSchema } from "./object-schema.ts";

/** An error of `/api/video`. */
export const VideoError: ObjectSchema<resources.VideoError> = strictObject({
  error: Type.String({ description: "A sentence, or the name of the error" }),
});

const ERROR_NAMES = Object.keys(ERROR_STATUSES).filter(isErrorCode);

/** An error of every other path. */
export const ServiceError: ObjectSchema<resources.ServiceError> = strictObject({
  error: createChoice(ERROR_NAMES, { description: "The name of the error" }),
  message: Type.String({ description: "What was sent and what is allowed" }),
});
