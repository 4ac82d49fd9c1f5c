/** The bodies of errors. */
import type { ErrorCode } from "../error-statuses.ts";

/** An error of `/api/video`. */
export interface VideoError {
  /** A sentence, or the name of the error. */
  error: string;
}

/** An error of every other path. */
export interface ServiceError {
  /** The name of the error. */
  error: ErrorCode;
  /** What was sent and what is allowed. */
  message: string;
}
