import { describe, expect, test } from "bun:test";
import {
  formatRequest,
  formatResponse,
  MESSAGE_SCHEMAS,
  MESSAGES_VERSION,
  parseRequest,
  parseResponse,
} from "../../server/committer/messages.ts";
import type { RunBatch } from "../../server/store/accounts/debit-sql.ts";
import type { CommittedRuns } from "../../server/store/accounts/run-batches.ts";

const RUN = { account: 1, cost: 2, key: 3, endpoint: "/api/video/channels", count: 4 };
const DEBIT = { uid: "u", account: 1, run: 0, index: 0, cost: 1, key: 3, endpoint: "/a", hour: 5 };

const BATCH: RunBatch = {
  runs: [
    RUN,
    { ...RUN, count: 1, idempotencyKey: { value: "k", fingerprint: "f" }, hasWaited: true },
  ],
  uid: "batch",
  now: 1_790_000_000_000,
  since: 7,
  refunds: [{ debit: DEBIT, reason: "why" }],
};

const COMMITTED: CommittedRuns = {
  outcomes: [{ balance: 5, requests: 4 }, null],
  payments: [
    { account: 1, idempotencyKey: "k", fingerprint: "f", uid: "u", repeatedBy: ["a", "b"] },
  ],
  changes: { sequence: 7, tags: "[]", published: 0 },
};

describe("parseRequest()", () => {
  test("returns what formatRequest() wrote, without members that are undefined", () => {
    expect(parseRequest(formatRequest({ id: 1, batch: BATCH }))).toEqual({ id: 1, batch: BATCH });
    const sparse: RunBatch = { ...BATCH, since: undefined, refunds: [] };
    const { since: _, ...expected } = sparse;
    expect(parseRequest(formatRequest({ id: 2, batch: sparse }))).toEqual({
      id: 2,
      batch: expected,
    });
  });

  const change = (changes: object) => JSON.stringify({ id: 1, batch: { ...BATCH, ...changes } });
  test.each([
    ["no JSON", "{"],
    ["another value", "7"],
    ["a response", formatResponse({ id: 1, committed: COMMITTED })],
    ["no id", JSON.stringify({ batch: BATCH })],
    ["no runs", change({ runs: [] })],
    ["a cost of 0", change({ runs: [{ ...RUN, cost: 0 }] })],
    ["a fraction of a request", change({ runs: [{ ...RUN, count: 0.5 }] })],
    ["an account that is a text", change({ runs: [{ ...RUN, account: "1" }] })],
    ["an empty uid", change({ uid: "" })],
    ["a refund without a debit", change({ refunds: [{ reason: "why" }] })],
  ])("returns undefined for %s", (_, text) => {
    expect(parseRequest(text)).toBeUndefined();
  });
});

describe("parseResponse()", () => {
  test("returns what formatResponse() wrote", () => {
    const responses = [
      { id: 1, committed: COMMITTED },
      { id: 2, isRefused: true },
    ];
    for (const response of responses) {
      expect(parseResponse(formatResponse(response))).toEqual(response);
    }
  });

  test.each([["no JSON"], [`{"id":1}`], [formatRequest({ id: 1, batch: BATCH })]])(
    "returns undefined for %s",
    (text) => {
      expect(parseResponse(text)).toBeUndefined();
    },
  );
});

test("MESSAGES_VERSION is another one for other messages", () => {
  const schemas = JSON.stringify(MESSAGE_SCHEMAS);
  const hash = new Bun.CryptoHasher("sha256").update(schemas).digest("hex").slice(0, 16);
  expect([MESSAGES_VERSION, hash]).toEqual([2, "d531f2db3d8a6958"]);
});
