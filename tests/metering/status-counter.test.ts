import { describe, expect, test } from "bun:test";
import { createStatusCounter } from "../../server/metering/status-counter.ts";
import type { Debit } from "../../server/store/accounts/refunds.ts";
import type { LedgerStore } from "../../server/store/accounts/ledger.ts";

type StatusUpdate = Parameters<LedgerStore["addStatuses"]>[0][number];

const makeDebit = (endpoint: string, hour: number): Debit => ({
  uid: "u",
  account: 1,
  run: 0,
  index: 0,
  cost: 1,
  key: 2,
  endpoint,
  hour,
});

describe("createStatusCounter()", () => {
  test("adds each request once to its key, endpoint and hour, in as few updates as there are groups", async () => {
    const added: StatusUpdate[][] = [];
    const counter = createStatusCounter(
      { addStatuses: async (updates) => void added.push([...updates]) },
      (error) => {
        throw error;
      },
    );
    const group = { account: 1, key: 2 };
    const statuses = [200, 304, 404, undefined, 200, 500];
    for (const hour of [7, 8]) {
      for (const status of statuses) counter.count(makeDebit("/a", hour), status);
      counter.count(makeDebit("/b", hour), 200);
      counter.count(makeDebit("/a", hour), 200);
    }
    await counter.flush();
    const ofA = { ok: 3, notModified: 1, notFound: 1, failed: 2 };
    const ofB = { ok: 1, notModified: 0, notFound: 0, failed: 0 };
    expect(added).toEqual([
      [7, 8].flatMap((hour) => [
        { ...group, endpoint: "/a", hour, ...ofA },
        { ...group, endpoint: "/b", hour, ...ofB },
      ]),
    ]);
    await counter.flush();
    expect(added.length).toBe(1);
  });

  test("never adds again what may have been added, and goes on after a failure", async () => {
    const added: StatusUpdate[][] = [];
    const failures: unknown[] = [];
    let isAvailable = false;
    const counter = createStatusCounter(
      {
        addStatuses: async (updates) => {
          added.push([...updates]);
          if (!isAvailable) throw new Error("No answer");
        },
      },
      (error) => failures.push(error),
    );
    counter.count(makeDebit("/a", 1), 200);
    await counter.flush();
    isAvailable = true;
    counter.count(makeDebit("/a", 1), 404);
    await counter.flush();
    expect(failures).toEqual([new Error("No answer")]);
    expect(added.map(([update]) => [update?.ok, update?.notFound])).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });
});
