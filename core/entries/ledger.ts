/**
 * Credits: the ledger, the decision on charges, and the usage of an account; and the rate limit.
 *
 * @module @creator-metrics/core/ledger
 */
export type { ErrorCode } from "../error-statuses.ts";
export { DomainError } from "../errors.ts";
export { computePaymentCutoff, decideCharge, decideCharges, PAYMENT_TTL_MS } from "../charges.ts";
export type { ChargeDecision, DecidedCharge, IdempotencyKey, Payment } from "../charges.ts";
export type { RequestCharge } from "../charges.ts";
export { applyEntry, assertCreditAmount, computeBalance } from "../ledger.ts";
export { createReferenceConflictError } from "../ledger.ts";
export { EMPTY_LEDGER, InsufficientCreditsError, replay } from "../ledger.ts";
export type { CreditSums, Ledger, LedgerEntry } from "../ledger.ts";
export { takeRateLimitToken } from "../token-bucket.ts";
export type { RateLimitResult, TokenBucket } from "../token-bucket.ts";
export { fillUsageDays, parseUsageDays, parseUsageGrouping, USAGE_GROUPINGS } from "../usage.ts";
export type { DayRange, UsageDay, UsageGrouping } from "../usage.ts";
