/** What the address keeps of charts: the range, chosen days, and the part that is shown. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { DAY_MS } from "../../core/time.ts";
import { hasBrowser } from "../support/processes/browser.ts";
import {
  measureOverflow,
  pointAt,
  startDashboard,
  takePicture,
  waitForFrame,
  waitForPage,
  type Dashboard,
} from "../support/processes/dashboard.ts";
import { NOW } from "../support/service.ts";
import { waitUntil } from "../support/wait.ts";

const TODAY = Math.floor(NOW / DAY_MS) * DAY_MS;

const getParameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);

const readPeriod = (page: Page) => page.locator(".period").textContent();

const pressZoom = async (page: Page, name: string) => {
  await page.getByRole("button", { name, exact: true }).click();
  await waitForFrame(page);
};

const chooseDays = async (page: Page, from: string, to: string) => {
  if (!(await page.getByLabel("From").isVisible())) {
    await page.locator("summary", { hasText: "Dates" }).click();
  }
  await page.getByLabel("From").fill(from);
  await page.getByLabel("to", { exact: true }).fill(to);
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await waitForPage(page);
};

describe.skipIf(!hasBrowser())("the address", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    await dashboard.service.observe(
      ...Array.from({ length: 60 }, (_, day) => ({
        kind: "channel",
        observedAt: new Date(TODAY - day * DAY_MS).toISOString(),
        id: "soup",
        username: "soup",
        subscribers: 10_000 - 7 * day,
      })),
    );
  }, 60_000);
  afterAll(() => dashboard.close());

  const open = async (page: Page, query: string) => {
    await page.goto(`${dashboard.service.address}/channels/soup?${query}`);
    await waitForPage(page);
  };

  test("keeps a zoom, which a reload and a shared link restore, and going back undoes", async () => {
    const { page, close } = await dashboard.visit("/channels/soup");
    const whole = await readPeriod(page);
    await pressZoom(page, "Zoom in");
    await pressZoom(page, "Later");
    await waitUntil(() => getParameter(page, "view") === "2026-11-05..2026-11-20");
    expect(page.url()).toEndWith("?view=2026-11-05..2026-11-20");
    const zoomed = { period: await readPeriod(page), start: await pointAt(page, { fraction: 0 }) };
    await page.reload();
    await waitForPage(page);
    expect(await readPeriod(page)).toBe(zoomed.period);
    for (const chart of [0, 1]) {
      const { instant } = await pointAt(page, { chart, fraction: chart === 0 ? 0 : 0.03 });
      expect([chart, instant]).toEqual([chart, zoomed.start.instant]);
    }
    // The figures are of the shown part, too.
    expect(await page.locator(".history .figures").innerText()).toContain("5 Nov 2026");
    await pressZoom(page, "Zoom in");
    await waitUntil(() => getParameter(page, "view") === "2026-11-08T18:00Z..2026-11-16T06:00Z");
    await page.goBack();
    await waitUntil(() => getParameter(page, "view") === null);
    await waitForPage(page);
    expect(await readPeriod(page)).toBe(whole);
    await page.goForward();
    await waitUntil(async () => (await readPeriod(page)) === "8 Nov 2026 – 16 Nov 2026");
    await pressZoom(page, "Fit all");
    await waitUntil(() => getParameter(page, "view") === null);
    await close();
  }, 60_000);

  test("keeps a zoom by dragging, and loses it with another range", async () => {
    const { page, close } = await dashboard.visit("/channels/soup");
    const box = await page.locator(".u-over").first().boundingBox();
    if (box === null) throw new Error("The chart is not drawn");
    await page.mouse.move(box.x + box.width * 0.2, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 50, { steps: 3 });
    await page.mouse.up();
    await waitUntil(() => getParameter(page, "view") !== null);
    expect(getParameter(page, "view")).toMatch(/^2026-10-2[67]\S*\.\.2026-11-0[78]/);
    await page.getByRole("button", { name: "1 year" }).click();
    await waitForPage(page);
    expect(new URL(page.url()).search).toBe("?range=1y");
    expect(await readPeriod(page)).toBe("22 Sept 2026 – 20 Nov 2026");
    await page.goBack();
    await waitUntil(async () => (await readPeriod(page))?.startsWith("2") === true);
    expect(getParameter(page, "view")).not.toBeNull();
    await close();
  }, 60_000);

  test("takes a view that does not exist for all, and leaves it as it is", async () => {
    const { page, faults, close } = await dashboard.visit("/channels/soup");
    for (const view of ["x", "2020-01-01..2020-02-01", "%3Cscript%3E..1"]) {
      await open(page, `view=${view}`);
      expect([view, await readPeriod(page)]).toEqual([view, "21 Oct 2026 – 20 Nov 2026"]);
    }
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("keeps chosen days, which cost a credit, and going back costs nothing", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(20);
    const { page, close } = await dashboard.visit("/channels/soup", key);
    const expectBalance = async (balance: number) => {
      expect(await dashboard.service.readSums(account)).toMatchObject({ balance });
      expect(await page.textContent(".credits")).toContain(
        `${balance} credits left · this page cost ${20 - balance}`,
      );
    };
    await expectBalance(17);
    await chooseDays(page, "2026-10-15", "2026-10-01");
    expect(getParameter(page, "range")).toBe("2026-10-01..2026-10-15");
    expect(await readPeriod(page)).toBe("1 Oct 2026 – 15 Oct 2026");
    expect((await pointAt(page, { fraction: 0 })).instant).toBe("2026-10-01T00:00:00.000Z");
    const last = await pointAt(page, { fraction: 1 });
    expect(last.instant).toBe("2026-10-15T00:00:00.000Z");
    const change = await page.locator(".history .figures > div").first().innerText();
    expect(change).toStartWith("Change: 1 Oct 2026 – 15 Oct 2026\n+105");
    await expectBalance(16);
    await page.goBack();
    await waitUntil(async () => (await readPeriod(page)) === "21 Oct 2026 – 20 Nov 2026");
    await page.goForward();
    await waitUntil(async () => (await readPeriod(page)) === "1 Oct 2026 – 15 Oct 2026");
    await expectBalance(16);
    await page.goto(`${dashboard.service.address}/compare?names=soup&range=2026-10-01..2026-10-15`);
    await waitForPage(page);
    expect(await readPeriod(page)).toBe("1 Oct 2026 – 15 Oct 2026");
    expect(await page.locator("caption").last().textContent()).toContain(
      "1 Oct 2026 – 15 Oct 2026",
    );
    await close();
  }, 60_000);

  test("with a wrong range shows another one, and says so", async () => {
    const { page, faults, close } = await dashboard.visit("/channels/soup", undefined, {
      viewport: { width: 390, height: 800 },
    });
    for (const range of ["2y", "2026-02-30..2026-03-01", "2026-11-05..2026-11-01", "<b>\u202Ex"]) {
      await open(page, `range=${encodeURIComponent(range)}`);
      const alert = await page.getByRole("alert").innerText();
      expect(alert).toBe(
        `${range} is not a range. Shown instead: 30 days. A range is 7d, 30d, 1y, all, or two ` +
          "dates such as 2026-10-01..2026-10-15.",
      );
      expect(await readPeriod(page)).toBe("21 Oct 2026 – 20 Nov 2026");
      expect(await measureOverflow(page)).toBe(0);
    }
    await takePicture(page, "chart-wrong-range-390");
    await chooseDays(page, "2026-11-01", "2026-11-05");
    expect(await page.getByRole("alert").count()).toBe(0);
    await takePicture(page, "chart-days-390");
    // Five days are read in hours.
    expect(await page.locator("figcaption").last().innerText()).toBe(
      "Subscribers: change each hour",
    );
    await open(page, "range=2020-01-01..2020-01-05");
    expect(await page.locator(".history").innerText()).toContain("Nothing was observed");
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("of a list keeps its sort, which going back undoes", async () => {
    const { page, close } = await dashboard.visit("/channels");
    const head = page.getByRole("columnheader", { name: "Views" });
    await head.getByRole("button").click();
    await waitUntil(() => getParameter(page, "sort") === "views");
    await waitForPage(page);
    expect(await head.getAttribute("aria-sort")).toBe("descending");
    await page.goBack();
    await waitUntil(() => getParameter(page, "sort") === null);
    await waitForPage(page);
    expect(await head.getAttribute("aria-sort")).toBeNull();
    await close();
  }, 60_000);
});
