/**
 * Credits: the ledger, the decision on charges, and the usage of an account.
 *
 * @module
 */
export * from "../charges.ts";
export * from "../ledger.ts";
export * from "../usage.ts";
