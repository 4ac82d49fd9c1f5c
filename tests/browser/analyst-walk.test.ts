/** The walk of an analyst over the demo's data, from what moved to a saved list, and its price. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { download, hasBrowser } from "../support/processes/browser.ts";
import { startDashboard, waitForPage, type Dashboard } from "../support/processes/dashboard.ts";

/** The credits that the whole walk may cost. */
const CREDITS_MAX = 40;

describe.skipIf(!hasBrowser())("an analyst", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 21 });
  }, 60_000);
  afterAll(() => dashboard.close());

  test("finds movers and a breakout, compares it by hours, and saves and exports a list, for few credits", async () => {
    const readBalance = async () =>
      (await dashboard.read<{ balance: number }>("/api/account")).balance;
    const before = await readBalance();
    const { page, close } = await dashboard.visit("/");
    await page.getByRole("heading", { name: "Breakouts of 7 days" }).waitFor();
    await waitForPage(page);
    const rows = (caption: string) =>
      page.locator("table").filter({ hasText: caption }).locator("tbody tr");
    // The three movers of the week.
    const movers = await rows("By subscribers gained").locator("td a").allInnerTexts();
    expect(movers.length).toBeGreaterThanOrEqual(3);
    // The breakout short, and its multiple.
    const breakout = rows("Shorts with most views beside others").first();
    expect(await breakout.innerText()).toMatch(/[\d.]+ ×/);
    await breakout.getByRole("link").click();
    await waitForPage(page);
    await page.getByRole("button", { name: /^Compare with the creator’s last five/ }).click();
    await page.waitForURL(/\/compare\?kind=shorts&ids=/);
    await waitForPage(page);
    await page.getByText("since publication").first().waitFor();
    // The breakout, and the newest five others of its creator.
    expect(new URL(page.url()).searchParams.get("ids")?.split(",")).toHaveLength(6);
    // A list of the movers, and its table as a file.
    await page.getByRole("link", { name: "Channels", exact: true }).click();
    await waitForPage(page);
    for (const name of movers.slice(0, 3)) {
      await page.getByRole("checkbox", { name: `Check ${name.trim()}` }).check();
    }
    await page.getByLabel("Name of a list").fill("Movers");
    await page.getByRole("button", { name: "Add to the list" }).click();
    await page.getByRole("link", { name: "Movers" }).waitFor();
    await page.goto(`${dashboard.service.address}/channels?list=Movers`);
    await waitForPage(page);
    const saved = await download(page.getByRole("button", { name: /^CSV/ }));
    const file = Bun.file(await saved.path());
    const lines = (await file.text()).trim().split("\r\n");
    expect(lines).toHaveLength(1 + 3);
    expect(lines[0]).toContain("weeklySubscriberGain");
    expect(before - (await readBalance())).toBeLessThanOrEqual(CREDITS_MAX);
    await close();
  }, 60_000);
});
