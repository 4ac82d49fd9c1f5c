/** The response headers that the OpenAPI document describes. */
import { Type, type TSchema } from "@sinclair/typebox";

function describeHeader(description: string, example: string | number, schema?: TSchema) {
  return { description, required: true, schema: schema ?? Type.String(), example };
}

function describeOptionalHeader(description: string, example: string) {
  return { ...describeHeader(description, example), required: false };
}

/** The response headers by name. A required one is present wherever a response lists it. */
export const RESPONSE_HEADERS = {
  "X-Request-Id": describeHeader(
    "The identifier of the request: yours, or a new one",
    "019a9f3e-6c1b-7000-8f5e-0c6a1d2b3c4d",
  ),
  "X-Credits-Cost": describeHeader("Credits that this response cost", 1, Type.Integer()),
  "X-Credits-Remaining": describeHeader(
    "Credits that are left after this response; with 402, fewer than the request would cost",
    9_999,
    Type.Integer({ minimum: 0 }),
  ),
  "X-History-Thinned": describeOptionalHeader(
    "Present, as 1, if a history was too long to list in full",
    "1",
  ),
  Link: describeOptionalHeader(
    "The URL of the next page, if there is one",
    "</api/video/sevenminutesoup/shorts?limit=1&cursor=mo7x6b4bc-4f-74-41-64-76-66-6b-61-70-45-59>; " +
      'rel="next"',
  ),
  "Cache-Control": describeHeader(
    "What caches may do: none may serve the response to a client with another API key",
    "private, no-cache",
  ),
  Vary: describeOptionalHeader(
    "What the response depends on besides the URL: the API key, and the origin if CORS_ORIGINS is set",
    "X-API-Key",
  ),
  ETag: describeHeader(
    "The version of the response. Send it as If-None-Match to get 304 while it is current",
    '"2q1vxn8f3k6c1"',
  ),
  "RateLimit-Policy": describeOptionalHeader(
    "If requests are limited: how many a minute",
    '"minute";q=600;w=60',
  ),
  RateLimit: describeOptionalHeader(
    "If requests are limited: how many are left, and the seconds until all are",
    '"minute";r=598;t=1',
  ),
  Allow: describeHeader("The methods that the path allows", "GET, HEAD, OPTIONS"),
  "Retry-After": describeHeader("Seconds to wait before the next try", 1, Type.Integer()),
};

/** The name of a response header. */
export type HeaderName = keyof typeof RESPONSE_HEADERS;
