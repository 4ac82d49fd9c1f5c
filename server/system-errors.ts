/** What an error from the runtime, the system or a library says. */

/**
 * Describes an error and, if it says something else, its root cause. For operators, not clients.
 *
 * @example
 * describeError(new Error("The backup failed", { cause: new Error("The disk is full") }));
 * // "The backup failed: The disk is full"
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = findRootCause(error.cause);
  return cause === undefined || cause === error.message
    ? error.message
    : `${error.message}: ${cause}`;
}

function findRootCause(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return cause === undefined ? undefined : String(cause);
  return findRootCause(cause.cause) ?? cause.message;
}

/**
 * The code of an error, such as `ENOENT` or `SQLITE_BUSY`; empty if it has none.
 *
 * @example
 * readSystemErrorCode(Object.assign(new Error("Not there"), { code: "ENOENT" })); // "ENOENT"
 */
export function readSystemErrorCode(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

/**
 * Whether the process or the system has no file descriptors left. This passes when connections
 * close.
 *
 * @example
 * isOutOfDescriptors(Object.assign(new Error("Too many open files"), { code: "EMFILE" })); // true
 */
export function isOutOfDescriptors(error: unknown): boolean {
  return /^E[MN]FILE$/.test(readSystemErrorCode(error));
}

/** Waits for work on a file; `undefined` if the file does not exist. */
export async function undefinedIfMissing<Result>(
  work: Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (readSystemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
