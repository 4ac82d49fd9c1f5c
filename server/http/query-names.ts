/**
 * Rejects query parameters that an operation does not have: a misspelt one would do nothing, for a
 * credit.
 */
import { closestMatch } from "leven";
import { createInvalidRequestError, quoteValue, type DomainError } from "../../core/errors.ts";

/** Names that begin so are ignored, for clients that change the URL to get past a cache. */
const IGNORED_PREFIX = "_";

/** The greatest number of edits between a misspelt name and its suggestion. */
const MAX_EDITS = 2;

export function assertKnownParameters(pathAndQuery: string, known: readonly string[]): void {
  const start = pathAndQuery.indexOf("?");
  if (start === -1) return;
  for (const name of new URLSearchParams(pathAndQuery.slice(start)).keys()) {
    if (name.startsWith(IGNORED_PREFIX) || known.includes(name)) continue;
    throw createUnknownParameterError(known, name);
  }
}

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
