/** Charts of items over each other by hours since publication, on data that the test passes in. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { readCsvRows } from "../support/csv-rows.ts";
import { download, hasBrowser, startBrowser } from "../support/processes/browser.ts";
import { serveAgeCharts } from "../support/processes/charts-page.ts";
import {
  findBarriers,
  measureOverflow,
  setWidth,
  takePicture,
  waitForFrame,
} from "../support/processes/dashboard.ts";
import { readPicture } from "../support/processes/picture.ts";
import { waitUntil } from "../support/wait.ts";

const NAMES = [
  "The laziest beetroot soup",
  "حساء العدس في سبع دقائق",
  "\u202Egnp.exe \u2067<img src=x onerror='window.hacked = 1'>",
  "w".repeat(200),
  "👩‍👩‍👧‍👦🏳️‍🌈".repeat(12),
  "七分鐘的味噌湯",
] as const;

/** The hours of all items; the first item is known at the even ones only, and to hour 60. */
const HOURS = [...Array.from({ length: 25 }, (_, hour) => hour), 30, 36, 48, 60, 90, 120, 168];
const isFirstKnown = (hour: number) => hour % 2 === 0 && hour <= 60;
const countViews = (hour: number, nth: number) => (nth + 1) * 100 * hour;

describe.skipIf(!hasBrowser())("charts by age", () => {
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let charts: Awaited<ReturnType<typeof serveAgeCharts>>;
  beforeAll(async () => {
    browser = await startBrowser();
    charts = await serveAgeCharts({
      rows: HOURS.map((hours) => ({ hours })),
      charts: [
        {
          title: "Views",
          series: NAMES.map((label, nth) => ({
            label,
            values: HOURS.map((hour) =>
              nth > 0 || isFirstKnown(hour) ? countViews(hour, nth) : null,
            ),
          })),
        },
      ],
      fileName: "shorts by age",
      isShareable: true,
    });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await charts.close();
  });

  async function visit(query = "", width = 1280) {
    const opened = await browser.open(charts.address, { viewport: { width, height: 800 } });
    await opened.page.goto(`${charts.address}/${query}`);
    await opened.page.waitForSelector(".plot[aria-busy=false]");
    await waitForFrame(opened.page);
    return opened;
  }

  async function pointAtHour(page: Page, hour: number) {
    const plot = page.locator(".u-over");
    const { width = 0 } = (await plot.boundingBox()) ?? {};
    const x = Math.min(width - 1, (width * hour) / 168);
    await plot.hover({ position: { x, y: 20 } });
    return (await page.locator(".tooltip").innerText()).split(/\s*\n\s*/);
  }

  test("have an axis, a tooltip and a table in hours and days since publication", async () => {
    const { page, faults, close } = await visit();
    expect(await page.locator(".period").textContent()).toBe("0 h – 7 d after publication");
    const pointed = await pointAtHour(page, 48);
    expect(pointed[0]).toBe("2 d after publication");
    expect(pointed.slice(-3)).toEqual([NAMES[0], "4,800", "+1,200"]);
    // At this hour, the line of the first item goes on from the hour before.
    const between = await pointAtHour(page, 23);
    expect(between[0]).toBe("23 h after publication");
    expect(between.slice(-3)).toEqual([NAMES[0], "2,200", "at 22 h"]);
    // After its last known hour, nothing is claimed.
    const later = await pointAtHour(page, 168);
    expect(later.slice(-2)).toEqual([NAMES[0], "unknown"]);
    await page.getByRole("button", { name: "Table of Views" }).click();
    const row = page.locator(".tall tbody tr").nth(25);
    expect(await row.locator("time").textContent()).toBe("1 d 6 h");
    expect(await row.locator("time").getAttribute("datetime")).toBe("PT108000S");
    expect(await page.locator(".tall thead bdi").allTextContents()).toEqual([...NAMES]);
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("have a CSV in hours, and a picture", async () => {
    const { page, close } = await visit();
    const save = (name: string) => download(page.getByRole("button", { name }));
    const csv = await save("CSV of Views");
    expect(csv.suggestedFilename()).toBe("shorts-by-age.csv");
    const [header, ...rows] = readCsvRows(await Bun.file(await csv.path()).text());
    expect(header).toEqual(["hours", ...NAMES]);
    for (const [index, [hour, ...values]] of rows.entries()) {
      const at = HOURS[index] ?? NaN;
      const known = NAMES.map((_, nth) => (nth > 0 || isFirstKnown(at) ? countViews(at, nth) : ""));
      expect([hour, values]).toEqual([String(at), known.map(String)]);
    }
    expect(rows).toHaveLength(HOURS.length);
    const png = await save("PNG of Views");
    expect(png.suggestedFilename()).toBe("shorts-by-age.png");
    const picture = await readPicture(page, await png.path());
    expect(picture.colouredPixels).toBeGreaterThan(3000);
    expect(picture.linesOfText).toBeGreaterThanOrEqual(6);
    await page.evaluate("HTMLCanvasElement.prototype.toBlob = (done) => done(null)");
    await page.getByRole("button", { name: "PNG of Views" }).click();
    await page.getByRole("alert").getByText("The picture is too large").waitFor();
    await close();
  }, 60_000);

  test("keep a zoom in hours in the address, and are read by keyboard", async () => {
    const { page, close } = await visit("?view=0..48");
    expect(await page.locator(".period").textContent()).toBe("0 h – 2 d after publication");
    await page.locator(".plot").focus();
    await page.keyboard.press("End");
    const status = await page.locator("[role=status]").textContent();
    expect(status).toStartWith(`2 d, ${NAMES[0]}: 4,800 (+1,200), ${NAMES[1]}: 9,600 (+2,400)`);
    await page.keyboard.press("+");
    const readView = () => new URL(page.url()).searchParams.get("view") ?? "";
    await waitUntil(() => readView() === "12..36");
    // A selection of few pixels is widened to the length of three values.
    const { x = 0, y = 0 } = (await page.locator(".u-over").boundingBox()) ?? {};
    await page.mouse.move(x + 300, y + 100);
    await page.mouse.down();
    await page.mouse.move(x + 302, y + 100);
    await page.mouse.up();
    await waitUntil(() => readView() !== "12..36");
    const [from = NaN, to = NaN] = readView().split("..").map(Number);
    expect(to - from).toBeCloseTo((3 * 168) / HOURS.length, 1);
    await close();
  }, 60_000);

  test("have no barrier and do not scroll sideways at any width", async () => {
    const { page, close } = await visit("?scale=log", 390);
    for (const width of [390, 768, 1440]) {
      await setWidth(page, width);
      await pointAtHour(page, 100);
      expect([width, await measureOverflow(page)]).toEqual([width, 0]);
      await takePicture(page, `charts-by-age-${width}`);
    }
    expect(await page.locator("figcaption").innerText()).toContain("without 6 values of 0");
    expect(await findBarriers(page)).toEqual([]);
    await close();
  }, 60_000);
});
