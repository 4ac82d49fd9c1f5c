/**
 * Debits: a priced request waits here until its debit is committed.
 *
 * While one commit is under way the requests that come in wait for the next, so one sync serves
 * many. The ledger decides each of them exactly, in the order they came.
 */
import { InsufficientCreditsError, type Charge, type Receipt } from "../../core/credits.ts";
import { DomainError } from "../../core/errors.ts";
import type { Changes } from "../../core/reading.ts";
import { createGivingBack } from "./giving-back.ts";
import { inTime, tooLate } from "./in-time.ts";
import { createOutage } from "./outage.ts";
import { createPayments, type Waiting } from "./payments.ts";
import { recoverRefunds } from "./refund-recovery.ts";
import type { Refund, RefundSpool } from "./refund-spool.ts";

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
  /** Whether a commit that failed so took nothing; else that is not known. */
  leftNothing(error: unknown): boolean;
  /** Sees to it that a group whose commit failed takes nothing. */
  withdraw(waiting: readonly Charge[], uid: string, now: number): Promise<void>;
}

/** What debits are made with. */
export interface DebitParts<Debit> {
  readonly ledger: DebitLedger<Debit>;
  /** The clock, in milliseconds. */
  now(): number;
  /** Told what was observed up to a commit, before its requests go on. */
  onChanges?(changes: Changes): void;
  /** Told why something could not be given back; it is tried again until the end. */
  onFailure?(error: unknown): void;
  /** How long a commit may take; 10 seconds if left out. */
  readonly timeoutMs?: number;
  /** Keeps what could not be given back, so that it outlives the process. */
  readonly spool?: RefundSpool<Debit>;
}

interface OwnReceipt<Debit> extends Receipt {
  readonly charge: Charge;
  /** Until it is given back. */
  debit: Debit | undefined;
}

/** So long a client may wait; much longer, and its connection is closed for its silence. */
const TIMEOUT_MS = 10_000;

/** Makes the queue of debits before a ledger. */
export function createDebits<Debit>({
  ledger,
  now,
  onChanges = () => undefined,
  onFailure = () => undefined,
  timeoutMs = TIMEOUT_MS,
  spool,
}: DebitParts<Debit>) {
  let since: number | undefined;
  const groups = inGroups(commit);
  const payments = createPayments(groups.add, timeoutMs);
  const apply = applyOn(ledger, now);
  const givingBack = createGivingBack<Debit>({ apply, timeoutMs, onFailure, spool });
  const outage = createOutage(() =>
    inTime(ledger.withdraw([], Bun.randomUUIDv7(), now()), timeoutMs),
  );

  async function commit(group: readonly Waiting[], next: () => void): Promise<void> {
    const charges = group.map(({ charge }) => charge);
    const uid = Bun.randomUUIDv7();
    let decided: Awaited<ReturnType<typeof ledger.debit>>;
    try {
      const committed = ledger.debit(charges, { uid, now: now(), since });
      decided = await outage.watch(inTime(committed, timeoutMs));
    } catch (error) {
      next();
      const leftNothing = ledger.leftNothing(error);
      const refund = { kind: "group", uid, charges } as const;
      if (!leftNothing) await givingBack.keep(refund);
      for (const { reject } of group) reject(error);
      return leftNothing ? payments.leaveUnpaid(charges) : giveBack(refund, charges);
    }
    const { outcomes, changes } = decided;
    since = changes.sequence;
    onChanges(changes);
    // The next group is on its way while the answers of this one are made.
    next();
    for (const [index, request] of group.entries()) {
      // Who waits behind it is decided by the ledger alone: what was paid before may be forgotten.
      if (outcomes[index]?.kind !== "charged") payments.leave(request.charge, false);
      answer(request, outcomes[index], changes.sequence);
    }
  }

  /** Gives back what requests were charged; those behind them wait for it if it works at once. */
  async function giveBack(refund: Refund<Debit>, charges: readonly Charge[]): Promise<void> {
    if (await givingBack.begin(refund, () => payments.leaveUnpaid(charges))) return;
    for (const charge of charges) payments.refuse(charge, tooLate());
  }

  const asOwn = (receipt: Receipt) => receipt as OwnReceipt<Debit>;

  return {
    /**
     * Charges a request; resolves once its debit is committed. What is paid with an idempotency key
     * is then to be kept or refunded: others may wait for it.
     *
     * @throws {DomainError} `Insufficient Credits`, or `Invalid Request` for an idempotency key
     * that paid for something else; nothing was debited then. `Service Unavailable` where it
     * cannot be committed in time; it is given back then, if it is committed later.
     */
    debit: (charge: Charge): Promise<Receipt> =>
      new Promise((resolve, reject) => {
        payments.enter({ charge, resolve, reject });
      }),

    /** The request was answered: its debit stays. */
    keep: (receipt: Receipt): void => payments.leave(asOwn(receipt).charge, true),

    /**
     * Gives the debit of a request back that could not be answered, once. Where that fails, it goes
     * on being tried after this has ended.
     */
    async refund(receipt: Receipt, reason: string): Promise<void> {
      const own = asOwn(receipt);
      const { charge, debit } = own;
      if (debit === undefined) return;
      own.debit = undefined;
      await giveBack({ kind: "debit", uid: Bun.randomUUIDv7(), debit, charge, reason }, [charge]);
    },

    /** Gives back what other processes kept. */
    recover: async () => (spool === undefined ? [] : recoverRefunds(spool, apply)),

    /** Throws while debits cannot be committed, as far as that was seen. */
    check: outage.check,

    /** Ends what is under way, and tries once more to give back what could not be. */
    async close(): Promise<void> {
      await groups.ended();
      await givingBack.close();
    },

    /** Resolves once nothing is under way, after the database is closed: the rest is kept. */
    async ended(): Promise<void> {
      await groups.ended();
      await givingBack.settled();
    },
  };
}

