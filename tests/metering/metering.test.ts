import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { createDebits } from "../../server/metering/debits.ts";
import { createKeyring, hashKey, makeKey } from "../../server/metering/keys.ts";
import { keyStore } from "../../server/store/keys.ts";
import { ledgerStore } from "../../server/store/ledger.ts";
import { charge } from "../support/ledger.ts";
import { withDatabase } from "../support/database.ts";

const NOW = 1_790_000_000_000;

describe("createDebits()", () => {
  test("requests that wait for a commit share the next, in the order they came", async () => {
    await withDatabase(async (database) => {
      const ledger = ledgerStore(database);
      const account = await ledger.createAccount("a", NOW);
      await ledger.grant({ uid: "g", account: "a", amount: 60 }, NOW);
      const groups: number[] = [];
      const debits = createDebits(
        {
          ...ledger,
          debit: (waiting, group) => {
            groups.push(waiting.length);
            return ledger.debit(waiting, group);
          },
        },
        () => NOW,
      );
      const outcomes = await Promise.allSettled(
        Array.from({ length: 100 }, () => debits.debit(charge(account.id))),
      );
      expect(groups).toEqual([100]);
      expect(
        outcomes.map((outcome) =>
          outcome.status === "fulfilled" ? outcome.value.balance : "refused",
        ),
      ).toEqual(Array.from({ length: 100 }, (_, index) => (index < 60 ? 59 - index : "refused")));
    });
  });

  test("a commit that fails refuses its own requests, and the next ones are decided", async () => {
    let isBroken = true;
    const withdrawn: number[] = [];
    const debits = createDebits(
      {
        refund: async () => undefined,
        withdraw: async (waiting) => void withdrawn.push(waiting.length),
        debit: async (waiting) => {
          if (isBroken) throw new Error("The disk is full");
          const outcomes = waiting.map(({ account }) => ({
            kind: "charged" as const,
            debit: undefined,
            balance: account,
          }));
          return { outcomes, changes: { sequence: 0, subjects: [] } };
        },
      },
      () => NOW,
    );
    const broken = await Promise.allSettled([charge(1), charge(2)].map(debits.debit));
    expect(broken.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    isBroken = false;
    expect(await debits.debit(charge(7))).toMatchObject({ cost: 1, balance: 7 });
    expect(withdrawn).toEqual([2]);
  });
});

describe("createKeyring()", () => {
  test("believes a key for half a second, and a revocation here at once", async () => {
    await withDatabase(async (database) => {
      const account = await ledgerStore(database).createAccount("a", NOW);
      const store = keyStore(database);
      const clock = { now: NOW };
      const [here, elsewhere] = [0, 1].map(() => createKeyring(store, () => clock.now));
      const { key, hash, beginsWith } = makeKey();
      const id = await store.create({ account: account.id, hash, beginsWith, label: null }, NOW);
      const caller = { key: id, account: account.id };
      expect(await here?.callerOf(key)).toEqual(caller);
      expect(await elsewhere?.callerOf(key)).toEqual(caller);
      expect(await here?.callerOf(`${key}x`)).toBeUndefined();
      await store.revoke(id, NOW);
      here?.forget(hash);
      expect(await here?.callerOf(key)).toBeUndefined();
      clock.now += 499;
      expect(await elsewhere?.callerOf(key)).toEqual(caller);
      clock.now += 1;
      expect(await elsewhere?.callerOf(key)).toBeUndefined();
    });
  });
});

describe("makeKey()", () => {
  test("makes keys of 256 random bits, of which the SHA-256 is kept", () => {
    const made = Array.from({ length: 1000 }, makeKey);
    expect(new Set(made.map(({ key }) => key)).size).toBe(1000);
    for (const { key, hash, beginsWith } of made) {
      expect(Buffer.from(key.slice(3), "base64url").length).toBe(32);
      expect(hash).toBe(createHash("sha256").update(key).digest("hex"));
      expect(hash).toBe(hashKey(key));
      expect([key.startsWith(beginsWith), beginsWith.length]).toEqual([true, 10]);
    }
  });
});
