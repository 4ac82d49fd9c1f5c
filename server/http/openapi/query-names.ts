/**
 * Rejects query parameters that an operation does not have: a misspelt one would do nothing, for a
 * credit. The names are those of the OpenAPI document.
 */
import { Elysia } from "elysia";
import { closestMatch } from "leven";
import { createInvalidRequestError, quoteValue, type DomainError } from "../../../core/errors.ts";
import { getPathAndQuery, removeQuery } from "../request-url.ts";
import type { MatchRoute, RoutePattern } from "../route-matcher.ts";
import { findAdminQuery } from "./admin/parameters.ts";
import { findQuery } from "./parameters.ts";

/** Names that begin so are ignored, for clients that change the URL to get past a cache. */
const IGNORED_PREFIX = "_";

/** The most edits between a name and one that it may be meant for. */
const MAX_EDITS = 2;

/**
 * Checks the names of the query parameters of a request.
 *
 * @param pattern The routes of its path. A route that is no operation, such as a page, may have any.
 * @throws {DomainError} `Invalid Request`, with the names that the operation has.
 */
export function assertKnownParameters(
  pathAndQuery: string,
  { endpoint, operationIds }: Pick<RoutePattern, "endpoint" | "operationIds">,
  method: string,
): void {
  const start = pathAndQuery.indexOf("?");
  if (start === -1) return;
  const operationId = operationIds.get(method);
  const query =
    operationId === undefined ? findAdminQuery(endpoint, method) : findQuery(operationId);
  if (query === undefined) return;
  for (const name of new URLSearchParams(pathAndQuery.slice(start)).keys()) {
    if (name.startsWith(IGNORED_PREFIX) || Object.hasOwn(query.properties, name)) continue;
    throw createUnknownParameterError(Object.keys(query.properties), name);
  }
}

/** The error of a query parameter that an operation does not have. */
export function createUnknownParameterError(known: readonly string[], name: string): DomainError {
  const quoted = quoteValue(name);
  if (known.length === 0) {
    return createInvalidRequestError(`This operation has no query parameters, got ${quoted}`);
  }
  // A short name is not near one with which it has nothing in common.
  const maxDistance = Math.min(MAX_EDITS, Math.floor(name.length / 2));
  const nearest = closestMatch(name.toLowerCase(), known, { maxDistance });
  const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  return createInvalidRequestError(
    `This operation has only the query parameters ${known.join(", ")}, got ${quoted}${hint}`,
  );
}

/**
 * Creates the Elysia plugin that checks the names, after the body is parsed and before anything else is.
 *
 * @param hasOwnCheck Whether the route of a request calls {@link assertKnownParameters} itself.
 */
export function createParameterNamesPlugin(
  getRouteMatcher: () => MatchRoute,
  hasOwnCheck: (request: Request) => boolean,
) {
  return new Elysia({ name: "parameter-names" }).onTransform(
    { as: "global" },
    ({ request, route }) => {
      if (hasOwnCheck(request)) return;
      const pathAndQuery = getPathAndQuery(request);
      const pattern = getRouteMatcher()(removeQuery(pathAndQuery));
      // Admission rejects a request for which Elysia runs another route.
      if (pattern?.route === route) assertKnownParameters(pathAndQuery, pattern, request.method);
    },
  );
}
