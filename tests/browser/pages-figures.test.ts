/** What the figures beside charts claim: periods, best and worst, rounded counts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { hasBrowser, setDate } from "../support/processes/browser.ts";
import {
  startDashboard,
  waitForFrame,
  waitForPage,
  type Dashboard,
} from "../support/processes/dashboard.ts";
import { NOW } from "../support/service.ts";
import { waitUntil } from "../support/wait.ts";

const TODAY = Math.floor(NOW / DAY_MS) * DAY_MS;

/** An observation of a channel, some days before the start of today. */
const observe = (id: string, daysAgo: number, counts: object) => ({
  kind: "channel",
  observedAt: new Date(TODAY - daysAgo * DAY_MS).toISOString(),
  id,
  username: id,
  ...counts,
});

const DAYS = Array.from({ length: 41 }, (_, day) => 40 - day);

const readTiles = (page: Page) => page.locator(".history .figures > div").allInnerTexts();

describe.skipIf(!hasBrowser())("figures", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    await dashboard.service.observe(
      // 100 more each day, 300 less on day 10, and 407 less in the first hours of today.
      ...DAYS.map((day) =>
        observe("steady", day - 0.25, {
          subscribers: day === 0 ? 8100 : 9007 - 100 * day - (day <= 10 ? 400 : 0),
          viewCount: 232_500 + (40 - day) * 500,
        }),
      ),
      ...DAYS.map((day) =>
        observe("rounded", day + 0.5, { subscribers: day < 15 ? 1_510_000 : 1_500_000 }),
      ),
      observe("single", 2, { subscribers: 100 }),
      observe("single", 1, { subscribers: 150 }),
    );
  }, 60_000);
  afterAll(() => dashboard.close());

  test("of a range and of a gain agree where both claim a week", async () => {
    const { page, close } = await dashboard.visit("/channels/steady?range=7d");
    const gain = page.locator(".figures > div", { hasText: "In a week" });
    const [, value = ""] = (await gain.innerText()).split("\n");
    expect(value).toStartWith("+");
    expect((await readTiles(page))[0]).toStartWith(`Change: 7 days\n${value}`);
    await close();
  }, 60_000);

  test("name no unfinished day best or worst, and hatch its bar", async () => {
    const { page, close } = await dashboard.visit("/channels/steady");
    const [, best = "", worst = ""] = await readTiles(page);
    expect(best).toStartWith("Best day\n+100");
    expect(worst).toBe("Worst day\n−300\n10 Nov 2026");
    await page.getByText("Table of Subscribers", { exact: true }).click();
    await page.locator(".tall").waitFor();
    const rows = page.locator(".charts tbody tr");
    expect(await rows.last().innerText()).toBe("20 Nov 2026\t8,100\t−407");
    const shares = await page.evaluate<number[]>(`(() => {
      const canvas = document.querySelectorAll("canvas")[1];
      const plot = document.querySelectorAll(".u-over")[1];
      const scale = canvas.width / canvas.clientWidth;
      const context = canvas.getContext("2d");
      const barWidth = plot.clientWidth / 31;
      // The share of the pixels in the middle of a bar that have its colour.
      return [28, 30].map((bar) => {
        const x = Math.round((plot.offsetLeft + barWidth * (bar + 0.35)) * scale);
        const width = Math.round(barWidth * 0.3 * scale);
        const { data } = context.getImageData(x, 0, width, canvas.height);
        const rows = [];
        for (let at = 0; at < data.length; at += 4) {
          const isColoured = Math.abs(data[at + 2] - data[at]) > 60 && data[at + 3] > 128;
          if (isColoured) rows.push(Math.floor(at / 4 / width));
        }
        return rows.length / (width * (rows.at(-1) - rows[0] + 1));
      });
    })()`);
    const [solid = 0, hatched = 0] = shares;
    expect(hatched).toBeGreaterThan(0);
    expect(hatched).toBeLessThan(solid);
    await close();
  }, 60_000);

  test("take the day as unfinished that was so when they were read", async () => {
    const { page, close } = await dashboard.visit("/channels/steady");
    await setDate(page, TODAY + DAY_MS + HOUR_MS);
    const credits = await page.textContent(".credits");
    const readView = () => new URL(page.url()).searchParams.get("view");
    await page.getByRole("button", { name: "Zoom in" }).first().click();
    await waitUntil(() => readView() !== null);
    await page.getByRole("button", { name: "Fit all" }).first().click();
    await waitUntil(() => readView() === null);
    await waitForPage(page);
    expect((await readTiles(page)).join()).toContain("Worst day\n−300\n10 Nov 2026");
    expect(await page.textContent(".credits")).toBe(credits);
    for (const name of ["7 days", "30 days"]) {
      await page.getByRole("button", { name }).click();
      await waitForPage(page);
    }
    expect((await readTiles(page)).join()).toContain("Worst day\n−407\n20 Nov 2026");
    await close();
  }, 60_000);

  test("are those of what is shown after a zoom", async () => {
    const { page, close } = await dashboard.visit("/channels/steady");
    expect((await readTiles(page)).join()).toContain("Worst day\n−300\n10 Nov 2026");
    for (let count = 0; count < 2; count++) {
      await page.getByRole("button", { name: "Zoom in" }).first().click();
      await waitForFrame(page);
    }
    for (let count = 0; count < 3; count++) {
      await page.getByRole("button", { name: "Later" }).first().click();
      await waitForFrame(page);
    }
    const [change = "", ...others] = await readTiles(page);
    // The rest of 12 November is shown, but not its start.
    expect(change).toStartWith("Change: 13 Nov 2026 – 20 Nov 2026\n");
    expect(others.join()).not.toContain("10 Nov 2026");
    await page.getByRole("button", { name: "Fit all" }).first().click();
    await waitForFrame(page);
    expect((await readTiles(page)).join()).toContain("Worst day\n−300\n10 Nov 2026");
    await close();
  }, 60_000);

  test("with a single change name neither best nor worst", async () => {
    const { page, close } = await dashboard.visit("/channels/single");
    expect(await readTiles(page)).toEqual(["Change: 18 Nov 2026 – 19 Nov 2026\n+50\n+50 %"]);
    await close();
  }, 60_000);

  test("of rounded counts say so, and name no rounding step best or worst", async () => {
    const { page, close } = await dashboard.visit("/channels/rounded");
    const subscribers = page.locator(".figures > div", { hasText: "rounded by the source" });
    expect(await subscribers.innerText()).toBe("Subscribers\n1.51 M\nrounded by the source");
    expect(await readTiles(page)).toHaveLength(1);
    expect(await page.getByText("Subscribers are rounded by the source").innerText()).toContain(
      "a change of 10 K can be less",
    );
    await close();
  }, 60_000);

  test("of comparisons and trends call no rounding step a change", async () => {
    const { page, close } = await dashboard.visit("/compare?names=rounded,steady");
    const cells = () =>
      page.locator(".scroll tbody tr", { hasText: "rounded" }).locator("td").allInnerTexts();
    expect(await cells()).toEqual(["rounded", "1.51 M", "rounded", "–", "✕"]);
    expect(await page.locator(".hint", { hasText: "rounded by the source" }).count()).toBe(1);
    await page.getByRole("button", { name: "Change", exact: true }).click();
    expect(await page.locator(".scroll tbody a").allTextContents()).toEqual(["steady", "rounded"]);
    await page.goto(`${dashboard.service.address}/compare?names=steady`);
    await waitForPage(page);
    expect(await page.getByText("rounded").count()).toBe(0);
    await page.goto(`${dashboard.service.address}/channels`);
    await waitForPage(page);
    expect((await cells()).slice(0, 6)).toEqual(["rounded", "1.51 M", "0", "0 %", "rounded", "–"]);
    await close();
  }, 60_000);

  test("of a chart's table have all digits, and ticks are not rounded", async () => {
    const { page, close } = await dashboard.visit("/channels/steady?count=viewCount");
    await page.getByText("Table of Views", { exact: true }).click();
    expect(await page.locator(".tall tbody td").first().textContent()).toMatch(/^2\d\d,[05]00$/);
    await close();
  }, 60_000);

  test("a link with a key that is opened in the tab is used, and leaves the address", async () => {
    const { page, close } = await dashboard.visit("/channels/steady");
    const { key } = await dashboard.service.createAccountWithKey(100);
    await page.evaluate(`location.hash = "key=${key}"`);
    // The pages forbid what `waitForFunction()` evaluates in them.
    await waitUntil(() => page.evaluate<boolean>(`sessionStorage.getItem("apiKey") === "${key}"`));
    expect(await page.evaluate<string>("location.hash")).toBe("");
    await page.getByText("In a week").waitFor();
    await close();
  }, 60_000);
});
