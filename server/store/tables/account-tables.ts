/**
 * The tables of accounts, their API keys, credits, usage and notices. Every change of a balance is
 * an entry of the journal, or a debit of a batch; the same transaction updates the sums, the usage
 * and the payments.
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

/**
 * Accounts, with the sums of their journal entries. The usage of the last debit's key and endpoint
 * in its hour is here, so that most debits write one row. Triggers in journal.sql move it to the
 * table `usage` when the next debit is of another key, endpoint or hour.
 */
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
    /** The instant of the last debit. */
    recentAt: integer("recent_at"),
    recentKey: integer("recent_key"),
    recentEndpoint: text("recent_endpoint"),
    recentRequests: integer("recent_requests").notNull().default(0),
    recentCredits: integer("recent_credits").notNull().default(0),
  },
  (table) => [
    check("balance_not_negative", sql`${table.balance} >= 0`),
    check(
      "balance_is_sum",
      sql`${table.balance} = ${table.granted} - ${table.debited} + ${table.refunded}`,
    ),
  ],
);

/**
 * API keys. The key itself is not stored, only its SHA-256 in hex, and its first characters. A
 * trigger in api-keys.sql records each change in the change log.
 */
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
 * Grants and refunds. With the debits of `debitBatches`, they are every change of every balance,
 * except for folded ones. Triggers in journal.sql apply an entry to the sums of its account and to
 * the usage.
 */
export const journal = sqliteTable(
  "journal",
  {
    /** Of a grant or a debit batch. It is created before, so that a retried write counts once. */
    uid: text().notNull(),
    account: integer().notNull(),
    /** The position of the refunded run in its batch; 0 for a grant. */
    run: integer().notNull().default(0),
    /** Counts the requests of a run from 1: a refund of one, under the key of its debit. Else 0. */
    refund: integer().notNull().default(0),
    kind: text({ enum: ["grant", "refund"] }).notNull(),
    amount: integer().notNull(),
    at: integer().notNull(),
    // The refunded requests.
    requests: integer(),
    key: integer(),
    endpoint: text(),
    /** For a grant: each reference of an account grants once. */
    reference: text(),
    reason: text(),
  },
  (table) => [
    primaryKey({ columns: [table.uid, table.account, table.run, table.refund] }),
    index("journal_account").on(table.account, table.at),
    uniqueIndex("journal_reference")
      .on(table.account, table.reference)
      .where(sql`${table.reference} IS NOT NULL`),
    check("amount_positive", sql`${table.amount} > 0`),
  ],
);

/**
 * The debits of a commit. With 64 accounts, one row for all of them takes 0.56 of the CPU that a
 * row for each takes. Triggers in journal.sql apply them to the sums of the accounts and to the
 * usage.
 */
export const debitBatches = sqliteTable("debit_batches", {
  /** It is created before the commit, so that a retried one debits once. */
  uid: text().primaryKey(),
  at: integer().notNull(),
  /** A JSON array of the endpoints, which runs name by their positions. */
  endpoints: text().notNull(),
  /**
   * A JSON array of the runs of equal charges: the account, the amount, the number of requests, the
   * key and the endpoint of each. A run that debits nothing, or is folded, is `null`.
   */
  runs: text().notNull(),
});

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
  },
  (table) => [primaryKey({ columns: [table.account, table.hour, table.kind, table.reason] })],
);

/**
 * The charged requests of a key to an endpoint in an hour, and their credits, without those that
 * the row of the account has.
 */
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
    /** The `uid` of the debit batch. */
    debit: text().notNull(),
    at: integer().notNull(),
    /** A JSON array of the `uid` of each batch with a free repeat that counts toward the limit. */
    repeatedBy: text("repeated_by").notNull().default("[]"),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.idempotencyKey] }),
    index("payments_at").on(table.at),
  ],
);

/**
 * Notices that a balance fell below its threshold, which a trigger in journal.sql inserts in the
 * transaction of the debit. An account has one for each threshold and sum of grants: so a
 * refund and another debit at the threshold repeat no notice, and a grant allows the next one.
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

/** The saved lists of accounts. The sizes come before the names, which can fill several pages. */
export const savedLists = sqliteTable(
  "saved_lists",
  {
    account: integer().notNull(),
    /** The name in lower case. */
    nameFolded: text("name_folded").notNull(),
    name: text().notNull(),
    /** A new one with each change: a change that was made from an older one is made again. */
    version: text().notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    totalChannels: integer("total_channels").notNull(),
    totalUsers: integer("total_users").notNull(),
    channels: text({ mode: "json" }).$type<readonly string[]>().notNull(),
    users: text({ mode: "json" }).$type<readonly string[]>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.account, table.nameFolded] })],
);
