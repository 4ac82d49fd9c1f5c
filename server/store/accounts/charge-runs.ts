/** Groups charges into runs, and writes runs as rows in SQL. */
import type { RequestCharge } from "../../../core/charges.ts";

/** The charge of one request. */
export interface AccountCharge extends RequestCharge {
  /** The number of the account. */
  readonly account: number;
  /** The number of the API key. */
  readonly key: number;
  /** The route as the API reference names it: `/api/video/{channel}/details`. */
  readonly endpoint: string;
}

/** Consecutive charges that are the same but for their account's balance. */
export interface ChargeRun extends Pick<AccountCharge, "account" | "cost" | "key" | "endpoint"> {
  count: number;
  /** `null` without an idempotency key; with one, the run is one charge. */
  readonly idempotencyKey: string | null;
  readonly requestHash: string | null;
  readonly hasWaited: boolean;
}

/** Groups charges into runs; those of one account keep their order. */
export function groupIntoRuns(charges: readonly AccountCharge[]): ChargeRun[] {
  const runs: ChargeRun[] = [];
  const lastRuns = new Map<number, ChargeRun>();
  for (const { account, cost, key, endpoint, idempotencyKey, hasWaited = false } of charges) {
    const last = lastRuns.get(account);
    if (
      last !== undefined &&
      last.cost === cost &&
      last.key === key &&
      last.endpoint === endpoint &&
      last.idempotencyKey === null &&
      idempotencyKey === undefined
    ) {
      last.count++;
      continue;
    }
    const run = {
      account,
      cost,
      key,
      endpoint,
      count: 1,
      idempotencyKey: idempotencyKey?.value ?? null,
      requestHash: idempotencyKey?.fingerprint ?? null,
      hasWaited,
    };
    lastRuns.set(account, run);
    runs.push(run);
  }
  return runs;
}

/**
 * Serializes runs for the argument of the general statements: as arrays, because `json_extract()`
 * finds an index faster than a name.
 */
export function serializeRuns(runs: readonly ChargeRun[]): string {
  return JSON.stringify(
    runs.map(({ account, cost, key, endpoint, count, idempotencyKey, requestHash, hasWaited }) => [
      account,
      cost,
      key,
      endpoint,
      count,
      idempotencyKey,
      requestHash,
      hasWaited,
    ]),
  );
}

/** Selects the runs ?1. */
export const SELECT_RUNS = `
  SELECT
    run.key AS position,
    json_extract(run.value, '$[0]') AS account,
    json_extract(run.value, '$[1]') AS cost,
    json_extract(run.value, '$[2]') AS key,
    json_extract(run.value, '$[3]') AS endpoint,
    json_extract(run.value, '$[4]') AS count,
    json_extract(run.value, '$[5]') AS idempotency_key,
    json_extract(run.value, '$[6]') AS request_hash,
    json_extract(run.value, '$[7]') AS has_waited
  FROM json_each(?1) AS run`;
