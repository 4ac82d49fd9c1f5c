/** The administrator's page in a browser: a service with something in each part, and visits with a token. */
import type { BrowserContextOptions } from "playwright-core";
import { generateObservations } from "../../../server/demo/generate.ts";
import { DAY_MS } from "../../../core/time.ts";
import { startWebhookReceiver, WEBHOOK_SECRET } from "../network/webhook-receiver.ts";
import { NOW, startTestService } from "../service.ts";
import { startBrowser } from "./browser.ts";
import { waitForPage } from "./dashboard.ts";

export const ADMIN_TOKEN = "the-token-of-the-administrator";

/** Nothing listens there. */
const CLOSED_URL = "http://127.0.0.1:9";

/** Starts a service, a receiver of its notices, and a browser. */
export async function startAdminPage() {
  const receiver = startWebhookReceiver();
  const settings = {
    ADMIN_TOKEN,
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET,
    COLLECT: "off",
    YOUTUBE_API_KEY: "a-key-of-nobody",
    YOUTUBE_API_URL: CLOSED_URL,
    BLUESKY_API_URL: CLOSED_URL,
  };
  const service = await startTestService(settings, undefined, { retryMinMs: 1 });
  const browser = await startBrowser();
  return {
    service,
    browser,
    receiver,
    /**
     * Opens a part of the page, by its fragment, at the time of the service.
     *
     * @param options With a `baseURL`, the page is opened there. Without a `token`, it asks for one.
     */
    async visit(
      part: string,
      {
        token = ADMIN_TOKEN,
        ...options
      }: BrowserContextOptions & { readonly token?: string | null } = {},
    ) {
      const origin = options.baseURL ?? service.address;
      const visit = await browser.open(origin, { timezoneId: "UTC", ...options });
      await visit.page.clock.install({ time: NOW });
      const script = `sessionStorage.getItem("adminToken") ?? sessionStorage.setItem("adminToken", ${JSON.stringify(token)})`;
      if (token !== null) await visit.page.addInitScript(script);
      await visit.page.goto(`${origin}/admin#${part}`);
      await waitForPage(visit.page);
      return visit;
    },
    async close(): Promise<void> {
      await browser.close();
      await service.close();
      await receiver.stop();
    },
  };
}

export type AdminPage = Awaited<ReturnType<typeof startAdminPage>>;

/** Fills a service: observations, accounts with usage, keys, notices, and what is collected in vain. */
export async function fillService({ service, receiver }: AdminPage): Promise<void> {
  const { admin, clock } = service;
  await service.observe(...generateObservations({ from: NOW - DAY_MS, to: NOW }));
  const names = ["acme", "Nordlicht Media", "pixelfabrik", "Studio 54 & Söhne"];
  for (const [nth, name] of names.entries()) {
    await admin("POST", "accounts", { name, credits: 250 * (nth + 1) ** 2 });
  }
  await admin("POST", "grants", {
    account: "acme",
    amount: 5000,
    reference: "invoice 2026-117",
    reason: "paid by bank transfer",
  });
  await admin("PATCH", "accounts", { name: "pixelfabrik", low_balance: 2500 });
  const keys: string[] = [];
  for (const [account, label] of [
    ["acme", "website"],
    ["acme", null],
    ["Nordlicht Media", "reports"],
  ] as const) {
    const body = { account, ...(label === null ? {} : { label, expires: "90d" }) };
    keys.push(String(Reflect.get(Object(await admin("POST", "keys", body)), "key")));
  }
  await admin("DELETE", "keys", { id: 3 });
  await admin("PATCH", "accounts", { name: "Nordlicht Media", low_balance: 998 });
  for (let daysAgo = 6; daysAgo >= 0; daysAgo--) {
    clock.now = NOW - daysAgo * DAY_MS;
    for (let nth = 0; nth < 4 + ((daysAgo * 5) % 7); nth++) {
      await service.get(nth % 3 === 0 ? "/api/video/channels" : "/api/microblog/users", keys[0]);
    }
  }
  for (let nth = 0; nth < 3; nth++) await service.get("/api/video/channels", keys[2]);
  await receiver.stop();
  await admin("PATCH", "accounts", { name: "acme", low_balance: 5205 });
  for (let nth = 0; nth < 20; nth++) await service.get("/api/video/channels", keys[0]);
  await admin("POST", "channels", { channel: "@sevenminutesoup" });
  await admin("POST", "creators", { creator: "slowcompiler.example.com" });
  await admin("POST", "collect");
  receiver.restart();
}
