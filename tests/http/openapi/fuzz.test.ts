/**
 * Sends requests that are generated from the OpenAPI document: valid ones, their edges, and hostile
 * ones. FUZZ_CASES=100000 is the long form; it prints how often each operation had each status.
 */
import { afterAll, expect, test } from "bun:test";
import * as fc from "fast-check";
import pLimit from "p-limit";
import { createResponseCheck } from "../../support/fuzz/checks.ts";
import { REQUESTS_PER_MINUTE, startFuzzService } from "../../support/fuzz/fuzz-service.ts";
import { createRequests, type FuzzRequest } from "../../support/fuzz/requests.ts";

const isLong = process.env["FUZZ_CASES"] !== undefined;
const CASES = Number(process.env["FUZZ_CASES"] ?? 400);
/** The short form always sends the same requests. */
const SEED = Number(process.env["FUZZ_SEED"] ?? (isLong ? Date.now() : 1));

const CONCURRENCY = 8;

/** It ends after so many faults, or a few more. */
const REPORTED_MAX = 20;

/** Enough for each operation to succeed. */
const COVERING_CASES = 10_000;

const service = await startFuzzService();
afterAll(() => service.close());

type StatusCounts = Readonly<Record<number, number>>;

/** Sends all requests, and describes each response that is not as documented. */
async function sendRequests() {
  const check = createResponseCheck(service.document);
  const requests = createRequests(service.sources);
  const limit = pLimit(CONCURRENCY);
  const faults: string[] = [];
  const counts = new Map<string, StatusCounts>();
  let cost = 0;
  const send = async (request: FuzzRequest) => {
    let status = 0;
    try {
      const response = await service.send(request);
      ({ status } = response);
      const earlier = counts.get(request.name) ?? {};
      counts.set(request.name, { ...earlier, [status]: (earlier[status] ?? 0) + 1 });
      cost += Number(response.headers.get("x-credits-cost") ?? 0);
      await check(request, response);
    } catch (error) {
      faults.push(`${JSON.stringify(request)}\n${status}: ${Bun.stripANSI(String(error))}`);
    }
  };
  for (let sent = 0; sent < CASES && faults.length < REPORTED_MAX; sent += REQUESTS_PER_MINUTE) {
    const numRuns = Math.min(REQUESTS_PER_MINUTE, CASES - sent);
    const batch = fc.sample(requests, { seed: SEED + sent, numRuns });
    await Promise.all(batch.map((request) => limit(send, request)));
    await service.passMinute();
  }
  return { faults, counts, cost };
}

test(
  `/swagger/json describes the responses to ${CASES} generated requests (FUZZ_SEED=${SEED}), ` +
    "and X-Credits-Cost what they debited",
  async () => {
    const { faults, counts, cost } = await sendRequests();
    if (isLong) for (const [name, statuses] of counts) console.log(name, JSON.stringify(statuses));
    if (faults.length > 0) throw new Error(faults.join("\n\n"));
    const { debited, refunded } = await service.readSums(service.account);
    expect(debited - refunded).toBe(cost);
    expect(cost).toBeGreaterThan(0);
    expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
    const neverSucceeded = [...counts].filter(([, { 200: ok, 201: created }]) => !(ok ?? created));
    if (CASES >= COVERING_CASES) expect(neverSucceeded).toEqual([]);
  },
  { timeout: 3_600_000 },
);
