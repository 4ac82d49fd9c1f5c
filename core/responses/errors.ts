/** Creates the bodies of errors, and the results of requests that name several entities. */
import { ERROR_STATUSES, VIDEO_ERROR_SENTENCES } from "../error-statuses.ts";
import { DomainError } from "../errors.ts";
import type { ServiceError, VideoError } from "../resources/generated/types.ts";

/** The name and the message of an error, for clients. */
export type NamedError = Pick<DomainError, "code" | "message">;

/**
 * Creates the body of an error of the video interface: a message alone where a channel or a short is
 * not found, the name and the message where the request is invalid, else the name.
 *
 * @example
 * createVideoError(createNotFoundError("channel", "nasa")); // { error: "Channel nasa not found" }
 */
export function createVideoError({ code, message }: NamedError): VideoError {
  if (code in VIDEO_ERROR_SENTENCES) return { error: message };
  return { error: ERROR_STATUSES[code] === 400 ? `${code}: ${message}` : code };
}

/**
 * Creates the body of an error of every other interface.
 *
 * @example
 * createServiceError({ code: "Not Found", message: "There is no path /x" });
 * // { error: "Not Found", message: "There is no path /x" }
 */
export function createServiceError({ code, message }: NamedError): ServiceError {
  return { error: code, message };
}

/**
 * Creates the results of a request that names several entities: the fields of each that was found,
 * else the body of the 404 that a single read of it returns.
 *
 * @param results One for each name, in their order.
 * @param create Creates the fields of an entity that was found.
 * @param createError Creates the body of a 404.
 *
 * @example
 * const results = [createNotFoundError("user", "nasa")];
 * const [result] = createNamedResults(["nasa"], results, Object, createServiceError);
 * result.error; // { error: "User Not Found", message: "User nasa not found" }
 */
export function createNamedResults<Value, Fields extends object, ErrorBody>(
  names: readonly string[],
  results: readonly (Value | DomainError)[],
  create: (value: Value) => Fields,
  createError: (error: DomainError) => ErrorBody,
): (({ name: string; found: true } & Fields) | { name: string; found: false; error: ErrorBody })[] {
  return results.map((result, index) => {
    // Stryker disable next-line StringLiteral: only the type needs the default.
    const name = names[index] ?? "";
    return result instanceof DomainError
      ? { name, found: false as const, error: createError(result) }
      : { name, found: true as const, ...create(result) };
  });
}
