import { describe, expect, test } from "bun:test";
import { parseObservationLine } from "../../core/observations.ts";
import type { Receipt } from "../../server/metering/group-commit.ts";
import { createDebitQueue } from "../../server/metering/debit-queue.ts";
import { createLedgerStore, type LedgerStore } from "../../server/store/accounts/ledger.ts";
import { writeObservations } from "../support/store/observations.ts";
import { createOwnerTag, LIST_TAGS } from "../../server/store/history/change-log.ts";
import { type CommitChangeSet } from "../../server/store/history/commit-changes.ts";
import { verifyLedger } from "../../server/store/accounts/verify-ledger.ts";
import { withDatabase } from "../support/store/database.ts";
import { makeCharge } from "../support/store/debits.ts";
import { blockCommits } from "../support/store/blocked-ledger.ts";
import { waitUntil } from "../support/wait.ts";

const NOW = 1_790_000_000_000;

const balancesOrErrors = (outcomes: readonly PromiseSettledResult<Receipt>[]) =>
  outcomes.map((outcome) =>
    outcome.status === "fulfilled" ? outcome.value.balance : outcome.reason.message,
  );

describe("createDebitQueue()", () => {
  test("debit() commits the requests that arrive during a commit as the next batch, in their order", async () => {
    await withDatabase(async (database) => {
      const ledger = createLedgerStore(database);
      const [a, b] = [await ledger.createAccount("a", 0), await ledger.createAccount("b", 0)];
      await ledger.grant({ id: "ga", account: "a", amount: 3 }, 0);
      await ledger.grant({ id: "gb", account: "b", amount: 1 }, 0);
      const { blockedLedger, groups, unblock } = blockCommits(ledger);
      const debits = createDebitQueue({ ledger: blockedLedger, now: () => 0 });
      const first = debits.debit(makeCharge(a.id));
      await waitUntil(() => groups.length > 0);
      const rest = [a, b, a, b, a].map(({ id }) => debits.debit(makeCharge(id)));
      unblock(0);
      expect((await first).balance).toBe(2);
      unblock(1);
      const refused = "This request costs 1 credit, the balance is 0";
      expect(balancesOrErrors(await Promise.allSettled(rest))).toEqual([1, 0, 0, refused, refused]);
      expect(groups).toEqual([[a.id], [a.id, b.id, a.id, b.id, a.id]]);
      expect((await verifyLedger(database)).faults).toEqual([]);
    });
  });

  test("debit() rejects only the batch whose commit failed, and decides the waiting requests", async () => {
    await withDatabase(async (database) => {
      const ledger = createLedgerStore(database);
      const { id } = await ledger.createAccount("a", 0);
      await ledger.grant({ id: "g", account: "a", amount: 5 }, 0);
      const { blockedLedger, groups, unblock } = blockCommits(ledger);
      const debits = createDebitQueue({ ledger: blockedLedger, now: () => 0 });
      const failing = Promise.allSettled([
        debits.debit(makeCharge(id)),
        debits.debit(makeCharge(id)),
      ]);
      await waitUntil(() => groups.length > 0);
      const waiting = Promise.allSettled([
        debits.debit(makeCharge(id)),
        debits.debit(makeCharge(id)),
      ]);
      unblock(0, new Error("The disk is full"));
      unblock(1);
      unblock(2);
      expect(balancesOrErrors(await failing)).toEqual(["The disk is full", "The disk is full"]);
      expect(balancesOrErrors(await waiting)).toEqual([4, 3]);
      expect((await debits.debit(makeCharge(id))).balance).toBe(2);
      expect(groups.map(({ length }) => length)).toEqual([2, 2, 1]);
      expect(await ledger.account("a")).toMatchObject({ debited: 3, balance: 2 });
    });
  });

  test("refund() gives a debit back once", async () => {
    await withDatabase(async (database) => {
      const ledger = createLedgerStore(database);
      const { id } = await ledger.createAccount("a", 0);
      await ledger.grant({ id: "g", account: "a", amount: 5 }, 0);
      const debits = createDebitQueue({ ledger, now: () => 9 });
      const receipts = await Promise.all([
        debits.debit(makeCharge(id)),
        debits.debit(makeCharge(id, 2)),
      ]);
      const [, second] = receipts;
      if (second === undefined) throw new Error("There is no second receipt");
      await Promise.all(["a", "b"].map((reason) => debits.refund(second, reason)));
      expect(await ledger.account("a")).toMatchObject({ debited: 3, refunded: 2, balance: 4 });
      const { lines } = await ledger.statement("a", { since: 0, until: 1 }, 10);
      expect(lines.map(({ kind, amount, at }) => [kind, amount, at])).toEqual([
        ["grant", 5, 0],
        ["refund", 2, 0],
        ["debit", 3, 0],
      ]);
    });
  });

  test("debit() commits the requests of one turn together, in their order", async () => {
    await withDatabase(async (database) => {
      const ledger = createLedgerStore(database);
      const account = await ledger.createAccount("a", NOW);
      await ledger.grant({ id: "g", account: "a", amount: 60 }, NOW);
      const groups: number[] = [];
      const counting: LedgerStore = {
        ...ledger,
        debit: (waiting, group) => {
          groups.push(waiting.length);
          return ledger.debit(waiting, group);
        },
      };
      const debits = createDebitQueue({ ledger: counting, now: () => NOW });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 100 }, () => debits.debit(makeCharge(account.id))),
      );
      expect(groups).toEqual([100]);
      expect(
        outcomes.map((outcome) =>
          outcome.status === "fulfilled" ? outcome.value.balance : "refused",
        ),
      ).toEqual(Array.from({ length: 100 }, (_, index) => (index < 60 ? 59 - index : "refused")));
    });
  });
});

