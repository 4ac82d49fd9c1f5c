/** The administration API of accounts and their credits. */
import { Elysia } from "elysia";
import { DAY_MS, formatInstant } from "../../../core/time.ts";
import type { UsedAccount } from "../../store/accounts/ledger.ts";
import { AccountChange, NewAccount, NewGrant } from "../openapi/admin/schemas.ts";
import { recordChange } from "./audit.ts";
import type { AdminOptions } from "./options.ts";
import { withBody } from "./validation.ts";

/** The days of `used_30_days`, today included: by default, `GET /admin/usage` lists the same. */
const USED_DAYS = 30;

/** Creates the routes of accounts. */
export function createAdminAccountRoutes(options: AdminOptions) {
  const { now, ledger, verifyLedger, recoverRefunds } = options;
  const listAccounts = async (name?: string) => {
    const today = Math.floor(now() / DAY_MS);
    const days = { first: today - USED_DAYS + 1, last: today };
    return (await ledger.accounts(days, name)).map(toAccountResource);
  };
  const getAccount = async (name: string) => {
    const [account] = await listAccounts(name);
    if (account === undefined) throw new Error(`There is no account ${name}`);
    return account;
  };
  return new Elysia({ name: "admin-accounts" })
    .post("/refunds", ({ request }) =>
      recordChange(options, request, { action: "credits apply-refunds" }, async () => {
        const files = await recoverRefunds();
        const settled = files.reduce((sum, file) => sum + file.settled, 0);
        return { result: { files }, details: { settled } };
      }),
    )
    .get("/accounts", () => listAccounts())
    .post(
      "/accounts",
      async ({ body: { name, credits = 0 }, request, set }) => {
        const change = { action: "accounts create", target: name, details: { credits } } as const;
        await recordChange(options, request, change, async () => ({
          result: await ledger.createAccount(name, now(), credits),
        }));
        set.status = 201;
        return getAccount(name);
      },
      withBody(NewAccount),
    )
    .patch(
      "/accounts",
      async ({ body: { name, low_balance }, request }) => {
        const details = { low_balance };
        const change = { action: "accounts set", target: name, details } as const;
        await recordChange(options, request, change, async () => ({
          result: await ledger.setLowBalance(name, low_balance),
        }));
        return getAccount(name);
      },
      withBody(AccountChange),
    )
    .post(
      "/grants",
      async ({ body, request }) => {
        const { account: target, ...details } = body;
        const change = { action: "credits grant", target, details } as const;
        const { isNew, balance } = await recordChange(options, request, change, async () => {
          const result = await ledger.grant({ uid: Bun.randomUUIDv7(), ...body }, now());
          return { result, details: { is_new: result.isNew } };
        });
        return { account: body.account, is_new: isNew, balance };
      },
      withBody(NewGrant),
    )
    .get("/verification", () => verifyLedger());
}

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
