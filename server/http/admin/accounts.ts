/** The endpoints of accounts and their credits. */
import { DAY_MS, formatInstant } from "../../../core/time.ts";
import type { UsedAccount } from "../../store/accounts/ledger.ts";
import * as schemas from "../openapi/admin/schemas.ts";
import { recordChange } from "./audit.ts";
import { defineAdmin, type AdminOptions } from "./options.ts";

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
    method: "POST",
    path: "/admin/refunds",
    document: {
      id: "adminApplyRefunds",
      summary: "Apply pending refunds",
      description: "Those that a service could not apply before it ended.",
    },
    result: { schema: schemas.AppliedRefunds, description: "The files of refunds" },
    handle: (options, { request }) =>
      recordChange(options, request, { action: "credits apply-refunds" }, async () => {
        const files = await options.recoverRefunds();
        const settled = files.reduce((sum, file) => sum + file.settled, 0);
        return { result: { files }, details: { settled } };
      }),
  }),
  defineAdmin({
    method: "GET",
    path: "/admin/accounts",
    document: {
      id: "adminListAccounts",
      summary: "List the accounts",
      description: "With their balances.",
    },
    result: { schema: schemas.AdminAccountList, description: "The accounts, by name" },
    handle: (options) => listAccounts(options),
  }),
  defineAdmin({
    method: "POST",
    path: "/admin/accounts",
    document: {
      id: "adminCreateAccount",
      summary: "Create an account",
      description: "With credits, if you give an amount.",
      errors: {
        "Invalid Request": 'name must be 1 to 256 characters without control characters, got ""',
        Conflict: "There is an account acme already",
      },
    },
    body: schemas.NewAccount,
    result: {
      schema: schemas.AdminAccount,
      description: "The account was created",
      statuses: [201],
    },
    handle: async (options, { body: { name, credits = 0 }, request }) => {
      const { ledger, now } = options;
      const change = { action: "accounts create", target: name, details: { credits } } as const;
      await recordChange(options, request, change, async () => ({
        result: await ledger.createAccount(name, now(), credits),
      }));
      return getAccount(options, name);
    },
  }),
  defineAdmin({
    method: "PATCH",
    path: "/admin/accounts",
    document: {
      id: "adminChangeAccount",
      summary: "Change an account",
      description:
        "Sets the balance below which a notice is sent; null turns notices off, and deletes the " +
        "pending ones.",
      errors: {
        "Invalid Request": "name: expected string, got 7",
        "Not Found": "There is no account nobody",
      },
    },
    body: schemas.AccountChange,
    result: { schema: schemas.AdminAccount, description: "The account" },
    handle: async (options, { body: { name, low_balance }, request }) => {
      const details = { low_balance };
      const change = { action: "accounts set", target: name, details } as const;
      await recordChange(options, request, change, async () => ({
        result: await options.ledger.setLowBalance(name, low_balance),
      }));
      return getAccount(options, name);
    },
  }),
  defineAdmin({
    method: "POST",
    path: "/admin/grants",
    document: {
      id: "adminGrantCredits",
      summary: "Grant credits",
      description:
        "An account gets a grant with a reference only once: repeating it changes nothing, and another " +
        "amount is a conflict.",
      errors: {
        "Invalid Request": "amount: expected integer, got 1.5",
        "Not Found": "There is no account nobody",
        Conflict: "Reference invoice-7 granted 5000 before, it cannot grant 6000",
      },
    },
    body: schemas.NewGrant,
    result: { schema: schemas.GrantReceipt, description: "The grant" },
    handle: async (options, { body, request }) => {
      const { account: target, ...details } = body;
      const change = { action: "credits grant", target, details } as const;
      const { isNew, balance } = await recordChange(options, request, change, async () => {
        const grant = { ...body, id: Bun.randomUUIDv7() };
        const result = await options.ledger.grant(grant, options.now());
        return { result, details: { is_new: result.isNew } };
      });
      return { account: target, is_new: isNew, balance };
    },
  }),
  defineAdmin({
    method: "GET",
    path: "/admin/verification",
    document: {
      id: "adminVerify",
      summary: "Verify the ledger",
      description:
        "Recomputes every balance from the journal, and compares the journal with the usage. This can " +
        "take a while.",
    },
    result: {
      schema: schemas.Verification,
      description: "What was verified, and what is wrong",
    },
    handle: ({ verifyLedger }) => verifyLedger(),
  }),
] as const;

function toAccountResource({
  name,
  createdAt,
  granted,
  debited,
  refunded,
  balance,
  lowBalance,
  used,
}: UsedAccount) {
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
