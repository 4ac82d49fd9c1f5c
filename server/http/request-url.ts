/**
 * Reads the path and query of a request, and rejects query parameters that its operation does not
 * have. Only the query is as the client sent it: in the path, Bun has resolved `.` and `..`, also
 * as `%2e`, and replaced `\` by `/`.
 */
import { closestMatch } from "leven";
import { createInvalidRequestError, quoteValue, type DomainError } from "../../core/errors.ts";

export function getPathAndQuery({ url }: Pick<Request, "url">): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start === -1 ? "/" : url.slice(start);
}

/**
 * Returns a request whose URL has a host. If the client sent no valid `Host`, Bun's `url` is only
 * path and query; Elysia skips its first 7 characters, as for `http://`, and finds a wrong path.
 */
export function ensureHost(request: Request): Request {
  const { url } = request;
  return url.startsWith("/") ? new Request(`http://localhost${url}`, request) : request;
}

/** Encodes what a header must not have. Bun leaves it if the request has no valid host. */
export const encodeLocation = (pathAndQuery: string): string =>
  pathAndQuery.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);

export function getPath(request: Pick<Request, "url">): string {
  return removeQuery(getPathAndQuery(request));
}

export function removeQuery(pathAndQuery: string): string {
  const end = pathAndQuery.indexOf("?");
  return end === -1 ? pathAndQuery : pathAndQuery.slice(0, end);
}

/** Whether a path is the prefix, or has more segments behind it. */
export const isAtOrBelow = (prefix: string, path: string): boolean =>
  path === prefix || path.startsWith(`${prefix}/`);

export function parseQuery(pathAndQuery: string): URLSearchParams {
  const start = pathAndQuery.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : pathAndQuery.slice(start));
}

/** The query of a request. Unlike Elysia's, it keeps every value of a repeated parameter. */
export function getQuery(request: Request): URLSearchParams {
  return parseQuery(getPathAndQuery(request));
}

/** Rejects unknown query parameters: a misspelt one would cost a credit and do nothing. */
export function assertKnownParameters(pathAndQuery: string, known: readonly string[]): void {
  const start = pathAndQuery.indexOf("?");
  if (start === -1) return;
  for (const name of new URLSearchParams(pathAndQuery.slice(start)).keys()) {
    // Clients add a name such as `_` with a new value to get past a cache.
    if (name.startsWith("_") || known.includes(name)) continue;
    throw createUnknownParameterError(known, name);
  }
}

export function createUnknownParameterError(known: readonly string[], name: string): DomainError {
  const quoted = quoteValue(name);
  if (known.length === 0) {
    return createInvalidRequestError(`This operation has no query parameters, got ${quoted}`);
  }
  // At most half of a short name may differ, so that the hint has something in common with it.
  const maxDistance = Math.min(2, Math.floor(name.length / 2));
  const nearest = closestMatch(name.toLowerCase(), known, { maxDistance });
  const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  return createInvalidRequestError(
    `This operation has only the query parameters ${known.join(", ")}, got ${quoted}${hint}`,
  );
}
