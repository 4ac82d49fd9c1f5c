/** The errors of the service by name, with their HTTP statuses. */

/** The HTTP status of each error, by its name. The most general error of a status comes last. */
export const ERROR_STATUSES = {
  "Invalid Pagination Parameters": 400,
  "Invalid Request": 400,
  "Missing API Key": 401,
  "Invalid API Key": 401,
  "Insufficient Credits": 402,
  Forbidden: 403,
  "Channel Not Found": 404,
  "Short Not Found": 404,
  "User Not Found": 404,
  "Tweet Not Found": 404,
  "Creator Not Found": 404,
  "Page Out of Range": 404,
  "Not Found": 404,
  "Method Not Allowed": 405,
  "Creator Already Exists": 409,
  "Creator List Full": 409,
  Conflict: 409,
  "Payload Too Large": 413,
  "Unsupported Media Type": 415,
  "Too Many Requests": 429,
  "Internal Error": 500,
  "Service Unavailable": 503,
} as const;

/** The name of an error, as clients read it in the `error` field. */
export type ErrorCode = keyof typeof ERROR_STATUSES;

/** The errors that `/api/video` names by a sentence, and the pattern of each sentence. */
export const VIDEO_ERROR_SENTENCES: Record<"Channel Not Found" | "Short Not Found", RegExp> = {
  "Channel Not Found": /^Channel [\s\S]+ not found$/,
  "Short Not Found": /^Short [\s\S]+ not found for channel [\s\S]/,
};

/** Whether a text is the name of an error of the service. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_STATUSES, text);
}
