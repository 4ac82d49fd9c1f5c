/** The cost of a read, and the form and the parser of idempotency keys. */
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import type { IdempotencyKey } from "../../../core/charges.ts";

/** SHA-256, in hex. */
export const hashText = (text: string): string =>
  new Bun.CryptoHasher("sha256").update(text).digest("hex");

/** The credits that a read of one entity or one page costs. */
export const READ_COST = 1;

export const IDEMPOTENCY_KEY_MAX_CHARACTERS = 255;

export const IDEMPOTENCY_KEY_PATTERN = new RegExp(
  `^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_MAX_CHARACTERS}}$`,
);

/**
 * Parses the idempotency key of a request. Spaces in the JSON of its body make no difference.
 *
 * @param listHash Identifies the names of the saved list that the request reads: with other names,
 * which can have another price, it is another request.
 */
export function parseIdempotencyKey(
  { headers }: Request,
  pathAndQuery: string,
  body: unknown,
  listHash?: string,
): IdempotencyKey | undefined {
  const value = headers.get("idempotency-key");
  if (value === null) return undefined;
  if (!IDEMPOTENCY_KEY_PATTERN.test(value)) {
    throw createInvalidRequestError(
      `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} visible ASCII characters, ` +
        `got ${quoteValue(value)}`,
    );
  }
  const bodyText = body === undefined ? undefined : JSON.stringify(body);
  const parts = [pathAndQuery, bodyText, listHash].filter((part) => part !== undefined);
  return { value, fingerprint: hashText(parts.join(" ")) };
}
