/** Groups charges into runs, and writes runs as rows in SQL. */
import type { RequestCharge } from "../../../core/charges.ts";
import { createJsonRows } from "./json-rows.ts";

export interface AccountCharge extends RequestCharge {
  readonly account: number;
  readonly key: number;
  /** The route as the API reference names it: `/api/video/{channel}/details`. */
  readonly endpoint: string;
}

/** Consecutive charges that are the same but for their account's balance. */
interface ChargeRun extends AccountCharge {
  /** 1 with an idempotency key. */
  count: number;
}

export function groupIntoRuns(charges: readonly AccountCharge[]): ChargeRun[] {
  const runs: ChargeRun[] = [];
  const lastRuns = new Map<number, ChargeRun>();
  for (const charge of charges) {
    const { account, cost, key, endpoint, idempotencyKey, hasWaited } = charge;
    const last = lastRuns.get(account);
    if (
      last !== undefined &&
      last.cost === cost &&
      last.key === key &&
      last.endpoint === endpoint &&
      last.idempotencyKey === undefined &&
      idempotencyKey === undefined
    ) {
      last.count++;
      continue;
    }
    const run = { account, cost, key, endpoint, count: 1, idempotencyKey, hasWaited };
    lastRuns.set(account, run);
    runs.push(run);
  }
  return runs;
}

/** Runs as the argument ?1 of the general statements. */
export const RUN_ROWS = createJsonRows(
  "account cost key endpoint count idempotency_key request_hash has_waited".split(" "),
  ({ account, cost, key, endpoint, count, idempotencyKey: paid, hasWaited = false }: ChargeRun) => [
    account,
    cost,
    key,
    endpoint,
    count,
    paid?.value,
    paid?.fingerprint,
    hasWaited,
  ],
);
