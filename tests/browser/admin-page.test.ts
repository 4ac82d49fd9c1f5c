/** Uses the administrator's page in Chromium: accounts, keys, credits, creators, the audit. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import axe from "axe-core";
import { generateObservations } from "../../server/demo/generate.ts";
import { DAY_MS } from "../../core/time.ts";
import { countColours, hasBrowser, openPage } from "../support/processes/browser.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

const TOKEN = "the-token-of-the-administrator";

let service: TestService;
let browser: Awaited<ReturnType<typeof openPage>>;
beforeAll(async () => {
  if (!hasBrowser()) return;
  service = await startTestService({ ADMIN_TOKEN: TOKEN });
  await service.observe(...generateObservations({ from: NOW - DAY_MS, to: NOW }));
  browser = await openPage(service.address);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await service?.close();
});

/** Opens a part of the page. */
async function openPart(name: string) {
  const { page } = browser;
  await page.goto(`${service.address}/admin#${name}`);
  await page.waitForSelector(`a[href="#${name}"][aria-current]`);
  return page;
}

describe.skipIf(!hasBrowser())("/admin", () => {
  test("takes the token, refuses a wrong one, and forgets it", async () => {
    const { page, faults } = browser;
    await page.goto(`${service.address}/admin`);
    await page.fill("#token", "a wrong token");
    await page.click("text=Continue");
    await page.waitForSelector("text=does not know this token");
    // The browser reports the 401 itself.
    expect(faults.splice(0).every((fault) => fault.includes("401"))).toBe(true);
    await page.click("text=Enter another token");
    await page.fill("#token", TOKEN);
    await page.click("text=Continue");
    await page.waitForSelector("text=Accounts: 1");
    expect(page.url()).not.toContain(TOKEN);
  }, 30_000);

  test("creates an account and a key that works, grants once, rotates and revokes", async () => {
    const page = await openPart("accounts");
    await page.fill('form[aria-label="Create an account"] [name=name]', "shop");
    await page.fill('form[aria-label="Create an account"] [name=credits]', "10");
    await page.click('button:text-is("Create an account")');
    await page.waitForSelector("text=Account shop has 10 credits");
    for (const message of ["shop has 15 credits now", "granted before; shop has 15 credits"]) {
      await page.fill('form[aria-label="Grant credits"] [name=account]', "shop");
      await page.fill('form[aria-label="Grant credits"] [name=amount]', "5");
      await page.fill('form[aria-label="Grant credits"] [name=reference]', "invoice 7");
      await page.click('button:text-is("Grant credits")');
      await page.waitForSelector(`text=${message}`);
    }
    await page.click('td button:has-text("shop")');
    await page.waitForSelector("text=This account has no key yet");
    await page.click('button:text-is("Create a key")');
    const key = (await page.textContent("code.secret")) ?? "";
    expect((await service.get("/api/video/channels", key)).status).toBe(200);
    await page.click('button:text-is("Rotate")');
    await page.locator("code.secret", { hasNotText: key }).waitFor();
    const rotated = (await page.textContent("code.secret")) ?? "";
    expect((await service.get("/api/video/channels", rotated)).status).toBe(200);
    expect((await service.get("/api/video/channels", key)).status).toBe(200);
    await page.click('tr:first-child >> button:text-is("Revoke")');
    await page.waitForSelector("text=is revoked");
    expect(await service.readSums("shop")).toMatchObject({ balance: 12, debited: 3 });
    expect(browser.faults).toEqual([]);
  }, 30_000);

  test("adds and removes a creator, and shows what is stored", async () => {
    const page = await openPart("collection");
    const form = 'form[aria-label="Add a creator"]';
    await page.fill(`${form} [name=name]`, "bsky.app");
    await page.click(`${form} button`);
    await page.waitForSelector("text=bsky.app is added");
    await page.click('[aria-label="Remove bsky.app"]');
    await page.waitForSelector("text=bsky.app is removed");
    await openPart("database");
    await page.waitForSelector('td:text-is("tweet")');
    expect(browser.faults).toEqual([]);
  }, 30_000);

  test("draws the requests of now", async () => {
    const page = await openPart("live");
    const requests = setInterval(() => void service.get("/api/account"), 50);
    try {
      const canvas = await page.waitForSelector("canvas", { timeout: 15_000 });
      expect(await countColours(page, await canvas.screenshot())).toBeGreaterThan(2);
    } finally {
      clearInterval(requests);
    }
    expect(browser.faults).toEqual([]);
  }, 30_000);

  test("lists who changed what, and has no serious finding of axe-core", async () => {
    for (const part of ["audit", "accounts", "collection", "database"]) {
      const page = await openPart(part);
      await page.waitForSelector("h2");
      await page.locator(".loading").first().waitFor({ state: "detached" });
      if (part === "audit") await page.waitForSelector('td:text-is("keys rotate")');
      // The policy of the page allows no script from elsewhere, a debugger may run one.
      await page.evaluate(axe.source);
      const findings = await page.evaluate<{ id: string; impact: string }[]>(
        "axe.run().then(({ violations }) => violations.map(({ id, impact }) => ({ id, impact })))",
      );
      expect(findings.filter(({ impact }) => /serious|critical/.test(impact))).toEqual([]);
    }
  }, 30_000);
});
