/** The bodies of errors. */

/** An error of `/api/video`. */
export interface VideoError {
  /** What was wrong. */
  error: string;
}

/** An error of every other path. */
export interface ServiceError {
  /** The name of the error. */
  error: string;
  /** What was sent and what is allowed. */
  message: string;
}
