/** The administrator's page in a browser: a service with something in each part, and visits with a token. */
import type { BrowserContextOptions } from "playwright-core";
import { generateObservations } from "../../../server/demo/generate.ts";
import { DAY_MS } from "../../../core/time.ts";
import { startWebhookReceiver, WEBHOOK_SECRET } from "../network/webhook-receiver.ts";
import { NOW, startTestService } from "../service.ts";
import { startBrowser } from "./browser.ts";
import { waitUntil } from "../wait.ts";
import { waitForPage } from "./dashboard.ts";

export const ADMIN_TOKEN = "the-token-of-the-administrator";

/** The accounts of {@link fillService}, and their first credits. */
export const ACCOUNTS = {
  acme: 250,
  "Nordlicht Media": 1000,
  pixelfabrik: 2250,
  "Studio 54 & Söhne": 4000,
} as const;

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

/** Fills a service with observations, accounts, keys and notices; its sources fail. */
export async function fillService({ service, receiver }: AdminPage): Promise<void> {
  const { admin, clock } = service;
  await service.observe(...generateObservations({ from: NOW - DAY_MS, to: NOW }));
  const at = (daysAgo: number) => (clock.now = NOW - daysAgo * DAY_MS);
  const read = async (key: string, count: number) => {
    for (let nth = 0; nth < count; nth++) {
      await service.get(nth % 3 === 0 ? "/api/video/channels" : "/api/microblog/users", key);
    }
  };
  const createKey = async (account: string, options: object) => {
    const created = await admin("POST", "keys", { account, ...options });
    return String(Reflect.get(Object(created), "key"));
  };

  at(20);
  for (const [name, credits] of Object.entries(ACCOUNTS)) {
    await admin("POST", "accounts", { name, credits });
  }
  const grant = { amount: 5000, reference: "invoice 2026-117", reason: "paid by bank transfer" };
  await admin("POST", "grants", { account: "acme", ...grant });
  const website = await createKey("acme", { label: "website", expires: "90d" });
  const reports = await createKey("Nordlicht Media", { label: "reports", scopes: ["read"] });
  await createKey("acme", {});
  await admin("DELETE", "keys", { id: 4 });
  await admin("PATCH", "accounts", { name: "Nordlicht Media", low_balance: 999 });
  for (const daysAgo of [6, 5, 4, 3, 2, 1]) {
    at(daysAgo);
    await read(website, 4 + ((daysAgo * 5) % 7));
    if (daysAgo === 5) await read(reports, 3);
  }
  at(0);
  await admin("PATCH", "accounts", { name: "acme", low_balance: 5200 });
  await read(website, 20);

  // The older notice is given up after its last attempt, the newer one is tried again.
  const sql = "UPDATE notices SET attempts = 27 WHERE at = (SELECT min(at) FROM notices)";
  await service.service.database.write([{ sql, args: [] }]);
  receiver.state.respond = () => new Response(null, { status: 503 });
  const stopNotices = service.service.startNotices();
  await waitUntil(
    async () => !/"failure":null/.test(JSON.stringify(await admin("GET", "notices"))),
  );
  await stopNotices();
  await admin("POST", "channels", { channel: "@sevenminutesoup" });
  await admin("POST", "creators", { creator: "slowcompiler.example.com" });
  await admin("POST", "collect");
}
