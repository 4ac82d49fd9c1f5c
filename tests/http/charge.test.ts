import { expect, test } from "bun:test";
import type { Receipt } from "../../core/credits.ts";
import { DomainError } from "../../core/errors.ts";
import { createAnswers } from "../../server/http/answers.ts";
import { ConnectionClosedError, readPaid } from "../../server/http/charge.ts";

const RECEIPT: Receipt = { cost: 1, balance: 0, sequence: 0 };

/** What reads are made with, where `told` is told what becomes of each debit. */
const partsFor = (told: string[], refund: (reason: string) => Promise<void>) => ({
  charger: {
    debit: (): Promise<Receipt> => Promise.reject(new Error("It was charged before")),
    keep: () => void told.push("kept"),
    refund: (_: Receipt, reason: string) => refund(reason),
  },
  answers: createAnswers(),
  turns: () => undefined,
  now: () => 0,
});

const send = () => new Response();

const PRICED = { endpoint: "/{a}", route: "/:a", cost: 1 };

test("readPaid() ends only after the debit of an answer that failed is given back", async () => {
  const told: string[] = [];
  const refund = Promise.withResolvers<void>();
  const parts = partsFor(told, () => refund.promise.then(() => void told.push("given back")));
  const read = {
    signal: new AbortController().signal,
    target: "/a",
    priced: PRICED,
    read: () => Promise.reject(new Error("It failed")),
  };
  const answered = readPaid(parts, RECEIPT, read, {}, send).catch(({ message }) =>
    told.push(message),
  );
  for (let turn = 0; turn < 20; turn++) await Bun.sleep(0);
  expect(told).toEqual([]);
  refund.resolve();
  await answered;
  expect(told).toEqual(["given back", "It failed"]);
});

test.each([
  ["an answer", async () => ({ body: {}, subjects: [] })],
  ["a 404", () => Promise.reject(new DomainError("User Not Found", "User a not found"))],
])("readPaid() refunds %s, once, where its connection closed during the read", async (_, read) => {
  const told: string[] = [];
  const parts = partsFor(told, async (reason) => void told.push(reason));
  const connection = new AbortController();
  const asked = {
    signal: connection.signal,
    target: "/a",
    priced: PRICED,
    read() {
      connection.abort();
      return read();
    },
  };
  const answered = readPaid(parts, RECEIPT, asked, {}, send);
  expect(await answered.catch((error: unknown) => error)).toBeInstanceOf(ConnectionClosedError);
  expect(told).toEqual(["The connection closed before the answer"]);
});
