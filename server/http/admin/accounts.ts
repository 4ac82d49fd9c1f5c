/** Administration endpoints of accounts: grants, refunds, usage, statements and verification. */
import { Type } from "@sinclair/typebox";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { readSingleValue, type QueryParameters } from "../../../core/parameters.ts";
import { AccountDetails } from "../../../core/resources/account.ts";
import { Count, nullable, strictObject } from "../../../core/resources/fields.ts";
import {
  DAY_MS,
  FIRST_INSTANT,
  formatInstant,
  HOUR_MS,
  LAST_INSTANT,
  parseInstantParameter,
} from "../../../core/time.ts";
import { readAccountDetails, USAGE_QUERY } from "../endpoints/account.ts";
import { createInstantParameter } from "../endpoints/parameters.ts";
import { defineAdmin, type AdminOptions } from "./endpoint.ts";
import { Name, PositiveInteger, resource, RESOURCES } from "./resources.ts";
import { toResource } from "./rows.ts";
import { AccountParameter, parseAccount } from "./validation.ts";

/** The days of `used_30_days`, with today. By default, `GET /admin/usage` lists the same days. */
const USED_DAYS = 30;

const STATEMENT_PAGE_LINES = 1000;
const FIRST_HOUR = FIRST_INSTANT / HOUR_MS;
const LAST_HOUR = Math.ceil(LAST_INSTANT / HOUR_MS);

async function listAccounts({ now, ledger }: AdminOptions, name?: string) {
  const today = Math.floor(now() / DAY_MS);
  const days = { first: today - USED_DAYS + 1, last: today };
  const accounts = await ledger.accounts(days, name);
  return accounts.map((account) =>
    toResource(RESOURCES.AdminAccount, { ...account, used30Days: account.used }),
  );
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
    result: { schema: RESOURCES.GrantReceipt, description: "The grant" },
    handle: async ({ ledger, now }, { body, record }) => {
      const { account, ...details } = body;
      const granted = await record(
        { action: "credits grant", target: account, details },
        () => ledger.grant({ ...body, id: Bun.randomUUIDv7() }, now()),
        ({ isNew }) => ({ is_new: isNew }),
      );
      return toResource(RESOURCES.GrantReceipt, { ...granted, account });
    },
  }),
  defineAdmin({
    id: "adminVerify",
    operation: "GET /admin/verification",
    summary: "Verify the ledger",
    description:
      "Recomputes every balance from the journal, and compares the journal with the usage. This can " +
      "take a while.",
    result: { schema: RESOURCES.Verification, description: "What was verified, and what is wrong" },
    handle: ({ verifyLedger }) => verifyLedger(),
  }),
  defineAdmin({
    id: "adminGetUsage",
    operation: "GET /admin/usage",
    summary: "The usage of an account",
    description: "What a key of the account reads at /api/account.",
    errors: {
      "Invalid Request": 'from must be a day that exists (2026-11-20), got "2026-11-31"',
      "Not Found": "There is no account nobody",
    },
    query: { account: AccountParameter, ...USAGE_QUERY },
    result: { schema: AccountDetails, description: "The account and its usage" },
    handle: async ({ ledger, now }, { query }) => {
      const account = await ledger.account(parseAccount(query));
      return readAccountDetails(ledger, account.id, async () => account, query, now());
    },
  }),
  defineAdmin({
    id: "adminGetStatement",
    operation: "GET /admin/statement",
    summary: "The statement of an account",
    description:
      "Grants, refunds and debits, with the balance after each: about 1,000 lines of whole hours.",
    errors: {
      "Invalid Request":
        "since must be a day or the start of an hour in UTC, because usage is counted by hour, " +
        'got "2026-11-20T00:30:00Z"',
      "Not Found": "There is no account nobody",
    },
    query: {
      account: AccountParameter,
      since: createInstantParameter("The first day or hour, in UTC."),
      until: createInstantParameter("The day or hour after the last one, in UTC."),
    },
    result: { schema: RESOURCES.Statement, description: "A page of the statement" },
    handle: async ({ ledger }, { query }) => {
      const account = parseAccount(query);
      const hours = {
        since: parseHour("since", query) ?? FIRST_HOUR,
        until: parseHour("until", query) ?? LAST_HOUR,
      };
      const { lines, nextHour } = await ledger.statement(account, hours, STATEMENT_PAGE_LINES);
      const { items } = RESOURCES.Statement.properties.lines;
      return {
        lines: lines.map((line) => toResource(items, { ...line, keyBeginsWith: line.beginsWith })),
        next: nextHour === undefined ? null : formatInstant(nextHour * HOUR_MS),
      };
    },
  }),
] as const;

/** Parses a day or an hour, to hours since 1970 UTC. */
function parseHour(name: string, query: QueryParameters): number | undefined {
  const text = readSingleValue(name, query);
  const instant = text === undefined ? undefined : parseInstantParameter(name, text);
  if (instant === undefined || instant % HOUR_MS === 0) return instant && instant / HOUR_MS;
  throw createInvalidRequestError(
    `${name} must be a day or the start of an hour in UTC, because usage is counted by hour, ` +
      `got ${quoteValue(text)}`,
  );
}
