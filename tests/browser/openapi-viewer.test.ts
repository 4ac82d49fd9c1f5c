/** The page that shows the OpenAPI document, in Chromium. */
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
    await service.importLines(LINE);
    browser = await openPage(service.address);
  }, 30_000);

  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  /** Sends the operation `GET /api/video/channels` from the page. */
  async function sendChannelsRequest() {
    const { page } = browser;
    // The page sends the defaults of the parameters.
    const path = `${service.address}/api/video/channels?`;
    const response = page.waitForResponse((received) => received.url().startsWith(path));
    await page.getByRole("button", { name: "Execute" }).click();
    return response;
  }

  test("shows the operations of the document", async () => {
    const { page } = browser;
    await page.goto("about:blank");
    const blank = await countColours(page, await page.screenshot());
    await page.goto(`${service.address}/swagger`);
    await page.getByRole("heading", { name: "Creator metrics" }).waitFor();
    await page.getByText("List the available channels").waitFor();
    await page.getByText("/api/video/{channel}/details").first().waitFor();
    const shot = await page.screenshot({ path: join(service.folder, "reference.png") });
    expect(blank).toBe(1);
    expect(await countColours(page, shot)).toBeGreaterThan(100);
  }, 60_000);

  test("sends an operation with the key that was entered, and shows the response", async () => {
    const { page } = browser;
    await page.getByRole("button", { name: "Authorize" }).click();
    const dialog = page.locator(".dialog-ux");
    await dialog.getByLabel("Value:").first().fill(service.key);
    await dialog.getByRole("button", { name: "Apply credentials" }).first().click();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await page.getByText("List the available channels").click();
    const response = await sendChannelsRequest();
    expect(response.status()).toBe(200);
    expect(await response.request().headerValue("x-api-key")).toBe(service.key);
    await page.locator(".live-responses-table").getByText('"onlyhere"').waitFor();
    await page.screenshot({ path: join(service.folder, "response.png"), fullPage: true });
  }, 60_000);

  test("remembers the key when the page is loaded again", async () => {
    await browser.page.reload();
    const response = await sendChannelsRequest();
    expect(await response.request().headerValue("x-api-key")).toBe(service.key);
  }, 60_000);

  test("requests nothing from other hosts, and nothing fails", async () => {
    expect(browser.faults).toEqual([]);
    await browser.page.evaluate(`fetch("http://other.example/").catch(() => undefined)`);
    expect(browser.faults).toContain("request to http://other.example/");
  });
});