/** How refunds are given back at a ledger. */
function applyOn<Debit>(ledger: DebitLedger<Debit>, now: () => number) {
  return (refund: Refund<Debit>): Promise<void> =>
    refund.kind === "debit"
      ? ledger.refund(refund.debit, refund.uid, refund.reason, now())
      : ledger.withdraw(refund.charges, refund.uid, now());
}

/** Tells a request what the ledger decided. */
function answer<Debit>(
  { charge, resolve, reject }: Waiting,
  outcome: Outcome<Debit> | undefined,
  sequence: number,
): void {
  const given = receiptOf(charge, outcome, sequence);
  if (given instanceof DomainError) reject(given);
  else resolve(given);
}

/** What a request gets of its outcome. */
function receiptOf<Debit>(
  charge: Charge,
  outcome: Outcome<Debit> | undefined,
  sequence: number,
): OwnReceipt<Debit> | DomainError {
  switch (outcome?.kind) {
    case "charged": {
      const { debit, balance } = outcome;
      return { charge, debit, cost: charge.cost, balance, sequence };
    }
    case "repeated":
      return { charge, debit: undefined, cost: 0, balance: outcome.balance, sequence };
    case "misused":
      return misusedKey(charge);
    default:
      return new InsufficientCreditsError(outcome?.balance ?? 0, charge.cost);
  }
}

/**
 * Gathers requests in groups: those of one turn of the event loop, then those that come while a
 * group is committed.
 *
 * @param commit Commits a group, and says when the next one may be.
 */
function inGroups(commit: (group: readonly Waiting[], next: () => void) => Promise<void>) {
  let waiting: Waiting[] = [];
  let isCommitting = false;
  /** The commits that have not ended, which includes what they give back. */
  const underWay = new Set<Promise<void>>();

  function next(): void {
    isCommitting = waiting.length > 0;
    if (!isCommitting) return;
    const group = waiting;
    waiting = [];
    const done = commit(group, next).finally(() => underWay.delete(done));
    underWay.add(done);
  }

  return {
    add(one: Waiting): void {
      waiting.push(one);
      if (isCommitting) return;
      isCommitting = true;
      setImmediate(next);
    },

    /** Resolves once all groups that are there have ended. */
    async ended(): Promise<void> {
      do {
        // A group of this turn of the event loop begins with the next.
        await new Promise(setImmediate);
        await Promise.allSettled(underWay);
      } while (underWay.size > 0);
    },
  };
}

function misusedKey({ payment }: Charge): DomainError {
  return new DomainError(
    "Invalid Request",
    `The Idempotency-Key ${payment?.name} paid for another URL within 24 hours`,
  );
}
