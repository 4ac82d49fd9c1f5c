import { expect, test } from "bun:test";
import { createAccountDetails } from "../../../core/responses/account.ts";

test("createAccountDetails() has each day of the range, also those without use", () => {
  const used = [{ day: 1, requests: 3, credits: 5, refunded: 2 }];
  const account = { name: "acme", balance: 7 };
  expect(createAccountDetails(account, { first: 0, last: 1 }, used)).toEqual({
    account: "acme",
    balance: 7,
    usage: [
      { day: "1970-01-01", requests: 0, credits: 0, refunded: 0 },
      { day: "1970-01-02", requests: 3, credits: 5, refunded: 2 },
    ],
  });
});
