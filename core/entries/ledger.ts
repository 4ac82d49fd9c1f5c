/**
 * Credits: the ledger, the decision on charges, and the usage of an account.
 *
 * @module @creator-metrics/core/ledger
 */
export * from "../charges.ts";
export * from "../ledger.ts";
export * from "../usage.ts";
