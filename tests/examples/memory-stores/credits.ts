/** Keeps accounts and their credits in memory. */
import {
  applyEntry,
  assertCreditAmount,
  computeBalance,
  PAYMENT_TTL_MS,
  decideCharges,
  DomainError,
  EMPTY_LEDGER,
  type CreditAccount,
  type CreditCharge,
  type CreditStore,
  type CreditSums,
  type DebitOutcome,
  type Payment,
} from "@creator-metrics/core";

/** A committed debit, as a refund names it. */
export interface MemoryDebit extends Pick<CreditCharge, "account" | "cost" | "idempotencyKey"> {
  readonly batch: string;
  readonly index: number;
}

interface MemoryAccount {
  readonly name: string;
  readonly createdAt: number;
  sums: CreditSums;
  /** The granted amounts, by reference or identifier. */
  readonly grants: Map<string, number>;
  /** The payments of idempotency keys. */
  readonly payments: Map<string, Payment & { readonly at: number; readonly batch: string }>;
}

export function createCreditStore(): CreditStore<MemoryDebit> {
  const accounts = new Map<string, MemoryAccount>();
  const committed = new Map<string, readonly DebitOutcome<MemoryDebit>[]>();
  const refunded = new Set<string>();

  function getAccount(name: string): MemoryAccount {
    const account = accounts.get(name);
    if (account === undefined) throw new DomainError("Not Found", `There is no account ${name}`);
    return account;
  }

  function describe({ name, createdAt, sums }: MemoryAccount): CreditAccount {
    return { name, createdAt, ...sums, balance: computeBalance(sums) };
  }

  /** Decides the charges of one account. */
  function debitAccount(
    account: MemoryAccount | undefined,
    charges: readonly CreditCharge[],
    { id: batch, now }: { readonly id: string; readonly now: number },
  ): DebitOutcome<MemoryDebit>[] {
    if (account === undefined) return charges.map(() => ({ kind: "refused", balance: 0 }));
    const { payments } = account;
    const valid = Array.from(payments).filter(([, { at }]) => at > now - PAYMENT_TTL_MS);
    const { decided, sums, payments: paid } = decideCharges(account.sums, charges, new Map(valid));
    account.sums = sums;
    return decided.map(({ decision: kind, balance }, index) => {
      if (kind === "misused") return { kind };
      const { cost, idempotencyKey } = charges[index] ?? { cost: 0 };
      const { value = "" } = idempotencyKey ?? {};
      const payment = paid.get(value);
      const before = kind === "charged" ? { at: now, batch } : payments.get(value);
      if (payment && before) payments.set(value, { ...before, ...payment });
      if (kind !== "charged") return { kind, balance };
      return {
        kind,
        debit: { batch, index, account: account.name, cost, idempotencyKey },
        balance,
      };
    });
  }

  return {
    async createAccount(name, createdAt) {
      if (accounts.has(name)) {
        throw new DomainError("Conflict", `There is an account ${name} already`);
      }
      const sums = { granted: 0, debited: 0, refunded: 0 };
      const account = { name, createdAt, sums, grants: new Map(), payments: new Map() };
      accounts.set(name, account);
      return describe(account);
    },
    account: async (name) => describe(getAccount(name)),
    async grant({ id, account: name, amount, reference = id }) {
      const account = getAccount(name);
      // The ledger of core takes each reference once; here it needs no history but the grants.
      const ledger = { ...EMPTY_LEDGER, ...account.sums, references: account.grants };
      const next = applyEntry(ledger, { kind: "grant", amount, reference });
      account.sums = { ...account.sums, granted: next.granted };
      account.grants.set(reference, amount);
      return { isNew: next !== ledger, balance: computeBalance(account.sums) };
    },
    async debit(charges, batch) {
      const before = committed.get(batch.id);
      if (before !== undefined) return { outcomes: before };
      // Checked first, so that all charges are committed or none.
      for (const { cost } of charges) assertCreditAmount(cost);
      const decided = new Map<string, DebitOutcome<MemoryDebit>[]>();
      for (const name of new Set(charges.map(({ account }) => account))) {
        const own = charges.filter(({ account }) => account === name);
        decided.set(name, debitAccount(accounts.get(name), own, batch));
      }
      // The outcomes of an account are in the order of its charges.
      const outcomes = charges.flatMap(({ account }) => decided.get(account)?.shift() ?? []);
      const isChanged = outcomes.some(({ kind }) => kind === "charged" || kind === "repeated");
      if (isChanged) committed.set(batch.id, outcomes);
      return { outcomes };
    },
    async refund({ batch, index, account: name, cost, idempotencyKey }) {
      const account = accounts.get(name);
      const debit = `${batch} ${name} ${index}`;
      const isCommitted = committed.get(batch)?.some((outcome) => {
        return outcome.kind === "charged" && outcome.debit.account === name;
      });
      if (account === undefined || isCommitted !== true || refunded.has(debit)) return;
      refunded.add(debit);
      account.sums = { ...account.sums, refunded: account.sums.refunded + cost };
      if (idempotencyKey === undefined) return;
      const payment = account.payments.get(idempotencyKey.value);
      if (payment?.batch === batch) account.payments.delete(idempotencyKey.value);
    },
  };
}
