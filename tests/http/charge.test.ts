import { expect, test } from "bun:test";
import type { Receipt } from "../../core/credits.ts";
import { createAnswers } from "../../server/http/answers.ts";
import { readPaid } from "../../server/http/charge.ts";

test("readPaid() ends only after the debit of an answer that failed is given back", async () => {
  const told: string[] = [];
  const refund = Promise.withResolvers<void>();
  const parts = {
    charger: {
      debit: (): Promise<Receipt> => Promise.reject(new Error("It was charged before")),
      keep: () => void told.push("kept"),
      refund: () => refund.promise.then(() => void told.push("given back")),
    },
    answers: createAnswers(),
    turns: () => undefined,
    now: () => 0,
  };
  const read = {
    target: "/a",
    priced: { endpoint: "/{a}", route: "/:a", cost: 1 },
    read: () => Promise.reject(new Error("It failed")),
  };
  const receipt = { cost: 1, balance: 0, sequence: 0 };
  const answered = readPaid(parts, receipt, read, {}, () => new Response()).catch(({ message }) =>
    told.push(message),
  );
  for (let turn = 0; turn < 20; turn++) await Bun.sleep(0);
  expect(told).toEqual([]);
  refund.resolve();
  await answered;
  expect(told).toEqual(["given back", "It failed"]);
});
