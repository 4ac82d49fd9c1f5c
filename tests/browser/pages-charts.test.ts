/** The charts of the pages for people: gaps, losses, zoom, and the times that they show. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { hasBrowser, setDate } from "../support/processes/browser.ts";
import {
  pointAt,
  setWidth,
  startDashboard,
  waitForFrame,
  waitForPage,
  type Dashboard,
} from "../support/processes/dashboard.ts";
import { NOW } from "../support/service.ts";

const MIDNIGHT = Date.parse("2026-11-20");

/** Which colours a chart has at a fraction of its width: red is of losses. */
async function findColours(page: Page, chart: number, fraction: number): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const canvas = document.querySelectorAll("canvas")[${chart}];
    const plot = document.querySelectorAll(".u-over")[${chart}];
    const scale = canvas.width / canvas.clientWidth;
    const x = (plot.offsetLeft + plot.clientWidth * ${fraction}) * scale;
    const { data } = canvas.getContext("2d").getImageData(x - 2, 0, 4, canvas.height);
    const colours = new Set();
    for (let at = 0; at < data.length; at += 4) {
      const [red, , blue, alpha] = data.subarray(at, at + 4);
      if (alpha > 128 && Math.abs(red - blue) > 60) colours.add(red > blue ? "red" : "blue");
    }
    return [...colours].toSorted();
  })()`);
}

describe.skipIf(!hasBrowser())("a chart", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    // Days 20 to 11 before now are missing; the count of day 5 is hidden; day 3 has a loss.
    const days = Array.from({ length: 31 }, (_, day) => 30 - day).filter(
      (day) => day > 20 || day < 11,
    );
    await dashboard.service.observe(
      ...days.map((day) => ({
        kind: "channel",
        observedAt: new Date(MIDNIGHT - day * DAY_MS).toISOString(),
        id: "UC1",
        username: "soup",
        subscribers: day === 5 ? null : 1000 - 10 * day - (day < 4 ? 300 : 0),
      })),
      ...[0, 1, 2].map((hour) => ({
        kind: "channel",
        observedAt: new Date(NOW - hour * HOUR_MS).toISOString(),
        id: "UC2",
        username: "hourly",
        subscribers: 100 - hour,
      })),
    );
  }, 60_000);
  afterAll(() => dashboard.close());

  const toFraction = (daysAgo: number) => (30 - daysAgo) / 30;
  /** Half a bar is left free at both ends: 21 bars over 30 days. */
  const toBar = (daysAgo: number) => {
    const margin = 30 / 21 / 2;
    return (30 - daysAgo + margin) / (30 + 2 * margin);
  };

  test("draws no line where nothing was observed, and never takes unknown for 0", async () => {
    const { page, close } = await dashboard.visit("/channels/soup");
    const colours: Record<string, string[]> = {};
    for (const day of [25, 15.5, 8, 4.5]) {
      colours[day] = await findColours(page, 0, toFraction(day));
    }
    expect(colours).toEqual({ 25: ["blue"], 15.5: [], 8: ["blue"], 4.5: [] });
    expect(await pointAt(page, { fraction: toFraction(5) })).toEqual({
      instant: "2026-11-15T00:00:00.000Z",
      values: ["unknown"],
    });
    expect((await pointAt(page, { fraction: toFraction(18) })).values).toEqual(["unknown"]);
    await page.getByText("Table of Subscribers", { exact: true }).click();
    const row = page.locator(".charts tr", { hasText: "15 Nov 2026" });
    expect(await row.locator("td").allTextContents()).toEqual(["unknown", "unknown"]);
    await close();
  }, 60_000);

  test("shows losses in a colour and with a sign of their own", async () => {
    const { page, close } = await dashboard.visit("/channels/soup");
    expect(await findColours(page, 1, toBar(8))).toEqual(["blue"]);
    expect(await findColours(page, 1, toBar(3))).toEqual(["red"]);
    expect((await pointAt(page, { chart: 1, fraction: toBar(3) })).values).toEqual(["−290"]);
    expect((await pointAt(page, { chart: 1, fraction: toBar(8) })).values).toEqual(["+10"]);
    await close();
  }, 60_000);

  test("has bars that are wide, also if it has a gap", async () => {
    const { page, close } = await dashboard.visit("/channels/soup");
    for (const day of [25.2, 24.8, 8.2, 7.8]) {
      expect(await findColours(page, 1, toBar(day))).toEqual(["blue"]);
    }
    expect(await findColours(page, 1, toBar(15.5))).toEqual([]);
    await close();
  }, 60_000);

  test("is zoomed by dragging, stays so, and shows everything after a double click", async () => {
    const { page, close } = await dashboard.visit("/channels/soup");
    const plot = page.locator(".u-over").first();
    const { x = 0, y = 0, width = 0 } = (await plot.boundingBox()) ?? {};
    const whole = await pointAt(page, { fraction: 0 });
    await page.mouse.move(x + width * toFraction(10.5), y + 50);
    await page.mouse.down();
    await page.mouse.move(x + width * toFraction(1.5), y + 50, { steps: 3 });
    await page.mouse.up();
    expect((await pointAt(page, { fraction: 0 })).instant).toBe("2026-11-10T00:00:00.000Z");
    await setWidth(page, 700);
    await page.getByText("Table of Subscribers", { exact: true }).click();
    expect((await pointAt(page, { fraction: 1 })).instant).toBe("2026-11-18T00:00:00.000Z");
    await plot.dblclick();
    expect(await pointAt(page, { fraction: 0 })).toEqual(whole);
    await close();
  }, 60_000);

  test("has the dates of UTC wherever the visitor is: axis, legend, table and tiles", async () => {
    const { page, close } = await dashboard.visit("/channels/soup", undefined, {
      timezoneId: "America/Los_Angeles",
    });
    const legend = page.locator(".u-legend .u-value").first();
    await pointAt(page, { fraction: 1 });
    expect(await legend.textContent()).toBe("20 Nov 2026, so far");
    await pointAt(page, { fraction: toFraction(3) });
    expect(await legend.textContent()).toBe("17 Nov 2026");
    expect(await page.locator(".period").textContent()).toBe("21 Oct 2026 – 20 Nov 2026");
    expect(await page.locator(".history .figures").innerText()).toContain("−290\n17 Nov 2026");
    await page.getByText("Table of Subscribers", { exact: true }).click();
    const time = page.locator(".charts td time, .charts th time").last();
    expect(await time.textContent()).toBe("20 Nov 2026");
    expect(await time.getAttribute("datetime")).toBe("2026-11-20");
    await close();
  }, 60_000);

  test("shows hours in the time of the visitor, and in UTC to those who point at them", async () => {
    const { page, close } = await dashboard.visit("/channels/soup?range=7d", undefined, {
      timezoneId: "America/New_York",
    });
    await pointAt(page, { fraction: 1 });
    expect(await page.locator(".u-legend .u-value").first().textContent()).toBe(
      "19 Nov 2026, 19:00 (2026-11-20 00:00 UTC)",
    );
    await page.getByText("Table of Subscribers", { exact: true }).click();
    const time = page.locator(".charts td time, .charts th time").last();
    expect(await time.textContent()).toBe("19 Nov 2026, 19:00");
    expect(await time.getAttribute("title")).toBe("2026-11-20 00:00:00 UTC");
    await close();
  }, 60_000);

  test("says of an unfinished hour that its value is so far, until it is read again", async () => {
    const { page, close } = await dashboard.visit("/channels/hourly?range=7d");
    const legend = page.locator(".u-legend .u-value").first();
    const unfinished = "20 Nov 2026, 12:00 (2026-11-20 12:00 UTC), so far";
    await pointAt(page, { fraction: 0 });
    expect(await legend.textContent()).toBe("20 Nov 2026, 10:00 (2026-11-20 10:00 UTC)");
    await pointAt(page, { fraction: 1 });
    expect(await legend.textContent()).toBe(unfinished);
    const status = page.locator(".charts [role=status]");
    await page.locator(".plot").first().focus();
    await page.keyboard.press("End");
    expect(await status.textContent()).toBe("20 Nov 2026, 12:00, so far, Subscribers: 100 (+1)");
    // What was read in this hour is not complete in the next one.
    await setDate(page, NOW + HOUR_MS);
    for (const range of ["30 days", "7 days"]) {
      await page.getByRole("button", { name: range }).click();
      await waitForPage(page);
    }
    await pointAt(page, { fraction: 1 });
    expect(await legend.textContent()).toBe(unfinished);
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByText("this page cost 3").waitFor();
    await waitForPage(page);
    await pointAt(page, { fraction: 1 });
    expect(await legend.textContent()).toBe("20 Nov 2026, 12:00 (2026-11-20 12:00 UTC)");
    await close();
  }, 60_000);

  test("of a comparison and of usage says which value is so far", async () => {
    const { page, close } = await dashboard.visit("/compare?names=hourly");
    for (const path of ["/compare?names=hourly", "/account"]) {
      await page.goto(dashboard.service.address + path);
      await waitForPage(page);
      await pointAt(page, { fraction: 1 });
      const legend = await page.locator(".u-legend .u-value").first().textContent();
      expect([path, legend]).toEqual([path, "20 Nov 2026, so far"]);
    }
    await close();
  }, 60_000);

  test("has the range that is chosen, which the address keeps", async () => {
    const { page, close } = await dashboard.visit("/channels/soup?range=7d");
    expect((await pointAt(page, { fraction: 0 })).instant).toBe(
      new Date(MIDNIGHT - 7 * DAY_MS).toISOString(),
    );
    await page.getByRole("button", { name: "1 year" }).click();
    await waitForPage(page);
    expect(new URL(page.url()).search).toBe("?range=1y");
    expect((await pointAt(page, { fraction: 0 })).instant).toBe(
      new Date(MIDNIGHT - 30 * DAY_MS).toISOString(),
    );
    await close();
  }, 60_000);

  test("is zoomed and read by keyboard, with the chart beside it", async () => {
    const { page, faults, close } = await dashboard.visit("/channels/soup");
    const period = () => page.locator(".period").textContent();
    const whole = await period();
    expect(whole).toBe("21 Oct 2026 – 20 Nov 2026");
    const status = page.locator(".charts [role=status]");
    expect(await status.textContent()).toBe("");
    await page.locator(".plot").first().focus();
    await page.keyboard.press("ArrowLeft");
    expect(await status.textContent()).toBe("20 Nov 2026, so far, Subscribers: 700 (+10)");
    await page.keyboard.press("Home");
    expect(await status.textContent()).toBe("21 Oct 2026, Subscribers: 700");
    for (let steps = 0; steps < 10; steps++) await page.keyboard.press("ArrowRight");
    // The days without an observation are passed over.
    expect(await status.textContent()).toBe("10 Nov 2026, Subscribers: 900 (+110)");
    expect(await page.locator(".u-legend").nth(1).innerText()).toContain("+110");
    await page.keyboard.press("+");
    await page.keyboard.press("PageDown");
    await waitForFrame(page);
    expect(await period()).toBe("5 Nov 2026 – 20 Nov 2026");
    for (const chart of [0, 1]) {
      const { instant } = await pointAt(page, { chart, fraction: 0.45 });
      expect([chart, instant]).toEqual([chart, "2026-11-12T00:00:00.000Z"]);
    }
    expect(await status.textContent()).toBe("Shows 5 Nov 2026 – 20 Nov 2026");
    await page.keyboard.press("0");
    await waitForFrame(page);
    expect(await period()).toBe(whole);
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("has buttons that zoom, which Tab and a finger reach", async () => {
    const { page, close } = await dashboard.visit("/channels/soup", undefined, {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
    });
    const zoom = page.getByRole("group", { name: "Zoom of Subscribers", exact: true });
    const period = page.locator(".period");
    await page.getByLabel("Count").focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await waitForFrame(page);
    expect(await period.textContent()).toBe("28 Oct 2026 – 12 Nov 2026");
    await zoom.getByRole("button", { name: "Later" }).tap();
    await waitForFrame(page);
    expect(await period.textContent()).toBe("5 Nov 2026 – 20 Nov 2026");
    await zoom.getByRole("button", { name: "Zoom out" }).tap();
    await waitForFrame(page);
    expect(await period.textContent()).toBe("21 Oct 2026 – 20 Nov 2026");
    // A chart that shows all cannot show more.
    await zoom.getByRole("button", { name: "Earlier" }).tap({ force: true });
    await waitForFrame(page);
    expect(await period.textContent()).toBe("21 Oct 2026 – 20 Nov 2026");
    await close();
  }, 60_000);

  test("comes with what it amounts to, but for what changed during a gap", async () => {
    const { page, close } = await dashboard.visit("/channels/soup");
    const figures = page.locator(".history .figures > div");
    expect(await figures.allInnerTexts()).toEqual([
      "Change: 30 days\n0\n0 %",
      // 110 were gained during the ten days of the gap.
      "Best day\n+10\n22 Oct 2026",
      "Worst day\n−290\n17 Nov 2026",
    ]);
    await close();
  }, 60_000);
});
