/** The tools of charts: tooltip, names at the ends of lines, log scale, picture, chosen days. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { DAY_MS } from "../../core/time.ts";
import { download, hasBrowser } from "../support/processes/browser.ts";
import {
  findBarriers,
  measureOverflow,
  pointAt,
  setColourScheme,
  setWidth,
  startDashboard,
  takePicture,
  waitForPage,
  type Dashboard,
} from "../support/processes/dashboard.ts";
import { readPicture } from "../support/processes/picture.ts";
import { NOW } from "../support/service.ts";
import { waitUntil } from "../support/wait.ts";

const TODAY = Math.floor(NOW / DAY_MS) * DAY_MS;
const DAYS = Array.from({ length: 31 }, (_, day) => 30 - day);
const NARROW = { viewport: { width: 390, height: 800 }, hasTouch: true };

const readTooltips = (page: Page) =>
  page.locator(".tooltip:visible").evaluateAll((all) => all.map(({ innerText }) => innerText));

const getParameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);

async function findBox(element: Locator) {
  const box = await element.boundingBox();
  if (box === null) throw new Error("The element is not shown");
  return box;
}

describe.skipIf(!hasBrowser())("charts", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    const observe = (id: string, day: number, subscribers: number) => ({
      kind: "channel",
      observedAt: new Date(TODAY - day * DAY_MS).toISOString(),
      id,
      username: id,
      subscribers,
    });
    await dashboard.service.observe(
      // From nothing to 30,000.
      ...DAYS.map((day) => observe("new", day, (30 - day) * 1000)),
      // The lines end in nearly the same point.
      ...DAYS.flatMap((day) =>
        ["first", "second", "third"].map((id, nth) => observe(id, day, 9001 + day * nth)),
      ),
    );
  }, 60_000);
  afterAll(() => dashboard.close());

  test("of a page have one toolbar, whose table and CSV have the values of all", async () => {
    const { page, close } = await dashboard.visit("/channels/new");
    expect(await page.locator("figure").count()).toBe(2);
    expect(await page.locator(".toolbar").count()).toBe(1);
    const toggle = page.getByRole("button", { name: "Table of Subscribers" });
    await toggle.click();
    expect(await toggle.getAttribute("aria-expanded")).toBe("true");
    const row = page.locator(".charts .tall tbody tr").nth(2);
    expect(await row.innerText()).toBe("23 Oct 2026\t2,000\t+1,000");
    await toggle.click();
    expect(await page.locator(".charts table:not(.u-legend)").count()).toBe(0);
    await close();
  }, 60_000);

  test("have a tooltip at the pointer, with the change since the value before", async () => {
    const { page, close } = await dashboard.visit("/channels/new");
    const below = page.locator("h2", { hasText: "Shorts" });
    const before = await findBox(below);
    await pointAt(page, { fraction: 0.5 });
    expect(await readTooltips(page)).toEqual([
      expect.stringMatching(/^5 Nov 2026\s+15,000\s+\+1,000$/),
      expect.stringMatching(/^5 Nov 2026\s+\+1,000\s*$/),
    ]);
    expect(await findBox(below)).toEqual(before);
    await page.mouse.move(5, 5);
    expect(await readTooltips(page)).toEqual([]);
    await page.locator(".plot").first().focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    expect((await readTooltips(page))[0]).toMatch(/^22 Oct 2026\s+1,000\s+\+1,000$/);
    await page.keyboard.press("Escape");
    expect(await readTooltips(page)).toEqual([]);
    await close();
  }, 60_000);

  test("show a tooltip to a finger, inside of the window of a phone", async () => {
    const { page, faults, close } = await dashboard.visit(
      "/compare?names=first,second,third",
      undefined,
      NARROW,
    );
    const plot = await findBox(page.locator(".u-over"));
    for (const fraction of [0.02, 0.5, 0.995]) {
      await page.touchscreen.tap(plot.x + plot.width * fraction, plot.y + plot.height / 2);
      const { x, width } = await findBox(page.locator(".tooltip"));
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(390);
      expect(await measureOverflow(page)).toBe(0);
    }
    // The lines end in this order.
    expect((await readTooltips(page))[0]).toMatch(
      /^20 Nov 2026, so far\s+first\s+9,001\s+0\s+second\s+9,001\s+−1\s+third\s+9,001\s+−2$/,
    );
    await takePicture(page, "chart-tooltip-390");
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("write names beside the ends of lines, apart from each other", async () => {
    const { page, close } = await dashboard.visit("/compare?names=first,second,third");
    for (const width of [1440, 390]) {
      await setWidth(page, width);
      const lines = await page.evaluate<number>(`(() => {
        const canvas = document.querySelector("canvas");
        const plot = document.querySelector(".u-over");
        const scale = canvas.width / canvas.clientWidth;
        const x = Math.round((plot.offsetLeft + plot.clientWidth + 16) * scale);
        const height = Math.round((plot.offsetTop + plot.clientHeight) * scale);
        const { data, width } = canvas.getContext("2d").getImageData(x, 0, canvas.width - x, height);
        const hasText = (y) => data.subarray(y * width * 4, (y + 1) * width * 4)
          .some((part, at) => at % 4 === 3 && part > 128);
        let lines = 0;
        for (let y = 1; y < height; y++) if (hasText(y) && !hasText(y - 1)) lines++;
        return lines;
      })()`);
      expect([width, lines]).toEqual([width, 3]);
    }
    await close();
  }, 60_000);

  test("can be logarithmic, say which values that leaves out, and still tell them", async () => {
    const { page, faults, close } = await dashboard.visit("/channels/new");
    const toggle = page.getByRole("button", { name: "Log scale of Subscribers" });
    expect(await toggle.getAttribute("aria-pressed")).toBe("false");
    await toggle.click();
    await waitForPage(page);
    expect(getParameter(page, "scale")).toBe("log");
    const captions = () => page.locator("figcaption").allInnerTexts();
    const expected = [
      "Subscribers log scale, without 1 value of 0, which it has no place for",
      // Changes can be negative.
      "Subscribers: change each day",
    ];
    expect(await captions()).toEqual(expected);
    expect((await pointAt(page, { fraction: 0 })).values).toEqual(["0"]);
    expect((await readTooltips(page))[0]).toMatch(/^21 Oct 2026\s+0\s*$/);
    await page.reload();
    await waitForPage(page);
    expect(await captions()).toEqual(expected);
    await page.goBack();
    await waitForPage(page);
    expect(await captions()).toEqual(["Subscribers", "Subscribers: change each day"]);
    await page.goto(`${dashboard.service.address}/compare?names=new,first&show=percent&scale=log`);
    await waitForPage(page);
    expect(await page.getByRole("button", { name: /^Log/ }).count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("are saved as a picture at twice the size, light and dark as they are seen", async () => {
    const { page, faults, close } = await dashboard.visit("/compare?names=first,new");
    for (const [scheme, background] of [
      ["light", [255, 255, 255]],
      ["dark", [20, 23, 28]],
    ] as const) {
      await setColourScheme(page, scheme);
      const saved = await download(page.getByRole("button", { name: "PNG of Subscribers" }));
      expect(saved.suggestedFilename()).toBe("compare-subscribers-count-30d.png");
      const picture = await readPicture(page, await saved.path());
      const { width } = await findBox(page.locator(".plot"));
      expect(picture.width).toBe((width + 40) * 2);
      expect(picture.background).toEqual([...background]);
      // The lines, and their names in the legend.
      expect(picture.colouredPixels).toBeGreaterThan(3000);
      // Heading, range, title, chart, legend and source, each with texts.
      expect(picture.linesOfText).toBeGreaterThanOrEqual(6);
    }
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("are saved at that size on any screen, without a series that is hidden", async () => {
    const { page, close } = await dashboard.visit("/compare?names=first,new", undefined, {
      deviceScaleFactor: 1.5,
    });
    const save = async () => {
      const saved = await download(page.getByRole("button", { name: "PNG of Subscribers" }));
      return readPicture(page, await saved.path());
    };
    const all = await save();
    const { width } = await findBox(page.locator(".plot"));
    expect(all.width).toBe((width + 40) * 2);
    await page.locator(".u-legend th", { hasText: "new" }).click();
    const others = await save();
    expect(others.colouredPixels).toBeLessThan(all.colouredPixels * 0.7);
    expect(others.height).toBe(all.height);
    await close();
  }, 60_000);

  test("have no barrier while they show all that they can, and do not scroll sideways", async () => {
    const path = "/compare?names=first,second,third,new&scale=log&range=2026-10-25..2026-11-15";
    const { page, close } = await dashboard.visit(path);
    await page.getByRole("button", { name: "Table of Subscribers" }).click();
    for (const scheme of ["light", "dark"] as const) {
      await setColourScheme(page, scheme);
      for (const width of [390, 768, 1440]) {
        await setWidth(page, width);
        await waitUntil(async () => (await measureOverflow(page)) === 0);
        await pointAt(page, { fraction: 0.6 });
        await takePicture(page, `chart-tools-${width}-${scheme}`);
      }
      expect([scheme, await findBarriers(page)]).toEqual([scheme, []]);
    }
    await close();
  }, 60_000);
});