describe("onChanges()", () => {
  test("receives the changes since the previous commit, and unknown changes at the first", async () => {
    await withDatabase(async (database) => {
      const ledger = createLedgerStore(database);
      const { id } = await ledger.createAccount("a", 0);
      await ledger.grant({ id: "g", account: "a", amount: 5 }, 0);
      const received: [CommitChangeSet, startedAt: number][] = [];
      let time = NOW;
      const debits = createDebitQueue({
        ledger,
        now: () => time++,
        onChanges: (...given) => received.push(given),
      });
      const line = '{"kind":"user","observedAt":"2026-09-01","username":"Nasa"}';
      await debits.debit(makeCharge(id));
      await debits.debit(makeCharge(id));
      await writeObservations(database, [parseObservationLine(line, NOW)]);
      await debits.debit(makeCharge(id));
      expect(received).toEqual([
        [{ sequence: 0, published: 0, tags: undefined, keys: undefined }, NOW],
        [{ sequence: 0, published: 0, tags: [], keys: [] }, NOW + 1],
        [
          {
            sequence: 1,
            published: 0,
            tags: [createOwnerTag("user", "nasa"), LIST_TAGS.user],
            keys: [],
          },
          NOW + 2,
        ],
      ]);
    });
  });

  test("receives unknown changes after the database lost some, as a server without syncs can", async () => {
    await withDatabase(async (database) => {
      const ledger = createLedgerStore(database);
      const { id } = await ledger.createAccount("a", 0);
      await ledger.grant({ id: "g", account: "a", amount: 5 }, 0);
      const received: (readonly unknown[])[] = [];
      const debits = createDebitQueue({
        ledger,
        now: () => NOW,
        onChanges: ({ sequence, tags }) => received.push([sequence, tags]),
      });
      const observe = (username: string) => {
        const line = JSON.stringify({ kind: "user", observedAt: "2026-09-01", username });
        return writeObservations(database, [parseObservationLine(line, NOW)]);
      };
      for (const username of ["a", "b", "c"]) await observe(username);
      await debits.debit(makeCharge(id));
      await database.write([{ sql: "DELETE FROM changes WHERE sequence > 1", args: [] }]);
      await debits.debit(makeCharge(id));
      await observe("d");
      await debits.debit(makeCharge(id));
      const tags = [createOwnerTag("user", "d"), LIST_TAGS.user];
      expect(received).toEqual([
        [3, undefined],
        [1, undefined],
        [2, tags],
      ]);
    });
  });
});

describe("createDebitQueue() with listeners that fail", () => {
  test("debit() and refund() go on, and the failures are reported", async () => {
    await withDatabase(async (database) => {
      const ledger = createLedgerStore(database);
      const { id } = await ledger.createAccount("a", 0);
      await ledger.grant({ id: "g", account: "a", amount: 5 }, 0);
      const failures: unknown[] = [];
      const received: CommitChangeSet[] = [];
      const debits = createDebitQueue({
        ledger,
        now: () => NOW,
        onChanges(changes) {
          received.push(changes);
          if (received.length === 2) throw new Error("onChanges failed");
        },
        onEnd() {
          throw new Error("onEnd failed");
        },
        onFailure(error) {
          failures.push(error);
          throw new Error("onFailure failed");
        },
      });
      const keyed = { ...makeCharge(id), idempotencyKey: { value: "k", fingerprint: "a URL" } };
      const [first, repeat] = [debits.debit(keyed), debits.debit(keyed)];
      debits.complete(await first, 200);
      expect((await repeat).cost).toBe(0);
      const last = await debits.debit(makeCharge(id));
      await debits.refund(last, "The answer failed");
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 1 });
      expect(failures.map((error) => String(error))).toEqual([
        "Error: onEnd failed",
        "Error: onChanges failed",
        "Error: onEnd failed",
      ]);
      // The listener missed the second ones.
      expect(received.map(({ tags }) => tags)).toEqual([undefined, [], undefined]);
    });
  });
});
