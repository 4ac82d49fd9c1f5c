/** A commit of free repeats that is sent again counts them once, and gets its outcome again. */
import { describe, expect, test } from "bun:test";
import { FREE_REPEATS_MAX } from "../../../core/limits.ts";
import { createLedgerStore, type LedgerStore } from "../../../server/store/accounts/ledger.ts";
import { makeCharge, withAccounts } from "../../support/store/debits.ts";

const NOW = 1_790_000_000_000;

/** Reads with one idempotency key, each in a commit of its own. */
const createReader = (ledger: LedgerStore, account: number) => async (uid: string) => {
  const idempotencyKey = { value: "k", fingerprint: "a request" };
  const charges = [{ ...makeCharge(account), idempotencyKey }];
  const { outcomes } = await ledger.debit(charges, { id: uid, now: NOW });
  return outcomes[0]?.kind;
};

const withReader = (work: (read: ReturnType<typeof createReader>) => Promise<void>) =>
  withAccounts([100], (database, [account = 0]) =>
    work(createReader(createLedgerStore(database), account)),
  );

const readAll = async (read: ReturnType<typeof createReader>, uids: readonly string[]) => {
  const kinds = [];
  for (const uid of uids) kinds.push(await read(uid));
  return kinds;
};

const REPEATS = Array.from({ length: FREE_REPEATS_MAX }, (_, index) => `repeat ${index}`);

describe("debit() of free repeats", () => {
  test("counts a commit once that is sent again after others", () =>
    withReader(async (read) => {
      await readAll(read, ["payment", "lost", "other", "lost", "other", "lost"]);
      // Two repeats are counted; the others are free, too, and then one pays.
      expect(await readAll(read, REPEATS.slice(2))).not.toContain("charged");
      expect(await read("another payment")).toBe("charged");
    }));

  test("gives a commit its outcome again when no free repeat is left", () =>
    withReader(async (read) => {
      await read("payment");
      await readAll(read, REPEATS);
      expect(new Set(await readAll(read, REPEATS))).toEqual(new Set(["repeated"]));
      expect(await read("payment")).toBe("charged");
    }));

  test("finds the debit of a commit that is sent again after its key paid anew", () =>
    withReader(async (read) => {
      expect(await read("payment")).toBe("charged");
      await readAll(read, REPEATS);
      expect(await read("another payment")).toBe("charged");
      expect(await read("payment")).toBe("charged");
    }));

  test("counts nothing of a commit that is sent again after the key paid anew", () =>
    withReader(async (read) => {
      await read("payment");
      await readAll(read, REPEATS);
      expect(await read("another payment")).toBe("charged");
      await readAll(read, REPEATS);
      const others = REPEATS.map((uid) => `another ${uid}`);
      expect(new Set(await readAll(read, others))).toEqual(new Set(["repeated"]));
      expect(await read("a third payment")).toBe("charged");
    }));
});
