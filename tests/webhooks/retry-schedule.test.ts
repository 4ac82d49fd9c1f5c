import { describe, expect, spyOn, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { createNoticeStore } from "../../server/store/accounts/notices.ts";
import { createDelivery } from "../../server/webhooks/delivery.ts";
import { commitDebitGroup, withAccounts } from "../support/store/debits.ts";

/** Nothing listens at this port. */
const receiver = { url: "http://127.0.0.1:1/", secret: new Uint8Array(24) };

/** The delays between all attempts to deliver a notice, in seconds, with a jitter from 0 to 1. */
async function listDelays(jitter: number): Promise<number[]> {
  const delays: number[] = [];
  using random = spyOn(Math, "random");
  random.mockReturnValue(jitter);
  await withAccounts([10], async (database, [account = 0]) => {
    const ledger = createLedgerStore(database);
    await ledger.setLowBalance("first", 10);
    await commitDebitGroup(ledger, [{ account, cost: 3 }], "debit", 0);
    const notices = createNoticeStore(database);
    let now = 0;
    const deliverDue = createDelivery({ notices, receiver, now: () => now, log: {} });
    for (let attempt = 0; attempt < 100; attempt++) {
      await deliverDue(new AbortController().signal);
      const [notice] = await notices.list({ limit: 1 });
      if (typeof notice?.dueAt !== "number") return;
      delays.push((notice.dueAt - now) / 1000);
      now = notice.dueAt;
    }
  });
  return delays;
}

describe("createDelivery()", () => {
  test("doubles the delays up to 6 hours, for 28 attempts over about three days", async () => {
    const delays = await listDelays(0);
    expect(delays).toHaveLength(27);
    expect(delays.slice(0, 13)).toEqual([
      5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_240, 20_480,
    ]);
    expect(new Set(delays.slice(13))).toEqual(new Set([(6 * HOUR_MS) / 1000]));
    const days = [];
    for (const jitter of [0, 0.5, 1]) {
      const seconds = (await listDelays(jitter)).reduce((sum, delay) => sum + delay, 0);
      days.push(Number(((seconds * 1000) / DAY_MS).toFixed(1)));
    }
    expect(days).toEqual([4, 3, 2]);
  });

  test("shortens each delay by half of the jitter", async () => {
    const longest = await listDelays(0);
    for (const jitter of [0.25, 0.8, 1]) {
      expect(await listDelays(jitter)).toEqual(longest.map((delay) => delay * (1 - jitter / 2)));
    }
  });
});
