/** The headers of answers as the reference describes them, each once. */

const describeHeader = <const Schema>(description: string, schema: Schema, example: unknown) => ({
  description,
  required: true,
  schema,
  example,
});

/** A header that an answer may lack. */
const describeOptionalHeader = <const Schema>(
  description: string,
  schema: Schema,
  example: unknown,
) => ({
  ...describeHeader(description, schema, example),
  required: false,
});

/** The headers that the answers of operations carry. */
export const RESPONSE_HEADERS = {
  "X-Request-Id": describeHeader(
    "The request's name: your own, or one made for it",
    { type: "string" },
    "019a9f3e-6c1b-7000-8f5e-0c6a1d2b3c4d",
  ),
  "X-Credits-Cost": describeHeader("Credits that this answer cost", { type: "integer" }, 1),
  "X-Credits-Remaining": describeHeader(
    "Credits that are left after this answer; with 402, too few for it",
    { type: "integer", minimum: 0 },
    9_999,
  ),
  "X-History-Thinned": describeOptionalHeader(
    "Present, as 1, when a history was too long to list whole",
    { type: "string" },
    "1",
  ),
  Link: describeOptionalHeader(
    "Present when there is a next page, ready to follow",
    { type: "string" },
    "</api/video/sevenminutesoup/shorts?limit=1&cursor=mo7x6b4bc-4f-74-41-64-76-66-6b-61-70-45-59>; " +
      'rel="next"',
  ),
  "Cache-Control": describeHeader(
    "What caches may do: none may hand the answer to a client with another key",
    { type: "string" },
    "private, no-cache",
  ),
  Vary: describeOptionalHeader(
    "What the answer depends on beside the URL: the key, and the origin where CORS_ORIGINS is set",
    { type: "string" },
    "X-API-Key",
  ),
  ETag: describeHeader(
    "What the answer is: send it back as If-None-Match, and you get 304 while it holds",
    { type: "string" },
    '"2q1vxn8f3k6c1"',
  ),
  "RateLimit-Policy": describeOptionalHeader(
    "Where requests are limited: how many a minute",
    { type: "string" },
    '"minute";q=600;w=60',
  ),
  RateLimit: describeOptionalHeader(
    "Where requests are limited: how many are left, and seconds until all are",
    { type: "string" },
    '"minute";r=598;t=1',
  ),
  Allow: describeHeader(
    "The methods that the path takes",
    { type: "string" },
    "GET, HEAD, OPTIONS",
  ),
  "Retry-After": describeHeader("Seconds to wait before another try", { type: "integer" }, 1),
};

/** The name of a header. */
export type HeaderName = keyof typeof RESPONSE_HEADERS;
