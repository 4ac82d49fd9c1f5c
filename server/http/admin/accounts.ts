/** The endpoints of accounts and their credits. */
import { Type } from "@sinclair/typebox";
import { Count, nullable, strictObject } from "../../../core/resources/fields.ts";
import { DAY_MS, formatInstant } from "../../../core/time.ts";
import type { LedgerStore } from "../../store/accounts/ledger.ts";
import { defineAdmin, type AdminOptions } from "./endpoint.ts";
import { Name, PositiveInteger, resource, RESOURCES } from "./resources.ts";

/** The days of `used_30_days`, today included: by default, `GET /admin/usage` lists the same. */
const USED_DAYS = 30;

async function listAccounts({ now, ledger }: AdminOptions, name?: string) {
  const today = Math.floor(now() / DAY_MS);
  const days = { first: today - USED_DAYS + 1, last: today };
  return (await ledger.accounts(days, name)).map(toAccountResource);
}

async function getAccount(options: AdminOptions, name: string) {
  const [account] = await listAccounts(options, name);
  if (account === undefined) throw new Error(`There is no account ${name}`);
  return account;
}

export const ADMIN_ACCOUNT_ENDPOINTS = [
  defineAdmin({
    id: "adminApplyRefunds",
    operation: "POST /admin/refunds",
    summary: "Apply pending refunds",
    description: "Those that a service could not apply before it ended.",
    result: {
      schema: resource("AppliedRefunds", {
        files: Type.Array(
          strictObject({
            file: Type.String(),
            settled: Count,
            left: Count,
            problems: Type.Array(Type.String()),
          }),
        ),
      }),
      description: "The files of refunds",
    },
    handle: async ({ recoverRefunds }, { record }) => ({
      files: await record({ action: "credits apply-refunds" }, recoverRefunds, (files) => ({
        settled: files.reduce((sum, { settled }) => sum + settled, 0),
      })),
    }),
  }),
  defineAdmin({
    id: "adminListAccounts",
    operation: "GET /admin/accounts",
    summary: "List the accounts",
    description: "With their balances.",
    result: {
      schema: Type.Array(RESOURCES.AdminAccount, { $id: "AdminAccountList" }),
      description: "The accounts, by name",
    },
    handle: (options) => listAccounts(options),
  }),
  defineAdmin({
    id: "adminCreateAccount",
    operation: "POST /admin/accounts",
    summary: "Create an account",
    description: "With credits, if you give an amount.",
    errors: {
      "Invalid Request": 'name must be 1 to 256 characters without control characters, got ""',
      Conflict: "There is an account acme already",
    },
    body: resource("NewAccount", { name: Name, credits: Type.Optional(PositiveInteger) }),
    result: {
      schema: RESOURCES.AdminAccount,
      description: "The account was created",
      statuses: [201],
    },
    handle: async (options, { body: { name, credits = 0 }, record }) => {
      const { ledger, now } = options;
      await record({ action: "accounts create", target: name, details: { credits } }, () =>
        ledger.createAccount(name, now(), credits),
      );
      return getAccount(options, name);
    },
  }),
  defineAdmin({
    id: "adminChangeAccount",
    operation: "PATCH /admin/accounts",
    summary: "Change an account",
    description:
      "Sets the balance below which a notice is sent; null turns notices off, and deletes the " +
      "pending ones.",
    errors: {
      "Invalid Request": "name: expected string, got 7",
      "Not Found": "There is no account nobody",
    },
    body: resource("AccountChange", { name: Name, low_balance: nullable(PositiveInteger) }),
    result: { schema: RESOURCES.AdminAccount, description: "The account" },
    handle: async (options, { body: { name, low_balance }, record }) => {
      await record({ action: "accounts set", target: name, details: { low_balance } }, () =>
        options.ledger.setLowBalance(name, low_balance),
      );
      return getAccount(options, name);
    },
  }),
  defineAdmin({
    id: "adminGrantCredits",
    operation: "POST /admin/grants",
    summary: "Grant credits",
    description:
      "An account gets a grant with a reference only once: repeating it changes nothing, and another " +
      "amount is a conflict.",
    errors: {
      "Invalid Request": "amount: expected integer, got 1.5",
      "Not Found": "There is no account nobody",
      Conflict: "Reference invoice-7 granted 5000 before, it cannot grant 6000",
    },
    body: resource("NewGrant", {
      account: Name,
      amount: PositiveInteger,
      reference: Type.Optional(Name),
      reason: Type.Optional(Name),
    }),
    result: {
      schema: RESOURCES.GrantReceipt,
      description: "The grant",
    },
    handle: async ({ ledger, now }, { body, record }) => {
      const { account, ...details } = body;
      const { isNew, balance } = await record(
        { action: "credits grant", target: account, details },
        () => ledger.grant({ ...body, id: Bun.randomUUIDv7() }, now()),
        (grant) => ({ is_new: grant.isNew }),
      );
      return { account, is_new: isNew, balance };
    },
  }),
  defineAdmin({
    id: "adminVerify",
    operation: "GET /admin/verification",
    summary: "Verify the ledger",
    description:
      "Recomputes every balance from the journal, and compares the journal with the usage. This can " +
      "take a while.",
    result: {
      schema: RESOURCES.Verification,
      description: "What was verified, and what is wrong",
    },
    handle: ({ verifyLedger }) => verifyLedger(),
  }),
] as const;

type UsedAccount = Awaited<ReturnType<LedgerStore["accounts"]>>[number];

function toAccountResource({ createdAt, lowBalance, used, ...account }: UsedAccount) {
  const { name, balance, granted, debited, refunded } = account;
  return {
    name,
    balance,
    low_balance: lowBalance,
    used_30_days: used,
    granted,
    debited,
    refunded,
    created_at: formatInstant(createdAt),
  };
}
