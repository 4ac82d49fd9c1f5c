import { expect, test } from "bun:test";
import { DomainError } from "../../../core/errors.ts";
import { createResponseCache } from "../../../server/http/reads/response-cache.ts";
import { ConnectionClosedError, serveCharged } from "../../../server/http/reads/charge.ts";
import { letEventLoopRun } from "../../support/wait.ts";
import type { Receipt } from "../../../server/ports/ledger.ts";

const RECEIPT: Receipt = { cost: 1, balance: 0, changeSequence: 0 };

/** What reads are made with, where `told` is told what becomes of each debit. */
const createChargeParts = (events: string[], refund: (reason: string) => Promise<void>) => ({
  debitQueue: {
    debit: (): Promise<Receipt> => Promise.reject(new Error("It was charged before")),
    complete: () => void events.push("kept"),
    refund: (_: Receipt, reason: string) => refund(reason),
  },
  responseCache: createResponseCache(),
  waitForSlot: () => undefined,
  now: () => 0,
});

const respond = () => new Response();

const PRICED = { endpoint: "/{a}", route: "/:a", cost: 1 };

test("serveCharged() ends only after the debit of an answer that failed is given back", async () => {
  const told: string[] = [];
  const refund = Promise.withResolvers<void>();
  const parts = createChargeParts(told, () =>
    refund.promise.then(() => void told.push("given back")),
  );
  const read = {
    signal: new AbortController().signal,
    pathAndQuery: "/a",
    billing: PRICED,
    read: () => Promise.reject(new Error("It failed")),
  };
  const answered = serveCharged(parts, RECEIPT, read, {}, respond).catch(({ message }) =>
    told.push(message),
  );
  await letEventLoopRun();
  expect(told).toEqual([]);
  refund.resolve();
  await answered;
  expect(told).toEqual(["given back", "It failed"]);
});

test.each([
  ["an answer", async () => ({ body: {}, tags: [] })],
  ["a 404", () => Promise.reject(new DomainError("User Not Found", "User a not found"))],
])(
  "serveCharged() refunds %s, once, where its connection closed during the read",
  async (_, read) => {
    const told: string[] = [];
    const parts = createChargeParts(told, async (reason) => void told.push(reason));
    const connection = new AbortController();
    const asked = {
      signal: connection.signal,
      pathAndQuery: "/a",
      billing: PRICED,
      read() {
        connection.abort();
        return read();
      },
    };
    const answered = serveCharged(parts, RECEIPT, asked, {}, respond);
    expect(await answered.catch((error: unknown) => error)).toBeInstanceOf(ConnectionClosedError);
    expect(told).toEqual(["The connection closed before the answer"]);
  },
);
