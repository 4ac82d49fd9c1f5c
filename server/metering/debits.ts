/**
 * Debits: a priced request waits here until its debit is committed.
 *
 * While one commit is under way the requests that come in wait for the next, so one sync serves
 * many. The ledger decides each of them exactly, in the order they came. Requests that come
 * together with one idempotency key are one debit.
 */
import pRetry from "p-retry";
import { insufficientCredits, type Charge, type Receipt } from "../../core/credits.ts";
import { DomainError } from "../../core/errors.ts";
import type { Changes } from "../../core/reading.ts";

/** What the ledger decided of a request. */
export type Outcome<Debit> =
  | { readonly kind: "charged"; readonly debit: Debit; readonly balance: number }
  /** Its idempotency key had paid before; or the balance is too low. */
  | { readonly kind: "repeated" | "refused"; readonly balance: number }
  /** Its idempotency key paid for something else. */
  | { readonly kind: "misused" };

/** The ledger that decides and commits; `Debit` is how it names a debit. */
export interface DebitLedger<Debit = unknown> {
  debit(
    waiting: readonly Charge[],
    group: { readonly uid: string; readonly now: number; readonly since: number | undefined },
  ): Promise<{ readonly outcomes: readonly Outcome<Debit>[]; readonly changes: Changes }>;
  refund(debit: Debit, uid: string, reason: string, now: number): Promise<void>;
  /** Sees to it that a group whose commit failed takes nothing. */
  withdraw(waiting: readonly Charge[], uid: string, now: number): Promise<void>;
}

interface Waiting {
  readonly charge: Charge;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
  /** Requests with the same idempotency key that came together with this one: one debit. */
  followers: Waiting[] | undefined;
}

/** A debit that requests share, and how many of them may still need it. */
interface Share<Debit> {
  readonly debit: Debit;
  open: number;
}

interface SharedReceipt<Debit> extends Receipt {
  share: Share<Debit> | undefined;
}

/** Charges requests. */
export type Debits = ReturnType<typeof createDebits>;

/** How often it is tried to withdraw a group that failed: until it works. */
const WITHDRAWAL_RETRIES = {
  retries: Infinity,
  minTimeout: 1000,
  maxTimeout: 30_000,
  unref: true,
};

/**
 * Makes the queue of debits before a ledger.
 *
 * @param now The clock, in milliseconds.
 * @param onChanges Told what was observed up to a commit, before its requests go on.
 */
export function createDebits<Debit>(
  ledger: DebitLedger<Debit>,
  now: () => number,
  onChanges: (changes: Changes) => void = () => undefined,
) {
  let waiting: Waiting[] = [];
  let isCommitting = false;
  let since: number | undefined;

  /** Commits those that wait, one group after another. */
  function commit(): void {
    isCommitting = waiting.length > 0;
    if (!isCommitting) return;
    const { group, later } = joinShared(waiting);
    waiting = later;
    void commitGroup(group);
  }

  async function commitGroup(group: readonly Waiting[]): Promise<void> {
    const charges = group.map(({ charge }) => charge);
    const uid = Bun.randomUUIDv7();
    try {
      const { outcomes, changes } = await ledger.debit(charges, { uid, now: now(), since });
      since = changes.sequence;
      onChanges(changes);
      // The next group is on its way while the answers of this one are made.
      commit();
      for (const [index, one] of group.entries()) settle(one, outcomes[index], changes.sequence);
    } catch (error) {
      commit();
      for (const { reject, followers = [] } of group) {
        reject(error);
        for (const follower of followers) follower.reject(error);
      }
      const withdraw = () => ledger.withdraw(charges, uid, now());
      pRetry(withdraw, WITHDRAWAL_RETRIES).catch(() => undefined);
    }
  }

  return {
    /**
     * Charges a request; resolves once its debit is committed.
     *
     * @throws {DomainError} `Insufficient Credits`, or `Invalid Request` for an idempotency key
     * that paid for something else; nothing was debited then.
     */
    debit(charge: Charge): Promise<Receipt> {
      return new Promise((resolve, reject) => {
        waiting.push({ charge, resolve, reject, followers: undefined });
        // The requests of one turn of the event loop are one group.
        if (!isCommitting) {
          isCommitting = true;
          setImmediate(commit);
        }
      });
    },

    /**
     * Gives the debit of a request back that could not be answered, once; one that requests share
     * when none of them could be.
     */
    async refund(receipt: Receipt, reason: string): Promise<void> {
      const shared = receipt as SharedReceipt<Debit>;
      const { share } = shared;
      if (share === undefined) return;
      shared.share = undefined;
      share.open--;
      if (share.open === 0) await ledger.refund(share.debit, Bun.randomUUIDv7(), reason, now());
    },
  };
}

/** Tells a request, and those that share its debit, what became of it. */
function settle<Debit>(
  { charge, resolve, reject, followers }: Waiting,
  outcome: Outcome<Debit> | undefined,
  sequence: number,
): void {
  if (outcome === undefined || outcome.kind === "refused" || outcome.kind === "misused") {
    const error =
      outcome?.kind === "misused"
        ? misusedKey(charge)
        : insufficientCredits(outcome?.balance ?? 0, charge.cost);
    reject(error);
    for (const follower of followers ?? []) follower.reject(error);
    return;
  }
  const { balance } = outcome;
  const isCharged = outcome.kind === "charged";
  const share = isCharged ? { debit: outcome.debit, open: 1 } : undefined;
  const receiptOf = (cost: number): SharedReceipt<Debit> => ({ cost, balance, sequence, share });
  resolve(receiptOf(isCharged ? charge.cost : 0));
  for (const follower of followers ?? []) {
    if (share !== undefined) share.open++;
    follower.resolve(receiptOf(0));
  }
}

/** Joins the requests of one idempotency key; one that asks for something else waits. */
function joinShared(waiting: Waiting[]): { group: Waiting[]; later: Waiting[] } {
  if (waiting.every(({ charge }) => charge.payment === undefined)) {
    return { group: waiting, later: [] };
  }
  const group: Waiting[] = [];
  const later: Waiting[] = [];
  const first = new Map<string, Waiting>();
  for (const one of waiting) {
    const { account, payment } = one.charge;
    const name = payment === undefined ? undefined : `${account} ${payment.name}`;
    const leader = name === undefined ? undefined : first.get(name);
    if (leader === undefined) {
      if (name !== undefined) first.set(name, one);
      group.push(one);
    } else if (leader.charge.payment?.request === payment?.request) {
      (leader.followers ??= []).push(one);
    } else later.push(one);
  }
  return { group, later };
}

function misusedKey({ payment }: Charge): DomainError {
  return new DomainError(
    "Invalid Request",
    `The Idempotency-Key ${payment?.name} paid for another URL within 24 hours`,
  );
}
