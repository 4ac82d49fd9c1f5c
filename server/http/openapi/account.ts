/** The account of a key as the reference describes it. */
import { describeOperation, describeQueryParameter } from "./operation.ts";
import { USAGE_DAYS } from "../reads/usage-days.ts";

const DAY_SCHEMA = { type: "string", format: "date", maxLength: 10 };

/** The operations of the account. */
export const ACCOUNT_OPERATIONS = {
  account: describeOperation({
    id: "getAccount",
    tag: "Account",
    path: "/api/account",
    summary: "The account of the key",
    description: `Its balance, and what it used on each day of at most ${USAGE_DAYS.max}. Free.`,
    parameters: [
      describeQueryParameter(
        "from",
        `The first day, UTC; by default ${USAGE_DAYS.default - 1} days before the last.`,
        DAY_SCHEMA,
      ),
      describeQueryParameter("to", "The last day, UTC; by default today.", DAY_SCHEMA),
    ],
    success: {
      status: 200,
      description: "The account",
      schema: "AccountDetails",
      example: {
        account: "acme",
        balance: 9_917,
        usage: [
          { day: "2026-11-19", requests: 0, credits: 0, refunded: 0 },
          { day: "2026-11-20", requests: 84, credits: 84, refunded: 1 },
        ],
      },
    },
    errors: [["Invalid Request", 'from must be a day that exists (2026-11-20), got "2026-11-31"']],
  }),
};
