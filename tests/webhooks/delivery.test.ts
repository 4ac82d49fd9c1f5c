/** Delivery of notices, with a real database and a real receiver. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { readConfig } from "../../server/config.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { createNoticeStore } from "../../server/store/accounts/notices.ts";
import { createDelivery, startDelivery } from "../../server/webhooks/delivery.ts";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../support/network/webhook-receiver.ts";
import { commitDebitGroup, withAccounts } from "../support/store/debits.ts";
import { waitUntil } from "../support/wait.ts";

type DeliveryOptions = Parameters<typeof createDelivery>[0];

/** The signal of a delivery that nobody stops. */
const NEVER = new AbortController().signal;

/** Receivers reject old timestamps, so this is not a fixed instant. */
const START = Date.now();

let receiver: WebhookReceiver;
beforeEach(() => {
  receiver = startWebhookReceiver();
});
afterEach(() => receiver.stop());

/** The receiver rejects those whose timestamp is of another day. */
const countRequests = () => receiver.received.length + receiver.state.rejected;

/** Makes attempts until the notice is given up or delivered, each when it is due. */
async function deliverToEnd(options: DeliveryOptions, clock: { now: number }): Promise<void> {
  const deliverDue = createDelivery(options);
  for (let attempt = 0; attempt < 100; attempt++) {
    await deliverDue(NEVER);
    const [notice] = await options.notices.list({ limit: 10 });
    if (typeof notice?.dueAt !== "number") return;
    clock.now = notice.dueAt;
  }
}

/** Runs a test with a notice that is due, and a clock that stands still. */
function withNotice(
  work: (parts: {
    readonly options: DeliveryOptions & { readonly receiver: object };
    readonly clock: { now: number };
    readonly warnings: Readonly<Record<string, unknown>>[];
  }) => Promise<void>,
) {
  return withAccounts([10], async (database, [account = 0]) => {
    const ledger = createLedgerStore(database);
    await ledger.setLowBalance("first", 10);
    await commitDebitGroup(ledger, [{ account, cost: 3 }], "debit", START);
    const clock = { now: START };
    const warnings: Readonly<Record<string, unknown>>[] = [];
    const options = {
      notices: createNoticeStore(database),
      receiver: {
        url: receiver.url,
        secret: readConfig({ WEBHOOK_SECRET }).webhookSecret ?? new Uint8Array(),
      },
      now: () => clock.now,
      log: {
        warning: (_sentence: string, values: Readonly<Record<string, unknown>>) =>
          void warnings.push(values),
      },
    };
    await work({ options, clock, warnings });
  });
}

const BODY = {
  type: "account.balance_low",
  timestamp: new Date(START).toISOString(),
  data: { account: "first", balance: 7, threshold: 10, granted: 10 },
};

