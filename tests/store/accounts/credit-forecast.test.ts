import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import { forecastCredits } from "../../../server/store/accounts/credit-forecast.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

const read = async (key: string, reads: number) => {
  for (let nth = 0; nth < reads; nth++) await service.get("/api/video/nobody/details", key);
};

const forecast = (max = 20) => forecastCredits(service.service.database, service.clock.now, max);

describe("forecastCredits()", () => {
  test("divides the balance by the use of a day at least, and of 7 days at most", async () => {
    const { key, account } = await service.createAccountWithKey(100);
    await service.createAccountWithKey(100);
    expect(await forecast()).toEqual([]);
    await read(key, 10);
    // 90 credits are left, and 10 were used in a day: 9 days.
    const [first] = await forecast();
    expect(first?.account).toBe(account);
    expect(first?.secondsLeft).toBeCloseTo((9 * DAY_MS) / 1000);
    // Since the first debit, 3 days passed: with 10 more, 20 in 3 days, and 80 are left: 12 days.
    service.clock.now += 3 * DAY_MS - HOUR_MS;
    await read(key, 10);
    expect((await forecast())[0]?.secondsLeft).toBeCloseTo((12 * DAY_MS) / 1000);
    // The first 10 are longer ago than 7 days: 10 since then, of which the first is 5 days old.
    service.clock.now += 5 * DAY_MS - HOUR_MS;
    expect((await forecast())[0]?.secondsLeft).toBeCloseTo((40 * DAY_MS) / 1000);
    service.clock.now += 7 * DAY_MS;
    expect(await forecast()).toEqual([]);
  });

  test("lists the accounts that run out first, an empty one with 0", async () => {
    const accounts = [];
    for (const credits of [50, 5, 20]) {
      const { key, account } = await service.createAccountWithKey(credits);
      await read(key, 5);
      accounts.push(account);
    }
    const [large = "", empty = "", small = ""] = accounts;
    expect((await forecast()).map(({ account }) => account)).toEqual([empty, small, large]);
    expect(await forecast(1)).toEqual([{ account: empty, secondsLeft: 0 }]);
  });

  test("counts no refunded credits", async () => {
    const { key, account } = await service.createAccountWithKey(10);
    await read(key, 1);
    const { balance } = await service.readSums(account);
    expect(balance).toBe(9);
    await service.service.database.write([
      { sql: "UPDATE usage SET refunded = credits, refunds = requests", args: [] },
      { sql: "UPDATE accounts SET recent_requests = 0, recent_credits = 0", args: [] },
    ]);
    expect(await forecast()).toEqual([]);
  });
});
