/** The page that shows the OpenAPI document, in Chromium. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  countColours,
  hasBrowser,
  startBrowser,
  type OpenedPage,
} from "../support/processes/browser.ts";
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
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  /**
   * Shows the document, and has no key when a test begins and ends. All tests share it: to load it
   * takes seconds of processor time.
   */
  let viewer: OpenedPage;
  let other: OpenedPage;

  beforeAll(async () => {
    service = await startTestService({ ADMIN_TOKEN });
    await service.importLines(LINE);
    browser = await startBrowser();
    viewer = await browser.open(service.address);
    other = await browser.open(service.address);
    await viewer.page.goto(`${service.address}/swagger`);
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  test("shows the operations of the document", async () => {
    const { page } = viewer;
    await other.page.goto("about:blank");
    const blank = await countColours(other.page, await other.page.screenshot());
    await page.getByRole("heading", { name: "Creator metrics" }).waitFor();
    await page.getByText("List the available channels").waitFor();
    await page.getByText("/api/video/{channel}/details").first().waitFor();
    const shot = await page.screenshot({ path: join(service.folder, "reference.png") });
    expect(blank).toBe(1);
    expect(await countColours(page, shot)).toBeGreaterThan(100);
  }, 60_000);

  test("sends operations with the key and the token that were entered, and stores neither", async () => {
    const { page } = viewer;
    const dialog = page.locator(".dialog-ux");
    await page.getByRole("button", { name: "Authorize" }).click();
    await dialog.getByLabel("Value:").first().fill(service.key);
    await dialog.getByRole("button", { name: "Apply credentials" }).first().click();
    const tokenForm = dialog.locator("form").filter({ hasText: "adminToken" });
    await tokenForm.getByLabel("auth-bearer-value").fill(ADMIN_TOKEN);
    await tokenForm.getByRole("button", { name: "Apply credentials" }).click();
    await dialog.getByRole("button", { name: "Close" }).last().click();

    await page.getByText("List the available channels").click();
    // The page sends the defaults of the parameters.
    const path = `${service.address}/api/video/channels?`;
    const [channels] = await Promise.all([
      page.waitForResponse((received) => received.url().startsWith(path)),
      page.getByRole("button", { name: "Execute" }).click(),
    ]);
    expect(channels.status()).toBe(200);
    expect(await channels.request().headerValue("x-api-key")).toBe(service.key);
    await page.locator(".live-responses-table").getByText('"onlyhere"').waitFor();

    // Until this operation is shown, the only button of that name is the one of the channels.
    const status = page.locator(".opblock").filter({ hasText: "/admin/status" });
    await status.locator(".opblock-summary").click();
    const [received] = await Promise.all([
      page.waitForResponse(`${service.address}/admin/status`),
      status.getByRole("button", { name: "Execute" }).click(),
    ]);
    expect(received.status()).toBe(200);

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
    await dialog.getByRole("button", { name: "Close" }).last().click();
  }, 240_000);

  test("requests nothing from other hosts, and nothing fails", async () => {
    const { page, faults } = viewer;
    await page.getByText("List the available channels").waitFor();
    expect(faults).toEqual([]);
    await page.evaluate(`fetch("http://other.example/").catch(() => undefined)`);
    expect(faults.join()).toContain("Connecting to 'http://other.example/' violates");
    faults.length = 0;
  }, 60_000);

  test.each(["/swagger", "/admin", "/"])("%s is shown in no frame", async (path) => {
    const { page, faults } = other;
    // This address has no policy of its own.
    await page.goto(`${service.address}/livez`);
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement("iframe"), { src: "${path}" }))`,
    );
    await waitUntil(() => faults.join().includes("frame-ancestors 'none'"));
    faults.length = 0;
  });
});