describe("deliverDue()", () => {
  test("sends a signed notice once", async () => {
    await withNotice(async ({ options }) => {
      const deliverDue = createDelivery(options);
      await deliverDue(NEVER);
      await deliverDue(NEVER);
      const [notice] = await options.notices.list({ limit: 10 });
      expect(receiver.received).toEqual([{ id: String(notice?.id), body: BODY }]);
      expect(notice).toMatchObject({ deliveredAt: START, dueAt: null, attempts: 1 });
    });
  });

  test.each([
    ["a 500", () => new Response("secret ".repeat(10_000), { status: 500 }), /answered 500$/],
    ["a 410", () => new Response(null, { status: 410 }), /answered 410$/],
    [
      "a redirect, which it does not follow,",
      () => Response.redirect(receiver.url, 307),
      /answered 307$/,
    ],
    ["no answer in time", () => new Promise<Response>(() => undefined), /not answer within 0.3 s$/],
  ])("tries again after %s, later each time, with the same id", async (name, respond, failure) => {
    await withNotice(async ({ options, clock, warnings }) => {
      receiver.state.respond = respond;
      const isLate = name === "no answer in time";
      const deliverDue = createDelivery({ ...options, ...(isLate && { timeoutMs: 300 }) });
      for (const attempts of [1, 2, 3]) {
        await deliverDue(NEVER);
        expect(receiver.received).toHaveLength(attempts);
        const [notice] = await options.notices.list({ limit: 10 });
        expect(notice).toMatchObject({ attempts, failure: expect.stringMatching(failure) });
        const delayMs = Number(notice?.dueAt) - clock.now;
        expect(delayMs).toBeGreaterThanOrEqual(2500 * 2 ** (attempts - 1));
        expect(delayMs).toBeLessThanOrEqual(5000 * 2 ** (attempts - 1));
        // Not before.
        clock.now = Number(notice?.dueAt) - 1;
        await deliverDue(NEVER);
        clock.now++;
      }
      receiver.state.respond = () => new Response();
      await createDelivery(options)(NEVER);
      expect(receiver.received).toHaveLength(4);
      expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
      expect(await options.notices.list({ limit: 10 })).toMatchObject([
        { failure: null, dueAt: null },
      ]);
      expect(warnings).toHaveLength(3);
    });
  });

  test("delivers once after the receiver was down, and tells no URL", async () => {
    await withNotice(async ({ options, clock, warnings }) => {
      await receiver.stop();
      const url = `${options.receiver.url}?token=hidden`;
      const deliverDue = createDelivery({ ...options, receiver: { ...options.receiver, url } });
      await deliverDue(NEVER);
      const [notice] = await options.notices.list({ limit: 10 });
      expect(notice?.failure).toBe("The receiver could not be reached: ECONNREFUSED");
      expect(JSON.stringify(warnings)).not.toContain("hidden");
      receiver.restart();
      clock.now = Number(notice?.dueAt);
      await deliverDue(NEVER);
      await deliverDue(NEVER);
      expect(receiver.received.map(({ body }) => body)).toEqual([BODY]);
    });
  });

  test("ends an answer without end, whose status counts", async () => {
    await withNotice(async ({ options }) => {
      let isCancelled = false;
      const endless = () =>
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
          cancel: () => void (isCancelled = true),
        });
      receiver.state.respond = () => new Response(endless());
      await createDelivery(options)(NEVER);
      expect(await options.notices.countUndelivered()).toEqual({ pending: 0, failed: 0 });
      await waitUntil(() => isCancelled);
    });
  });

  test("gives up after 28 attempts, keeps the notice for a month, then deletes it", async () => {
    await withNotice(async ({ options, clock, warnings }) => {
      receiver.state.respond = () => new Response(null, { status: 500 });
      await deliverToEnd(options, clock);
      expect(countRequests()).toBe(28);
      expect(await options.notices.countUndelivered()).toEqual({ pending: 0, failed: 1 });
      expect(warnings.at(-1)).toMatchObject({ account: "first", attempts: 28, next: null });
      const deliverDue = createDelivery(options);
      const givenUpAt = clock.now;
      clock.now = givenUpAt + 30 * DAY_MS;
      await deliverDue(NEVER);
      expect(await options.notices.list({ limit: 10 })).toHaveLength(1);
      clock.now = givenUpAt + 31 * DAY_MS;
      await deliverDue(NEVER);
      expect(await options.notices.list({ limit: 10 })).toEqual([]);
    });
  });

  test("tries as often after the service was off for days, and deletes nothing pending", async () => {
    await withNotice(async ({ options, clock }) => {
      receiver.state.respond = () => new Response(null, { status: 500 });
      await createDelivery(options)(NEVER);
      clock.now = START + 40 * DAY_MS;
      await createDelivery(options)(NEVER);
      expect(await options.notices.list({ limit: 10 })).toMatchObject([
        { state: "pending", attempts: 2 },
      ]);
      await deliverToEnd(options, clock);
      expect(countRequests()).toBe(28);
      // It is kept from its last attempt on, so that somebody can send it again.
      await createDelivery(options)(NEVER);
      expect(await options.notices.list({ limit: 10 })).toMatchObject([{ state: "failed" }]);
    });
  });

  test("tries at once what a clock that was days ahead put off", async () => {
    await withNotice(async ({ options, clock }) => {
      receiver.state.respond = () => new Response(null, { status: 500 });
      clock.now = START + 9 * DAY_MS;
      const deliverDue = createDelivery(options);
      await deliverDue(NEVER);
      clock.now = START;
      receiver.state.respond = () => new Response();
      await deliverDue(NEVER);
      expect(await options.notices.list({ limit: 10 })).toMatchObject([
        { state: "delivered", deliveredAt: START },
      ]);
    });
  });
});

