/** The headers of requests as schemas. */
import { Type, type TProperties } from "@sinclair/typebox";
import { FREE_REPEATS_MAX } from "../../../core/limits.ts";
import { REQUEST_ID_PATTERN } from "../admission.ts";
import { IDEMPOTENCY_KEY_PATTERN } from "../reads/charges.ts";

/** The header that every request may have. */
export const COMMON_HEADERS: TProperties = {
  "X-Request-Id": Type.Optional(
    Type.String({
      pattern: REQUEST_ID_PATTERN.source,
      description: "Your identifier of the request. The response repeats it, or has a new one.",
    }),
  ),
};

/** The headers that a charged read may have. */
export const CHARGED_READ_HEADERS: TProperties = {
  "If-None-Match": Type.Optional(
    Type.String({
      maxLength: 4096,
      description:
        "The ETag of the response that you have: 304 if it is still current, at the same cost.",
    }),
  ),
  "Idempotency-Key": Type.Optional(
    Type.String({
      pattern: IDEMPOTENCY_KEY_PATTERN.source,
      description:
        "A key of your choice. The first request with it is charged, and within 24 hours up to " +
        `${FREE_REPEATS_MAX} repeats are free, so a retry costs nothing; the next one is charged ` +
        "again. With another URL or body it is 400.",
    }),
  ),
};
