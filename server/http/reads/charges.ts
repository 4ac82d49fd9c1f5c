/** Charges of reads: idempotency keys of requests, refunds of failed reads, and the headers of the cost. */
import { ERROR_STATUSES, createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import type { IdempotencyKey } from "../../../core/charges.ts";
import { CLOSED_CONNECTION_REASON } from "../../stored-names.ts";
import type { DebitQueue } from "../../metering/debit-queue.ts";
import type { Receipt } from "../../metering/batch-committer.ts";
import type { ResponseHeaders } from "../cache-headers.ts";
import { toClientError } from "../errors.ts";

/** The default cost of a request, in credits: a read of one entity or one page. */
export const READ_COST = 1;

export const IDEMPOTENCY_KEY_MAX_CHARACTERS = 255;

export const IDEMPOTENCY_KEY_PATTERN = new RegExp(
  `^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_MAX_CHARACTERS}}$`,
);

/** Parses the idempotency key of a request. Spaces in the JSON of its body make no difference. */
export function parseIdempotencyKey(
  { headers }: Request,
  pathAndQuery: string,
  body: unknown,
): IdempotencyKey | undefined {
  const value = headers.get("idempotency-key");
  if (value === null) return undefined;
  if (!IDEMPOTENCY_KEY_PATTERN.test(value)) {
    throw createInvalidRequestError(
      `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} visible ASCII characters, ` +
        `got ${quoteValue(value)}`,
    );
  }
  const text = body === undefined ? pathAndQuery : `${pathAndQuery} ${JSON.stringify(body)}`;
  const fingerprint = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  return { value, fingerprint };
}

/**
 * Settles the debit of a read that failed: a 404 stays charged if the client can still get it,
 * everything else is refunded.
 *
 * @returns Whether the connection closed before the response. The client may have left, or Bun closed
 * it because another request came on it too early.
 */
export async function settleFailedRead(
  debitQueue: Pick<DebitQueue, "complete" | "refund">,
  receipt: Receipt | undefined,
  { signal }: Request,
  headers: ResponseHeaders,
  thrown: unknown,
): Promise<boolean> {
  const isAborted = signal.aborted && thrown === signal.reason;
  if (receipt === undefined) return isAborted;
  const isNotFound = ERROR_STATUSES[toClientError(thrown).code] === 404;
  if (isNotFound && !signal.aborted) {
    setCostHeaders(headers, receipt);
    debitQueue.complete(receipt, 404);
    return false;
  }
  const isClosed = isAborted || isNotFound;
  await debitQueue.refund(receipt, isClosed ? CLOSED_CONNECTION_REASON : "The answer failed");
  return isClosed;
}

export function setCostHeaders(headers: ResponseHeaders, { cost, balance }: Receipt): void {
  headers["x-credits-cost"] = String(cost);
  headers["x-credits-remaining"] = String(balance);
}