describe("deliverDue() without a receiver", () => {
  test("leaves a notice for a later receiver", async () => {
    await withNotice(async ({ options, clock }) => {
      clock.now = START + 31 * DAY_MS;
      await createDelivery({ ...options, receiver: undefined })(NEVER);
      expect(await options.notices.list({ limit: 10 })).toMatchObject([
        { state: "pending", attempts: 0 },
      ]);
      expect(receiver.received).toEqual([]);
      clock.now = START;
      await createDelivery(options)(NEVER);
      expect(receiver.received.map(({ body }) => body)).toEqual([BODY]);
    });
  });
});

describe("deliverDue() after resend()", () => {
  test("sends a notice that was given up, with its id, and tries it as often as a new one", async () => {
    await withNotice(async ({ options, clock }) => {
      const { notices } = options;
      receiver.state.respond = () => new Response(null, { status: 500 });
      await deliverToEnd(options, clock);
      const deliverDue = createDelivery(options);
      await deliverDue(NEVER);
      expect(countRequests()).toBe(28);
      const [{ id = "" } = {}] = await notices.list({ state: "failed", limit: 1 });
      expect(await notices.resend(id, clock.now)).toMatchObject({ state: "pending", attempts: 0 });
      await deliverToEnd(options, clock);
      expect(countRequests()).toBe(56);
      receiver.state.respond = () => new Response();
      clock.now = START;
      await notices.resend(id, clock.now);
      await deliverDue(NEVER);
      expect(await notices.list({ limit: 10 })).toMatchObject([{ state: "delivered" }]);
      expect(receiver.received.at(-1)).toEqual({ id, body: BODY });
    });
  });

  test("sends it again right after an attempt that was running, which fails", async () => {
    await withNotice(async ({ options }) => {
      const { notices } = options;
      const answer = Promise.withResolvers<Response>();
      receiver.state.respond = () => answer.promise;
      const deliverDue = createDelivery(options);
      const running = deliverDue(NEVER);
      await waitUntil(() => receiver.received.length === 1);
      const [{ id = "" } = {}] = await notices.list({ limit: 1 });
      await notices.resend(id, START);
      answer.resolve(new Response(null, { status: 500 }));
      await running;
      receiver.state.respond = () => new Response();
      await deliverDue(NEVER);
      expect(receiver.received).toHaveLength(2);
      expect(await notices.list({ limit: 10 })).toMatchObject([{ state: "delivered" }]);
    });
  });
});

describe("startDelivery()", () => {
  test("stops without waiting for a receiver that does not answer, and leaves the notice due", async () => {
    await withNotice(async ({ options }) => {
      receiver.state.respond = () => new Promise(() => undefined);
      const stop = startDelivery(options);
      await waitUntil(() => receiver.received.length === 1);
      await stop();
      expect(await options.notices.list({ limit: 10 })).toMatchObject([
        { dueAt: START, attempts: 0, failure: null },
      ]);
    });
  });

  test("sends a notice once if two deliver from one database", async () => {
    await withNotice(async ({ options }) => {
      receiver.state.respond = async () => {
        await Bun.sleep(50);
        return new Response();
      };
      const stops = [startDelivery(options), startDelivery(options)];
      await waitUntil(async () => (await options.notices.countUndelivered()).pending === 0);
      for (const stop of stops) await stop();
      expect(receiver.received).toHaveLength(1);
    });
  });
});
