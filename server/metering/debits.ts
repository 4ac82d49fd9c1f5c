/**
 * Debits: a priced request waits here until its debit is committed.
 *
 * While one commit is under way the requests that come in wait for the next, so one sync serves
 * many. The ledger decides each of them exactly, in the order they came.
 */
import { insufficientCredits } from "../../core/credits.ts";

/** A committed debit, as a refund names it. */
export interface Debit {
  readonly uid: string;
  readonly account: number;
  /** Its place among the debits of its commit and account, from 0. */
  readonly place: number;
  /** In credits. */
  readonly cost: number;
}

/** A committed debit and the balance it left. */
export interface Receipt {
  readonly debit: Debit;
  readonly balance: number;
}

/** The ledger that decides and commits. */
export interface DebitLedger {
  debit(
    waiting: readonly { readonly account: number; readonly cost: number }[],
    uid: string,
    now: number,
  ): Promise<
    readonly (
      | { readonly isAccepted: true; readonly debit: Debit; readonly balance: number }
      | { readonly isAccepted: false; readonly balance: number }
    )[]
  >;
  refund(debit: Debit, uid: string, reason: string, now: number): Promise<void>;
}

interface Waiting {
  readonly account: number;
  readonly cost: number;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
}

/** Charges requests. */
export type Debits = ReturnType<typeof createDebits>;

/**
 * Makes the queue of debits before a ledger.
 *
 * @param now The clock, in milliseconds.
 */
export function createDebits(ledger: DebitLedger, now: () => number) {
  let waiting: Waiting[] = [];
  let isCommitting = false;

  async function commit(): Promise<void> {
    isCommitting = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await commitGroup(ledger, group, now());
    }
    isCommitting = false;
  }

  return {
    /**
     * Debits an account; resolves once the debit is committed.
     *
     * @param cost In credits.
     * @throws {DomainError} `Insufficient Credits`; nothing was debited then.
     */
    debit(account: number, cost: number): Promise<Receipt> {
      return new Promise((resolve, reject) => {
        waiting.push({ account, cost, resolve, reject });
        // The requests of one turn of the event loop are one group.
        if (!isCommitting) {
          isCommitting = true;
          setImmediate(() => void commit());
        }
      });
    },

    /** Gives a debit back whose answer could not be made; once, however often it is called. */
    refund: (debit: Debit, reason: string): Promise<void> =>
      ledger.refund(debit, Bun.randomUUIDv7(), reason, now()),
  };
}

async function commitGroup(
  ledger: DebitLedger,
  group: readonly Waiting[],
  now: number,
): Promise<void> {
  const requests = group.map(({ account, cost }) => ({ account, cost }));
  try {
    const outcomes = await ledger.debit(requests, Bun.randomUUIDv7(), now);
    group.forEach(({ cost, resolve, reject }, index) => {
      const outcome = outcomes[index];
      if (outcome?.isAccepted) resolve(outcome);
      else reject(insufficientCredits(outcome?.balance ?? 0, cost));
    });
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
