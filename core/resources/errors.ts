/** Schemas of error bodies. */
import * as Type from "@sinclair/typebox";
import { ERROR_STATUSES, isErrorCode } from "../errors.ts";
import { createChoice, strictObject } from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";

/** An error of `/api/video`. */
export const VideoError: ResourceSchemas["VideoError"] = strictObject({
  error: Type.String({ description: "A sentence, or the name of the error" }),
});

const ERROR_NAMES = Object.keys(ERROR_STATUSES).filter(isErrorCode);

/** An error of every other path. */
export const ServiceError: ResourceSchemas["ServiceError"] = strictObject({
  error: createChoice(ERROR_NAMES, "The name of the error"),
  message: Type.String({ description: "What was sent and what is allowed" }),
});
