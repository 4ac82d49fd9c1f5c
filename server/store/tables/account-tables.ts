/**
 * The tables of accounts, their keys and their credits. The journal is what happened; sums, usage
 * and payments are made of it, in the same transactions.
 *
 * All instants are milliseconds since 1970 UTC.
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

/** Accounts and their sums; the journal is what the sums are made of. */
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
  },
  (table) => [
    check("balance_not_negative", sql`${table.balance} >= 0`),
    check(
      "balance_is_sum",
      sql`${table.balance} = ${table.granted} - ${table.debited} + ${table.refunded}`,
    ),
  ],
);

/** API keys: never the key itself, only its hash and how it begins. */
export const keys = sqliteTable("keys", {
  id: integer().primaryKey(),
  account: integer().notNull(),
  /** SHA-256 of the key, in hex. */
  hash: text().notNull().unique(),
  /** The first characters of the key, to tell keys apart. */
  beginsWith: text("begins_with").notNull(),
  label: text(),
  createdAt: integer("created_at").notNull(),
  revokedAt: integer("revoked_at"),
});

/**
 * The journal: every change of every balance, in the order they were committed.
 *
 * Debits that waited for one commit are one entry of an account: `amount` credits for as many
 * requests as the sum says. A refund names its debit by the entry and its place in it.
 */
export const journal = sqliteTable(
  "journal",
  {
    entry: integer().primaryKey(),
    /** Made before the entry is written: a write that is tried again is applied once. */
    uid: text().notNull(),
    account: integer().notNull(),
    kind: text({ enum: ["grant", "debit", "refund"] }).notNull(),
    amount: integer().notNull(),
    at: integer().notNull(),
    /** Of a grant: what it was for; it grants once. */
    reference: text(),
    reason: text(),
    /** Of a refund: the `uid` of the debit's entry, and its place in it, from 0. */
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

/**
 * What was used: the requests of a key at an endpoint in an hour, and their credits. It is counted
 * in the transaction of the debits, so its sums are those of the journal.
 */
export const usage = sqliteTable(
  "usage",
  {
    account: integer().notNull(),
    /** The hour, counted from 1970 UTC. */
    hour: integer().notNull(),
    key: integer().notNull(),
    /** As the reference names it: `/api/video/{channel}/details`. */
    endpoint: text().notNull(),
    requests: integer().notNull(),
    credits: integer().notNull(),
    /** Credits that were given back later. */
    refunded: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.account, table.hour, table.key, table.endpoint] })],
);

/** The idempotency keys that were paid with, for a day: the next request of one costs nothing. */
export const payments = sqliteTable(
  "payments",
  {
    account: integer().notNull(),
    /** The idempotency key, as the client sent it. */
    idempotencyKey: text("idempotency_key").notNull(),
    /** SHA-256 of what was asked, in hex. */
    requestHash: text("request_hash").notNull(),
    /** The `uid` of the debit's entry. */
    debit: text().notNull(),
    at: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.idempotencyKey] }),
    index("payments_at").on(table.at),
  ],
);

/**
 * Debits that must never be committed any more: what failed without an answer was answered with an
 * error, and its write may still be on its way.
 */
export const cancellations = sqliteTable("cancellations", {
  uid: text().primaryKey(),
  at: integer().notNull(),
});
