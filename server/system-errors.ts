/** Reads messages, codes and advice from errors of the runtime, the system or a library. */

/** Describes an error and its root cause, if their messages differ; only for operators. */
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

export function readSystemErrorCode(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

export const isOutOfDescriptors = (error: unknown): boolean =>
  /^E[MN]FILE$/.test(readSystemErrorCode(error));

const ADVICE_BY_CODE: readonly (readonly [RegExp, string])[] = [
  [/^(?:SQLITE_FULL|ENOSPC)/, "free some space on the disk, then run the command again"],
  [
    /^(?:SQLITE_NOTADB|SQLITE_CORRUPT|CHUNK_CORRUPT)/,
    "restore a backup, or save what an export can read",
  ],
  [/^ENOTDIR$/, "a part of the path is a file: name a folder"],
  [/^(?:EACCES|EPERM|EROFS)$/, "run it as a user who may do this, or name another file"],
  [
    /^ERR_DLOPEN_FAILED$/,
    "the program writes its database driver to a temporary folder, and loads it from there: set " +
      "BUN_TMPDIR to a folder in which it may write and execute files; if it is one, delete the file",
  ],
  [/^AUTH_/, "set DATABASE_AUTH_TOKEN to a token of the libSQL server"],
];

export function addAdvice<Thrown extends Error>(error: Thrown, advice: string): Thrown {
  return Object.assign(error, { advice });
}

/** Returns the error's own advice, else advice for its code, else the advice of its cause. */
export function readAdvice(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("advice" in error) return error.advice === undefined ? undefined : String(error.advice);
  const code = readSystemErrorCode(error);
  return ADVICE_BY_CODE.find(([pattern]) => pattern.test(code))?.[1] ?? readAdvice(error.cause);
}

/** Waits for work on a file; `undefined` if the file does not exist. */
export function undefinedIfMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  return work.catch((error: unknown) => {
    if (readSystemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  });
}
