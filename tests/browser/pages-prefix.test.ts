/** The pages of a service below a prefix: every link, request and change of address stays below it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { generateDailyProfiles, generateObservations } from "../../server/demo/generate.ts";
import { DAY_MS } from "../../core/time.ts";
import { hasBrowser, setDate, startBrowser } from "../support/processes/browser.ts";
import { waitForPage } from "../support/processes/dashboard.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

const ADMIN_TOKEN = "the-token-of-the-administrator";
// The path of a page, too.
const PREFIX = "/creators";
const PUBLIC_URL = `http://127.0.0.1${PREFIX}`;

describe.skipIf(!hasBrowser())("the pages below a prefix", () => {
  let service: TestService;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let origin = "";
  beforeAll(async () => {
    service = await startTestService({
      PUBLIC_URL,
      ADMIN_TOKEN,
      COLLECT: "off",
      CREDITS_URL: "https://shop.example/credits",
    });
    ({ origin } = new URL(service.address));
    await service.observe(
      ...generateDailyProfiles({ from: NOW - 9 * DAY_MS, to: NOW }),
      ...generateObservations({ from: NOW - DAY_MS, to: NOW }),
    );
    await service.refreshFigures();
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  async function open(path: string) {
    const opened = await browser.open(origin, { timezoneId: "UTC" });
    const requests: string[] = [];
    opened.page.on("request", (request) => requests.push(new URL(request.url()).pathname));
    await setDate(opened.page, NOW);
    await opened.page.goto(service.address + path);
    await waitForPage(opened.page);
    return { ...opened, requests };
  }

  const readPlace = (page: Page) => new URL(page.url()).pathname;

  /** The links of a page that lead out of the prefix, to no other origin. */
  const findStrayLinks = (page: Page) =>
    page
      .locator("a[href]")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""))
      .then((links) => links.filter((href) => !/^(?:#|https:|\/creators(?:\/|$))/.test(href)));

  test("link to each other, and load without a fault", async () => {
    const { page, faults, requests, close } = await open(`/#key=${service.key}`);
    const queue = [`${PREFIX}/`];
    const visited = new Set<string>();
    for (const path of queue) {
      // One page of each kind is enough: the first of its links.
      const kind = path.replace(/(?<=\/(?:channels|users|shorts|tweets)\/)[^/?]+/g, "*");
      if (visited.has(kind.replace(/\?.*/, "")) || path.startsWith(`${PREFIX}/swagger`)) continue;
      visited.add(kind.replace(/\?.*/, ""));
      await page.goto(origin + path);
      await waitForPage(page);
      expect([path, await findStrayLinks(page)]).toEqual([path, []]);
      const links = await page
        .locator("a[href^='/']")
        .evaluateAll((found) => found.map((link) => link.getAttribute("href") ?? ""));
      queue.push(...links);
    }
    const kinds = ["channels/*", "channels/*/shorts/*", "users/*/tweets/*", "compare", "account"];
    expect([...visited]).toEqual(expect.arrayContaining(kinds.map((kind) => `${PREFIX}/${kind}`)));
    expect(requests.filter((path) => !path.startsWith(`${PREFIX}/`))).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  }, 120_000);

  test("follow links, open lists and go back without loading a document", async () => {
    const { page, faults, requests, close } = await open(`/#key=${service.key}`);
    await page.getByRole("link", { name: "Channels", exact: true }).click();
    await page.locator("main table a").first().click();
    await waitForPage(page);
    expect(readPlace(page)).toStartWith(`${PREFIX}/channels/`);
    await page.getByRole("link", { name: "Lists", exact: true }).click();
    await page.getByRole("button", { name: "Create" }).waitFor();
    await page.getByLabel("Name of a list").fill("Rivals");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "Rivals" }).waitFor();
    expect(readPlace(page)).toBe(`${PREFIX}/lists/Rivals`);
    await page.goBack();
    await page.goBack();
    await waitForPage(page);
    expect(readPlace(page)).toStartWith(`${PREFIX}/channels/`);
    expect(requests.filter((path) => path.includes("/assets/pages.js")).length).toBe(1);
    // A page first adds to a list of the name, which is not there yet.
    expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
    await close();
  }, 60_000);

  test("leave a link to the same origin outside of the prefix to the browser", async () => {
    const { page, close } = await open(`/account#key=${service.key}`);
    const [request] = await Promise.all([
      page.waitForRequest(`${origin}/shop`),
      page.evaluate(`
        const link = Object.assign(document.createElement("a"), { href: "/shop" });
        document.body.append(link);
        link.click();
      `),
    ]);
    expect(request.isNavigationRequest()).toBe(true);
    await close();
  }, 60_000);

  test("keep keys apart from those of another service at the origin", async () => {
    const { page, close } = await open(`/account#key=${service.key}`);
    const names = await page.evaluate(() => Object.keys(sessionStorage));
    expect(names).toEqual([`apiKey${PREFIX}`]);
    await close();
  }, 60_000);

  test("let an administrator sign in, watch, look for free and come back", async () => {
    const { page, faults, requests, close } = await open("/admin");
    await page.getByLabel("Token").fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    for (const part of ["Live", "Database", "Collection", "Accounts"]) {
      await page.getByRole("link", { name: part, exact: true }).click();
      await waitForPage(page);
      expect([part, await findStrayLinks(page)]).toEqual([part, []]);
    }
    await page.getByRole("button", { name: "Show the numbers" }).click();
    await page.getByText("Administrator’s view, free").waitFor();
    expect(readPlace(page)).toBe(`${PREFIX}/`);
    await page.getByRole("button", { name: "End the administrator’s view" }).click();
    await page.getByRole("button", { name: "Show the numbers" }).waitFor();
    expect(readPlace(page)).toBe(`${PREFIX}/admin`);
    expect(requests).toContain(`${PREFIX}/metrics`);
    expect(requests.filter((path) => !path.startsWith(`${PREFIX}/`))).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  }, 60_000);
});
