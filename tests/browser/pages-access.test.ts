/** How visitors get in: the administrator's free view, a remembered key, a replaced one; buying credits. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { BrowserContext, Page } from "playwright-core";
import { hasBrowser, setDate, startBrowser } from "../support/processes/browser.ts";
import {
  findBarriers,
  measureOverflow,
  takePicture,
  waitForPage,
} from "../support/processes/dashboard.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

const ADMIN_TOKEN = "the-token-of-the-administrator";
const SHOP = "https://shop.example.com/credits";
const CHANNEL = "/channels/UC1";

describe.skipIf(!hasBrowser())("the pages", () => {
  let service: TestService;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  beforeAll(async () => {
    service = await startTestService({ ADMIN_TOKEN, CREDITS_URL: SHOP, COLLECT: "off" });
    const channel = { kind: "channel", observedAt: "2026-11-20", id: "UC1", username: "soup" };
    await service.observe({ ...channel, displayName: "Soup", subscribers: 7 });
    await service.get("/api/creators", service.key, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ creator: "esa", platform: "microblog" }),
    });
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  async function open(path: string, width = 1280) {
    const viewport = { width, height: 800 };
    const opened = await browser.open(service.address, { timezoneId: "UTC", viewport });
    await setDate(opened.page, NOW);
    await opened.page.goto(service.address + path);
    await waitForPage(opened.page);
    return opened;
  }

  async function openNext(context: BrowserContext, path: string): Promise<Page> {
    const page = await context.newPage();
    await setDate(page, NOW);
    await page.goto(service.address + path);
    await waitForPage(page);
    return page;
  }

  const readHeader = (page: Page) => page.locator("header").innerText();
  const press = (page: Page, name: string) => page.getByRole("button", { name }).click();

  async function signIn(page: Page): Promise<void> {
    await page.getByLabel("Token").fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Show the numbers" }).waitFor();
  }

  async function checkPage(page: Page, name: string): Promise<void> {
    expect(await findBarriers(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await takePicture(page, name);
  }

  test("show an administrator all for free, mark it in the header, and end it", async () => {
    const { page, close } = await open("/admin");
    const before = await service.readSums("account 1");
    await signIn(page);
    await press(page, "Show the numbers");
    await page.getByText("Administrator’s view, free, until 00:00").waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe("/");
    await page.getByRole("heading", { name: "Collection" }).waitFor();
    expect(await page.locator("main").innerText()).not.toContain("credit");
    await page.getByRole("link", { name: "Channels", exact: true }).click();
    await page.getByRole("link", { name: "Soup" }).waitFor();
    expect(await page.locator("main").innerHTML()).not.toContain("credit");
    await page.goto(service.address + CHANNEL);
    await waitForPage(page);
    expect(await page.textContent("h1")).toBe("Soup");
    expect(await readHeader(page)).not.toContain("credits left");
    for (const path of [CHANNEL, "/compare", "/compare?names=soup", "/compare?kind=short"]) {
      await page.goto(service.address + path);
      await waitForPage(page);
      const html = await page.locator("main").innerHTML();
      expect([path, /.{30}credit.{30}/i.exec(html)?.[0]]).toEqual([path, undefined]);
    }
    await page.goto(service.address + CHANNEL);
    await waitForPage(page);
    expect(await page.getByRole("link", { name: "Account" }).count()).toBe(0);
    await checkPage(page, "administrators-view");
    await page.getByRole("link", { name: "Monitoring list" }).click();
    await page.getByText("An administrator’s view changes nothing here").waitFor();
    expect(await page.getByRole("button", { name: "Remove" }).count()).toBe(0);
    await page.goto(`${service.address}/account`);
    await page.getByText("An administrator’s view has no account").waitFor();
    await checkPage(page, "administrators-account");
    await press(page, "End the administrator’s view");
    await page.getByRole("button", { name: "Show the numbers" }).waitFor();
    await page.goto(service.address);
    await page.getByLabel("API key").waitFor();
    expect(await service.readSums("account 1")).toEqual(before);
    await close();
  }, 60_000);

  test("hand an administrator's view to tabs that a link opens, and say there when it has ended", async () => {
    const { page, close } = await open("/admin", 390);
    await signIn(page);
    await press(page, "Show the numbers");
    await page.getByRole("link", { name: "Channels", exact: true }).click();
    await page.getByRole("link", { name: "Soup" }).waitFor();
    await checkPage(page, "administrators-view-narrow");
    const [opened] = await Promise.all([
      page.context().waitForEvent("page"),
      page.getByRole("link", { name: "Soup" }).click({ button: "middle" }),
    ]);
    await waitForPage(opened);
    await opened.getByText("Administrator’s view, free").waitFor();
    await press(opened, "End the administrator’s view");
    await opened
      .getByRole("button", { name: "Show the numbers" })
      .or(opened.getByLabel("Token"))
      .waitFor();
    await page.reload();
    await page.getByText("The administrator’s view has ended").waitFor();
    await page.getByRole("link", { name: "Open it again" }).click();
    await page.getByRole("button", { name: "Show the numbers" }).waitFor();
    await close();
  }, 60_000);

  test("remember a key on the device if the visitor wishes, until it is forgotten in any tab", async () => {
    const { page, close } = await open("/account");
    const { key } = await service.createAccountWithKey(500);
    const checkBox = page.getByLabel("Remember on this device");
    expect(await checkBox.isChecked()).toBe(false);
    await page.getByLabel("API key").fill(key);
    await checkBox.check();
    await press(page, "Show the numbers");
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    expect(await page.evaluate<string | null>(`localStorage.getItem("apiKey")`)).toBe(key);
    const others = await service.createAccountWithKey(5);
    const other = await openNext(page.context(), `/account#key=${others.key}`);
    // A tab with another key forgets that one alone.
    await press(other, "Forget the key");
    await other.getByLabel("API key").waitFor();
    await other.reload();
    await other.getByRole("heading", { name: "Usage" }).waitFor();
    await press(other, "Forget the key");
    await other.getByLabel("API key").waitFor();
    await page.getByLabel("API key").waitFor();
    expect(await page.evaluate<string>("JSON.stringify(localStorage)")).toBe("{}");
    const third = await openNext(page.context(), "/account");
    await third.getByLabel("API key").waitFor();
    await close();
  }, 60_000);

  test("show the balance of another key at once, while requests with the earlier one are pending", async () => {
    const [poor, rich] = [
      await service.createAccountWithKey(8),
      await service.createAccountWithKey(500),
    ];
    const { page, close } = await open("/lists");
    const answer = Promise.withResolvers<void>();
    await page.route("**/api/**", async (route) => {
      const { "x-api-key": key } = route.request().headers();
      if (key === poor.key && /users/.test(route.request().url())) await answer.promise;
      return route.continue();
    });
    await page.goto(`${service.address}/#key=${poor.key}`);
    await page.getByText(/^[0-8] credits left/).waitFor();
    await page.evaluate(`location.hash = "key=${rich.key}"`);
    await waitForPage(page);
    await page.getByText(/^49\d credits left/).waitFor();
    answer.resolve();
    await close();
  }, 60_000);

  test("replace the key: ask first, show the new one once, go on with it and remember it", async () => {
    const { page, close } = await open("/account");
    const { key, account } = await service.createAccountWithKey(500);
    await page.getByLabel("API key").fill(key);
    await page.getByLabel("Remember on this device").check();
    await press(page, "Show the numbers");
    await press(page, "Replace the key");
    await checkPage(page, "replace-key");
    await press(page, "Cancel");
    await press(page, "Replace the key");
    await page.getByLabel("The old key ends").selectOption("0");
    await press(page, "Replace it");
    const shown = await page.locator(".secret").innerText();
    expect(shown).toMatch(/^cm_[\w-]{43}$/);
    expect(shown).not.toBe(key);
    await checkPage(page, "replaced-key");
    expect(await page.evaluate<string[]>(`[localStorage.apiKey, sessionStorage.apiKey]`)).toEqual([
      shown,
      shown,
    ]);
    expect((await service.get("/api/account", key)).status).toBe(401);
    await press(page, "Hide it");
    expect(await page.locator(".secret").count()).toBe(0);
    await page.reload();
    await page.getByText(account).waitFor();
    expect(await page.locator(".secret").count()).toBe(0);
    await close();
  }, 60_000);

  test("link to where credits are sold: on the account, while few are left, and when none is", async () => {
    const { key } = await service.createAccountWithKey(1);
    const { page, close } = await open(`/account#key=${key}`);
    const main = page.locator("main").getByRole("link", { name: "Buy credits" });
    expect(await main.getAttribute("href")).toBe(SHOP);
    expect(await readHeader(page)).toContain("1 credits left · Buy credits · this page cost 0");
    await page.goto(service.address + CHANNEL);
    await page.getByText("No credits left").first().waitFor();
    expect(await main.first().getAttribute("href")).toBe(SHOP);
    await checkPage(page, "buy-credits");
    const rich = await open(`/account#key=${service.key}`);
    expect(await readHeader(rich.page)).not.toContain("Buy credits");
    await rich.close();
    await close();
  }, 60_000);
});
