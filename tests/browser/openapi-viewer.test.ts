/** The page that shows the OpenAPI document, in Chromium. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { countColours, hasBrowser, openPage } from "../support/processes/browser.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { waitUntil } from "../support/wait.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";

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
    service = await startTestService({ ADMIN_TOKEN });
    await service.importLines(LINE);
    browser = await openPage(service.address);
  }, 30_000);

  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  /** Loads the page anew, and enters the key. @returns The dialog, which stays open. */
  async function enterKey() {
    const { page } = browser;
    await page.goto(`${service.address}/swagger`);
    await page.getByRole("button", { name: "Authorize" }).click();
    const dialog = page.locator(".dialog-ux");
    await dialog.getByLabel("Value:").first().fill(service.key);
    await dialog.getByRole("button", { name: "Apply credentials" }).first().click();
    return dialog;
  }

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
    const dialog = await enterKey();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await page.getByText("List the available channels").click();
    const response = await sendChannelsRequest();
    expect(response.status()).toBe(200);
    expect(await response.request().headerValue("x-api-key")).toBe(service.key);
    await page.locator(".live-responses-table").getByText('"onlyhere"').waitFor();
    await page.screenshot({ path: join(service.folder, "response.png"), fullPage: true });
  }, 60_000);

  test("sends an administrator's token, and stores neither it nor the key", async () => {
    const { page } = browser;
    const dialog = await enterKey();
    await dialog.getByLabel("auth-bearer-value").fill(ADMIN_TOKEN);
    await dialog.getByRole("button", { name: "Apply credentials" }).click();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await page.locator(".opblock-summary").filter({ hasText: "/admin/status" }).click();
    const received = page.waitForResponse(`${service.address}/admin/status`);
    await page.getByRole("button", { name: "Execute" }).last().click();
    expect((await received).status()).toBe(200);
    const readStorage = () =>
      page.evaluate<string>(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])",
      );
    expect(await readStorage()).toBe('[{},{},""]');
    // Earlier versions stored both here.
    await page.evaluate(`localStorage.setItem("authorized", "{}")`);
    await page.reload();
    await page.getByRole("button", { name: "Authorize" }).click();
    await dialog.getByLabel("auth-bearer-value").waitFor();
    expect(await dialog.getByRole("button", { name: "Remove authorization" }).count()).toBe(0);
    expect(await readStorage()).toBe('[{},{},""]');
  }, 60_000);

  test("requests nothing from other hosts, and nothing fails", async () => {
    const { page, faults } = browser;
    await page.goto(`${service.address}/swagger`);
    await page.getByText("List the available channels").waitFor();
    expect(faults).toEqual([]);
    await page.evaluate(`fetch("http://other.example/").catch(() => undefined)`);
    expect(faults.join()).toContain("Connecting to 'http://other.example/' violates");
    faults.length = 0;
  });

  test.each(["/swagger", "/admin", "/"])("%s is shown in no frame", async (path) => {
    const { page, faults } = browser;
    // This address has no policy of its own.
    await page.goto(`${service.address}/livez`);
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement("iframe"), { src: "${path}" }))`,
    );
    await waitUntil(() => faults.join().includes("frame-ancestors 'none'"));
    faults.length = 0;
  });
});
