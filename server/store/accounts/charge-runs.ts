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
export interface ChargeRun extends AccountCharge {
  /** 1 with an idempotency key. */
  count: number;
}

/** Groups charges into runs; `runOf` has the position of each charge's run. */
export function groupIntoRuns(charges: readonly AccountCharge[]) {
  const runs: ChargeRun[] = [];
  const runOf: number[] = [];
  const lastPositions = new Map<number, number>();
  for (const charge of charges) {
    const { account, cost, key, endpoint, idempotencyKey, hasWaited } = charge;
    const position = lastPositions.get(account) ?? -1;
    const last = runs[position];
    if (
      last !== undefined &&
      last.cost === cost &&
      last.key === key &&
      last.endpoint === endpoint &&
      last.idempotencyKey === undefined &&
      idempotencyKey === undefined
    ) {
      last.count++;
      runOf.push(position);
      continue;
    }
    runOf.push(runs.length);
    lastPositions.set(account, runs.length);
    runs.push({ account, cost, key, endpoint, count: 1, idempotencyKey, hasWaited });
  }
  return { runs, runOf };
}

/** Runs as the argument ?1 of statements. */
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
