/**
 * The tables of accounts, their API keys, credits, usage and notices. Every change of a balance is
 * an entry of the journal; the same transaction updates the sums, the usage and the payments.
 * Instants are milliseconds since 1970 UTC; hours are counted from the same moment.
 */
import { sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { KEY_SCOPES, type KeyScope } from "../../stored-names.ts";

/** Accounts, with the sums of their journal entries. */
export const accounts = sqliteTable(
  "accounts",
  {
    id: integer().primaryKey(),
    name: text().notNull().unique(),
    createdAt: integer("created_at").notNull(),
    granted: integer().notNull().default(0),
    debited: integer().notNull().default(0),
    refunded: integer().notNull().default(0),
    balance: integer().notNull().default(0),
    /** The threshold of notices about a low balance; `null` for none. */
    lowBalance: integer("low_balance"),
  },
  (table) => [
    check("balance_not_negative", sql`${table.balance} >= 0`),
    check(
      "balance_is_sum",
      sql`${table.balance} = ${table.granted} - ${table.debited} + ${table.refunded}`,
    ),
  ],
);

/** API keys. The key itself is not stored, only its SHA-256 in hex, and its first characters. */
export const keys = sqliteTable("keys", {
  id: integer().primaryKey(),
  account: integer().notNull(),
  hash: text().notNull().unique(),
  beginsWith: text("begins_with").notNull(),
  label: text(),
  scopes: text({ mode: "json" })
    .$type<readonly KeyScope[]>()
    .notNull()
    .default([...KEY_SCOPES]),
  expiresAt: integer("expires_at"),
  createdAt: integer("created_at").notNull(),
  revokedAt: integer("revoked_at"),
  replacedBy: integer("replaced_by"),
});

/**
 * Every change of every balance, in the order of commits, except for folded changes. The debits of
 * an account that share a commit are one entry. A refund names its debit by the `uid` of that entry
 * and the debit's index in it.
 */
export const journal = sqliteTable(
  "journal",
  {
    entry: integer().primaryKey(),
    /** Created before the entry is written, so that a retried write is applied once. */
    uid: text().notNull(),
    account: integer().notNull(),
    kind: text({ enum: ["grant", "debit", "refund"] }).notNull(),
    amount: integer().notNull(),
    at: integer().notNull(),
    /** For a grant: its reference; each reference of an account grants once. */
    reference: text(),
    reason: text(),
    // For a refund.
    debit: text(),
    debitIndex: integer("debit_index"),
  },
  (table) => [
    uniqueIndex("journal_uid").on(table.uid, table.account),
    index("journal_account").on(table.account, table.entry),
    uniqueIndex("journal_reference")
      .on(table.account, table.reference)
      .where(sql`${table.reference} IS NOT NULL`),
    uniqueIndex("journal_refund")
      .on(table.debit, table.account, table.debitIndex)
      .where(sql`${table.debit} IS NOT NULL`),
    check("amount_positive", sql`${table.amount} > 0`),
  ],
);

/** Old debits and their refunds, added up by fold-journal.ts by account, hour and refund reason. */
export const foldedEntries = sqliteTable(
  "folded_entries",
  {
    account: integer().notNull(),
    hour: integer().notNull(),
    kind: text({ enum: ["debit", "refund"] }).notNull(),
    /** The reason of refunds; empty for debits. */
    reason: text().notNull(),
    count: integer().notNull(),
    amount: integer().notNull(),
    /** Where the last folded debit or first folded refund was, so that no balance is too low. */
    entry: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.account, table.hour, table.kind, table.reason] })],
);

/** The charged requests of a key to an endpoint in an hour, and their credits. */
export const usage = sqliteTable(
  "usage",
  {
    account: integer().notNull(),
    hour: integer().notNull(),
    key: integer().notNull(),
    /** The endpoint as the API reference names it: `/api/video/{channel}/details`. */
    endpoint: text().notNull(),
    requests: integer().notNull(),
    credits: integer().notNull(),
    refunded: integer().notNull().default(0),
    refunds: integer().notNull().default(0),
    // How the requests ended, as far as it is known: counted after the responses, in a later write.
    ok: integer().notNull().default(0),
    notModified: integer("not_modified").notNull().default(0),
    notFound: integer("not_found").notNull().default(0),
    failed: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.account, table.hour, table.key, table.endpoint] })],
);

/** Idempotency keys that were charged. For a day, a limited number of repeats is free. */
export const payments = sqliteTable(
  "payments",
  {
    account: integer().notNull(),
    idempotencyKey: text("idempotency_key").notNull(),
    /** SHA-256 of the request, in hex. */
    requestHash: text("request_hash").notNull(),
    /** The `uid` of the journal entry. */
    debit: text().notNull(),
    at: integer().notNull(),
    /** The free repeats since then that count toward the limit. */
    repeats: integer().notNull().default(0),
    /** The `uid` of the commit with the last such repeat, so that a retried commit counts once. */
    repeatedBy: text("repeated_by"),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.idempotencyKey] }),
    index("payments_at").on(table.at),
  ],
);

/** Canceled commits: their requests failed, and a write that still arrives must debit nothing. */
export const cancellations = sqliteTable("cancellations", {
  uid: text().primaryKey(),
  at: integer().notNull(),
});

/**
 * Notices that a balance fell below its threshold, which the trigger in low-balance.sql inserts in
 * the transaction of the debit. An account has one notice for each threshold and sum of grants: so
 * a refund and another debit at the threshold repeat no notice, and a grant allows the next one.
 */
export const notices = sqliteTable(
  "notices",
  {
    /** The same in every attempt, so that receivers recognize a repeated one. */
    id: text().primaryKey(),
    account: integer().notNull(),
    balance: integer().notNull(),
    threshold: integer().notNull(),
    /** The sum of the account's grants at that time. */
    granted: integer().notNull(),
    at: integer().notNull(),
    /** When the next attempt is due; `null` for none. During an attempt, when it counts as lost. */
    dueAt: integer("due_at"),
    /** Attempts since the notice was last sent again by hand. */
    attempts: integer().notNull().default(0),
    /** When the last attempt began, whether it counts or not. */
    attemptedAt: integer("attempted_at"),
    deliveredAt: integer("delivered_at"),
    failure: text(),
  },
  (table) => [
    index("notices_account").on(table.account, table.threshold, table.granted),
    index("notices_undelivered")
      .on(table.dueAt)
      .where(sql`${table.deliveredAt} IS NULL`),
  ],
);
