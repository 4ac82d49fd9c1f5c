/** What administration routes share to check requests: the JSON body, names and the query. */
import { Elysia, t } from "elysia";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { IDENTIFIER_MAX_CHARACTERS } from "../../../core/limits.ts";
import { readSingleValue } from "../../../core/parameters.ts";
import { isIdentifier } from "../../../core/text.ts";
import { readJsonBody } from "../request-body.ts";
import { getQuery } from "../request-url.ts";

/** Parses the bodies of the routes that are declared after it, with the limits of the public API. */
export const jsonBodyParser = new Elysia({ name: "admin-body" }).onParse(
  { as: "scoped" },
  ({ request }) => readJsonBody(request),
);

/** The schema of a name, label, reference or reason; {@link assertName} checks its characters. */
export const Name = t.String();

/** @throws {DomainError} `Invalid Request`, with the field's name. */
export function assertName(field: string, value: string | undefined): void {
  if (value === undefined || isIdentifier(value)) return;
  throw createInvalidRequestError(
    `${field} must be 1 to ${IDENTIFIER_MAX_CHARACTERS} characters without control characters, ` +
      `got ${quoteValue(value)}`,
  );
}

/** @throws {DomainError} `Invalid Request` if the query repeats the account, or it is no name. */
export function assertSingleAccount(request: Request): void {
  assertName("account", readSingleValue("account", getQuery(request)("account")));
}
