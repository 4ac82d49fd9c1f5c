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

/** The endpoints of runs, and the position of each run's endpoint among them. */
function indexEndpoints(runs: readonly ChargeRun[]) {
  const endpoints: string[] = [];
  const endpointOf = runs.map(({ endpoint }) => {
    const position = endpoints.indexOf(endpoint);
    return position === -1 ? endpoints.push(endpoint) - 1 : position;
  });
  return { endpoints: JSON.stringify(endpoints), endpointOf };
}

/** Encodes runs that are debited as they are, like the table `debit_batches` stores them. */
export function encodeDebits(runs: readonly ChargeRun[]) {
  const { endpoints, endpointOf } = indexEndpoints(runs);
  const debits = runs.map(({ account, cost, count, key }, position) => [
    account,
    cost * count,
    count,
    key,
    endpointOf[position],
  ]);
  return { endpoints, debits: JSON.stringify(debits) };
}

const DEBIT_FIELDS = ["account", "amount", "requests", "key", "endpoint"] as const;

/** A field of a stored run, as SQL; the endpoint is its position. */
export const debitFieldSql = (field: (typeof DEBIT_FIELDS)[number], run = "value"): string =>
  `json_extract(${run}, '$[${DEBIT_FIELDS.indexOf(field)}]')`;

/** The stored run at a position of the batch, as SQL; NULL if it debits nothing. */
export const debitAtSql = (position: string): string =>
  `json_extract(debit_batches.runs, '$[' || ${position} || ']')`;

/** The endpoint of a stored run, as SQL. */
export const debitEndpointSql = (run = "value"): string =>
  `json_extract(endpoints, '$[' || ${debitFieldSql("endpoint", run)} || ']')`;

/** The debits of all batches as rows of one query, as SQL: a row for each run. */
export const DEBITS = `(
  SELECT
    uid,
    at,
    stored.key AS run,
    ${debitFieldSql("account")} AS account,
    ${debitFieldSql("amount")} AS amount,
    ${debitFieldSql("requests")} AS requests,
    ${debitFieldSql("key")} AS key,
    ${debitEndpointSql()} AS endpoint
  FROM debit_batches
  CROSS JOIN json_each(runs) AS stored
  WHERE value IS NOT NULL
)`;

type EncodedRun = ChargeRun & { readonly endpointPosition: number | undefined };

/** Runs as the argument ?1 of statements; an endpoint is its position. */
export const RUN_ROWS = createJsonRows(
  "account cost key endpoint count idempotency_key request_hash has_waited".split(" "),
  (run: EncodedRun) => [
    run.account,
    run.cost,
    run.key,
    run.endpointPosition,
    run.count,
    run.idempotencyKey?.value,
    run.idempotencyKey?.fingerprint,
    run.hasWaited ?? false,
  ],
);

/** Encodes runs as the argument ?1 of statements. */
export function encodeRuns(runs: readonly ChargeRun[]) {
  const { endpoints, endpointOf } = indexEndpoints(runs);
  const rows = runs.map((run, position) => ({ ...run, endpointPosition: endpointOf[position] }));
  return { endpoints, rows: RUN_ROWS.serialize(rows) };
}
