import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { countColours, hasBrowser, openPage } from "../support/processes/browser.ts";
import { startTestService, type TestService } from "../support/service.ts";

const LINE = JSON.stringify({
  kind: "channel",
  observedAt: "2026-11-20T06:00:00Z",
  id: "CH-soup",
  username: "onlyhere",
});

describe.skipIf(!hasBrowser())("/swagger in a browser", () => {
  let service: TestService;
  let browser: Awaited<ReturnType<typeof openPage>>;

  beforeAll(async () => {
    service = await startTestService();
    await service.takeIn(LINE);
    browser = await openPage(service.address);
  }, 30_000);

  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  /** The field of the key on the page itself, above all operations. */
  const keyField = () => browser.page.locator("input.scalar-password-input").first();

  test("renders the operations, and is not blank", async () => {
    const { page } = browser;
    await page.goto("about:blank");
    const blank = await countColours(page, await page.screenshot());
    await page.goto(`${service.address}/swagger`);
    await page.getByRole("heading", { name: "Creator metrics" }).waitFor();
    await page.getByRole("heading", { name: "List the available channels" }).waitFor();
    await page.getByText("/api/video/{channel}/details").first().waitFor();
    const shot = await page.screenshot({ path: join(service.folder, "reference.png") });
    expect(blank).toBe(1);
    expect(await countColours(page, shot)).toBeGreaterThan(100);
  }, 60_000);

  test("sends an operation with the key that was entered, and shows its answer", async () => {
    const { page } = browser;
    await keyField().fill(service.key);
    await page.getByRole("button", { name: /Test Request.*\/api\/video\/channels\)/s }).click();
    const dialog = page.getByRole("dialog");
    const answered = page.waitForResponse(`${service.address}/api/video/channels`);
    await dialog.getByRole("button", { name: /^Send/ }).first().click();
    const answer = await answered;
    expect(answer.status()).toBe(200);
    expect(await answer.request().headerValue("x-api-key")).toBe(service.key);
    await dialog.getByText("200 OK").waitFor();
    await dialog.getByText('"onlyhere"').waitFor();
    await page.screenshot({ path: join(service.folder, "answer.png") });
  }, 60_000);

  test("still has the key after it is loaded anew", async () => {
    await browser.page.reload();
    await keyField().waitFor();
    expect(await keyField().inputValue()).toBe(service.key);
  }, 60_000);

  test("asked no other host, and nothing failed", async () => {
    expect(browser.faults).toEqual([]);
    await browser.page.evaluate(`fetch("http://other.example/").catch(() => undefined)`);
    expect(browser.faults).toContain("request to http://other.example/");
  });
});
