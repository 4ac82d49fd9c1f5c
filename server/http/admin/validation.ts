/** The names that an administrator gives: of accounts, labels, references and reasons. */
import { t } from "elysia";
import { DomainError, quote } from "../../../core/errors.ts";
import { IDENTIFIER_MAX_CHARACTERS } from "../../../core/limits.ts";
import { readSingleValue } from "../../../core/parameters.ts";
import { isIdentifier } from "../../../core/text.ts";
import { getPathAndQuery, parseQuery } from "../request-url.ts";

/** The schema of a name; its length is that of {@link assertName}. */
export const Name = t.String();

/** @throws {DomainError} `Invalid Request`, naming the field. */
export function assertName(field: string, value: string): void {
  if (isIdentifier(value)) return;
  throw new DomainError(
    "Invalid Request",
    `${field} must be 1 to ${IDENTIFIER_MAX_CHARACTERS} characters without control characters, ` +
      `got ${quote(value)}`,
  );
}

/** @throws {DomainError} `Invalid Request` where a query names more than one account. */
export function assertSingleAccount(request: Request): void {
  readSingleValue("account", parseQuery(getPathAndQuery(request))("account"));
}
