/** The names that an administrator gives: of accounts, labels, references and reasons. */
import { t } from "elysia";
import { DomainError } from "../../core/errors.ts";
import { isIdentifier } from "../../core/text.ts";

/** The schema of a name. */
export const Name = t.String({ minLength: 1, maxLength: 256 });

/** @throws {DomainError} `Invalid Request`, naming the field. */
export function checkName(field: string, value: string): void {
  if (isIdentifier(value)) return;
  throw new DomainError(
    "Invalid Request",
    `${field} must be 1 to 256 characters without control characters`,
  );
}
