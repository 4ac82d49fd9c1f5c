/** What the pages for people cost, and what they load. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { hasBrowser } from "../support/processes/browser.ts";
import { startDashboard, waitForPage, type Dashboard } from "../support/processes/dashboard.ts";
import { NOW } from "../support/service.ts";
import { waitUntil } from "../support/wait.ts";

/** What a visitor loads before any data, compressed. */
const FIRST_LOAD_MAX_BYTES = 100_000;

describe.skipIf(!hasBrowser())("the pages", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    const observedAt = new Date(NOW).toISOString();
    await dashboard.service.observe(
      { kind: "channel", observedAt, id: "UC1", username: "soup", subscribers: 5 },
      ...Array.from({ length: 60 }, (_, nth) => ({
        kind: "short",
        observedAt,
        channel: "UC1",
        id: `short ${nth}`,
        publishedAt: new Date(NOW - nth * DAY_MS).toISOString(),
        views: nth,
      })),
    );
  }, 60_000);
  afterAll(() => dashboard.close());

  test("cost what they say, and nothing when the visitor goes back", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(100);
    const { page, close } = await dashboard.visit("/channels", key);
    const expectCost = async (cost: number, left: number) => {
      await waitForPage(page);
      expect(await page.textContent(".credits")).toContain(
        `${left} credits left · this page cost ${cost}`,
      );
      expect(await dashboard.service.readSums(account)).toMatchObject({ balance: left });
    };
    await expectCost(1, 99);
    await page.getByRole("link", { name: "soup" }).click();
    await page.getByText("Load more (1 credit)").waitFor();
    await expectCost(3, 96);
    await page.getByText("Load more (1 credit)").click();
    await page.getByRole("link", { name: "short 59" }).waitFor();
    await expectCost(4, 95);
    await page.getByRole("link", { name: "short 59" }).click();
    await expectCost(2, 93);
    await page.getByRole("link", { name: "Monitoring list" }).click();
    await page.getByLabel("Username or address").fill("nasa");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("link", { name: "nasa" }).waitFor();
    await expectCost(0, 93);
    for (let steps = 0; steps < 3; steps++) await page.goBack();
    expect(new URL(page.url()).pathname).toBe("/channels");
    await expectCost(0, 93);
    await page.getByRole("link", { name: "Account" }).click();
    await expectCost(0, 93);
    expect(await page.locator("dd").allTextContents()).toEqual(["93", "7", account]);
    await page.getByRole("link", { name: "Channels" }).click();
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByText("this page cost 1").waitFor();
    await expectCost(1, 92);
    await close();
  }, 60_000);

  test("request nothing while they are only looked at", async () => {
    const { page, close } = await dashboard.browser.open(dashboard.service.address);
    await page.clock.install({ time: NOW });
    const requests: string[] = [];
    let pending = 0;
    page.on("request", (request) => {
      requests.push(request.url());
      pending++;
    });
    page.on("requestfinished", () => pending--);
    for (const path of ["/channels", "/channels/UC1", "/creators", "/account"]) {
      await page.goto(`${dashboard.service.address}${path}#key=${dashboard.service.key}`);
      await waitForPage(page);
      // Ten minutes end every request that has no response yet, and it is sent again.
      await waitUntil(() => pending === 0);
      const before = requests.length;
      expect(before).toBeGreaterThan(0);
      await page.clock.runFor("10:00");
      expect(requests.slice(before)).toEqual([]);
    }
    await close();
  }, 60_000);

  test("load less than 100 kB before the data, and nothing twice", async () => {
    const { page, close } = await dashboard.browser.open(dashboard.service.address);
    const sizes = new Map<string, number>();
    page.on("response", async (response) => {
      const { responseBodySize, responseHeadersSize } = await response.request().sizes();
      sizes.set(new URL(response.url()).pathname, responseBodySize + responseHeadersSize);
    });
    await page.goto(dashboard.service.address, { waitUntil: "networkidle" });
    expect([...sizes.keys()].toSorted()).toEqual(["/", "/assets/pages.css", "/assets/pages.js"]);
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect(total).toBeLessThan(FIRST_LOAD_MAX_BYTES);
    await close();
  }, 60_000);
});
