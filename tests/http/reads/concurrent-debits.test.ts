/** Exact balances under concurrent reads. EXACT_ROUNDS=20 is the long form. */
import { describe, expect, test } from "bun:test";
import { startTestService } from "../../support/service.ts";

const ROUNDS = Number(process.env["EXACT_ROUNDS"] ?? 3);
const REQUESTS = 1000;
const CREDITS = 500;

describe.each(["power", "process"])("charged reads with DURABILITY=%s", (durability) => {
  test(`${REQUESTS} concurrent requests spend each of ${CREDITS} credits once (${ROUNDS} rounds)`, async () => {
    const service = await startTestService({ DURABILITY: durability });
    try {
      for (let round = 1; round <= ROUNDS; round++) {
        const { account, key } = await service.createAccountWithKey(CREDITS);
        const request = async () => {
          const response = await fetch(`${service.address}/api/video/channels`, {
            headers: { "x-api-key": key },
          });
          await response.arrayBuffer();
          return {
            status: response.status,
            remaining: response.headers.get("x-credits-remaining"),
          };
        };
        const responses = await Promise.all(Array.from({ length: REQUESTS }, request));
        const served = responses.filter(({ status }) => status === 200);
        const refused = responses.filter(({ status }) => status === 402);
        expect([round, served.length, refused.length]).toEqual([
          round,
          CREDITS,
          REQUESTS - CREDITS,
        ]);
        expect(served.map(({ remaining }) => Number(remaining)).toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: CREDITS }, (_, left) => left),
        );
        expect(await service.readSums(account)).toEqual({
          balance: 0,
          debited: CREDITS,
          refunded: 0,
        });
      }
      expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
    } finally {
      await service.close();
    }
  }, 120_000);
});
