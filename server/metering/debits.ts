/**
 * Debits: a priced request waits here until its debit is committed.
 *
 * While one commit is under way the requests that come in wait for the next, so one sync serves
 * many. The ledger decides each of them exactly, in the order they came. Requests that come
 * together with one idempotency key are one debit.
 */
import pRetry from "p-retry";
import { insufficientCredits } from "../../core/credits.ts";
import { DomainError } from "../../core/errors.ts";

/** What a request is charged. */
export interface Charge {
  readonly account: number;
  readonly key: number;
  /** As the reference names it. */
  readonly endpoint: string;
  /** In credits, 1 or more. */
  readonly cost: number;
  /** Its idempotency key, and the SHA-256 of what it asks for. */
  readonly payment?: { readonly name: string; readonly request: string } | undefined;
}

/** A request that may be answered. */
export interface Receipt {
  /** What it was charged, in credits; 0 where its idempotency key had paid before. */
  readonly cost: number;
  /** What is left. */
  readonly balance: number;
  /** The last change that had been observed when it was committed. */
  readonly sequence: number;
}

/** What was observed up to a commit. */
export interface Changes {
  readonly sequence: number;
  /** What changed since the last commit; `undefined` where that cannot be told. */
  readonly subjects: readonly string[] | undefined;
}

/** The ledger that decides and commits; `Debit` is how it names a debit. */
export interface DebitLedger<Debit = unknown> {
  debit(
    waiting: readonly Charge[],
    group: { readonly uid: string; readonly now: number; readonly since: number | undefined },
  ): Promise<{
    readonly outcomes: readonly (
      | { readonly kind: "charged"; readonly debit: Debit; readonly balance: number }
      | { readonly kind: "repeated" | "refused"; readonly balance: number }
      | { readonly kind: "misused" }
    )[];
    readonly changes: Changes;
  }>;
  refund(debit: Debit, uid: string, reason: string, now: number): Promise<void>;
  /** Sees to it that a group whose commit failed takes nothing. */
  withdraw(waiting: readonly Charge[], uid: string, now: number): Promise<void>;
}

interface Waiting {
  readonly charge: Charge;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
}

/** Those that are one debit: requests that came together with one idempotency key, or one. */
type Party = [Waiting, ...Waiting[]];

/** Charges requests. */
export type Debits = ReturnType<typeof createDebits>;

/** How often it is tried to withdraw a group that failed: until it works. */
const WITHDRAWAL_RETRIES = {
  retries: Infinity,
  minTimeout: 1000,
  maxTimeout: 30_000,
  unref: true,
  shouldRetry: ({ error }: { error: Error }) => error instanceof DomainError,
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
  /** Who shares the debit of a receipt, and how many of them could not be answered. */
  const shares = new WeakMap<Receipt, { readonly debit: Debit; open: number }>();

  async function commit(): Promise<void> {
    while (waiting.length > 0) {
      const { parties, later } = partiesOf(waiting);
      waiting = later;
      await commitGroup(parties);
    }
    isCommitting = false;
  }

  async function commitGroup(parties: readonly Party[]): Promise<void> {
    const charges = parties.map(([{ charge }]) => charge);
    const group = { uid: Bun.randomUUIDv7(), now: now(), since };
    try {
      const { outcomes, changes } = await ledger.debit(charges, group);
      since = changes.sequence;
      onChanges(changes);
      parties.forEach((party, index) => settle(party, outcomes[index], changes.sequence));
    } catch (error) {
      for (const { reject } of parties.flat()) reject(error);
      const withdraw = () => ledger.withdraw(charges, group.uid, now());
      pRetry(withdraw, WITHDRAWAL_RETRIES).catch(() => undefined);
    }
  }

  type Outcome = Awaited<ReturnType<DebitLedger<Debit>["debit"]>>["outcomes"][number];

  function settle(party: Party, outcome: Outcome | undefined, sequence: number): void {
    const share = outcome?.kind === "charged" && { debit: outcome.debit, open: party.length };
    party.forEach(({ charge, resolve, reject }, index) => {
      if (outcome === undefined || outcome.kind === "refused") {
        return reject(insufficientCredits(outcome?.balance ?? 0, charge.cost));
      }
      if (outcome.kind === "misused") return reject(misusedKey(charge));
      const cost = share && index === 0 ? charge.cost : 0;
      const receipt = { cost, balance: outcome.balance, sequence };
      if (share) shares.set(receipt, share);
      resolve(receipt);
    });
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
        waiting.push({ charge, resolve, reject });
        // The requests of one turn of the event loop are one group.
        if (!isCommitting) {
          isCommitting = true;
          setImmediate(() => void commit());
        }
      });
    },

    /**
     * Gives the debit of a request back that could not be answered, once; one that requests share
     * when none of them could be.
     */
    async refund(receipt: Receipt, reason: string): Promise<void> {
      const share = shares.get(receipt);
      if (share === undefined || !shares.delete(receipt)) return;
      share.open--;
      if (share.open === 0) {
        await ledger.refund(share.debit, Bun.randomUUIDv7(), reason, now());
      }
    },
  };
}

/** Joins the requests of one idempotency key; one that asks for something else waits. */
function partiesOf(waiting: readonly Waiting[]): { parties: Party[]; later: Waiting[] } {
  const parties: Party[] = [];
  const later: Waiting[] = [];
  const byKey = new Map<string, Party>();
  for (const one of waiting) {
    const { account, payment } = one.charge;
    if (payment === undefined) {
      parties.push([one]);
      continue;
    }
    const name = `${account} ${payment.name}`;
    const party = byKey.get(name);
    if (party === undefined) {
      const next: Party = [one];
      byKey.set(name, next);
      parties.push(next);
    } else if (party[0].charge.payment?.request === payment.request) party.push(one);
    else later.push(one);
  }
  return { parties, later };
}

function misusedKey({ payment }: Charge): DomainError {
  return new DomainError(
    "Invalid Request",
    `The Idempotency-Key ${payment?.name} paid for another URL within 24 hours`,
  );
}
