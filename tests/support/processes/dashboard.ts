/** The pages for people in a browser: visits with a key, and what every page is checked for. */
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { generateDailyProfiles, generateObservations } from "../../../server/demo/generate.ts";
import type { PictureFetchOptions } from "../../../server/pictures/fetch-picture.ts";
import { DAY_MS } from "../../../core/time.ts";
import { NOW, startTestService } from "../service.ts";
import { waitUntil } from "../wait.ts";
import { resetPage, setDate, startBrowser, type OpenedPage } from "./browser.ts";

const VIEWPORT = { width: 1280, height: 900 };

const AXE_PATH = Bun.resolveSync("axe-core/axe.min.js", import.meta.dir);

/**
 * Starts a service with the data of the demo, and a browser.
 *
 * @param days For how many days everything is observed, not only profiles.
 * @param pictureFetch Lets the service serve pictures, from what this allows.
 */
export async function startDashboard({
  days = 3,
  pictureFetch,
}: Readonly<{ days?: number; pictureFetch?: PictureFetchOptions }> = {}) {
  const settings = { PICTURES: pictureFetch === undefined ? "off" : "on" };
  const service = await startTestService(settings, undefined, undefined, pictureFetch);
  if (days > 0) {
    await service.observe(
      ...generateDailyProfiles({ from: NOW - 90 * DAY_MS, to: NOW }),
      ...generateObservations({ from: NOW - days * DAY_MS, to: NOW }),
    );
    await service.refreshFigures();
  }
  const browser = await startBrowser();
  /** Pages of ended visits. A visit reuses one if it has no option but the size of the window. */
  const endedPages: OpenedPage[] = [];
  async function openPage(origin: string, options: BrowserContextOptions): Promise<OpenedPage> {
    const { viewport = VIEWPORT, ...others } = options;
    if (viewport === null || Object.keys(others).length > 0) {
      return browser.open(origin, { timezoneId: "UTC", ...options });
    }
    const opened =
      endedPages.pop() ?? (await browser.open(origin, { timezoneId: "UTC", viewport }));
    await opened.page.setViewportSize(viewport);
    const close = async () => {
      await resetPage(opened);
      endedPages.push(opened);
    };
    return { ...opened, close };
  }
  return {
    service,
    browser,
    /**
     * Opens a page at the time of the service, as somebody with a key; `null` for none.
     *
     * @param options With a `baseURL`, the page is opened there.
     */
    async visit(
      path: string,
      key: string | null = service.key,
      options: BrowserContextOptions = {},
    ) {
      const origin = options.baseURL ?? service.address;
      // Lists of shorts and tweets are sorted by figures, which a service computes in the background.
      await service.refreshFigures();
      const visit = await openPage(origin, options);
      await setDate(visit.page, NOW);
      await visit.page.goto(origin + path + (key === null ? "" : `#key=${key}`));
      await waitForPage(visit.page);
      return visit;
    },
    /** Reads JSON of the public API. */
    async read<Body>(path: string): Promise<Body> {
      return (await (await service.get(path)).json()) as Body;
    },
    async close(): Promise<void> {
      await browser.close();
      await service.close();
    },
  };
}

export type Dashboard = Awaited<ReturnType<typeof startDashboard>>;

/** Waits until nothing on a page is loading, and all is drawn. */
export async function waitForPage(page: Page): Promise<void> {
  await page.waitForSelector("main > *");
  await page.waitForSelector(".loading, [aria-busy=true]", { state: "detached" });
  await waitForFrame(page);
}

/** Waits until changes of the layout are drawn. */
export async function waitForFrame(page: Page): Promise<void> {
  await page.evaluate(`new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`);
}

/** Shows a page in light or dark colours, and waits until its charts are drawn in them. */
export async function setColourScheme(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  // The page hears of it with the next frame.
  await waitForFrame(page);
  await waitForPage(page);
}

/** Shows a page in a window of another width, and waits until its charts have that of their frame. */
export async function setWidth(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await waitUntil(() =>
    page.evaluate<boolean>(`innerWidth === ${width} &&
      [...document.querySelectorAll(".plot")].every((plot) =>
        plot.querySelector(".u-wrap")?.offsetWidth === plot.clientWidth)`),
  );
}

/** Takes a picture of a whole page, if PAGE_PICTURES names a folder. */
export async function takePicture(
  page: Page,
  name: string,
  { fullPage = true } = {},
): Promise<void> {
  const folder = process.env["PAGE_PICTURES"];
  if (folder === undefined) return;
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
}

/** The serious findings of axe-core about a page. */
export async function findBarriers(page: Page): Promise<string[]> {
  // A page of one document has it already.
  if (!(await page.evaluate<boolean>(`"axe" in window`))) {
    await page.evaluate(await Bun.file(AXE_PATH).text());
  }
  return page.evaluate<
    string[]
  >(`axe.run(document, { preload: false, resultTypes: ["violations"] }).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`);
}

/** How many pixels a page is wider than its window. */
export async function measureOverflow(page: Page): Promise<number> {
  return page.evaluate<number>(
    `document.documentElement.scrollWidth - document.documentElement.clientWidth`,
  );
}

/** How many pixels of each chart have the colour of a series; axes and grids are nearly grey. */
export async function countSeriesPixels(page: Page): Promise<number[]> {
  return page.evaluate<number[]>(`[...document.querySelectorAll("canvas")].map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let coloured = 0;
    for (let at = 0; at < data.length; at += 4) {
      const [red, green, blue, alpha] = data.subarray(at, at + 4);
      if (alpha > 128 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) coloured++;
    }
    return coloured;
  })`);
}

/** Points at a chart, and reads what its legend says: the instant in UTC, and the values. */
export async function pointAt(page: Page, { chart = 0, fraction = 0 } = {}) {
  const plot = page.locator(".u-over").nth(chart);
  const box = await plot.boundingBox();
  if (box === null) throw new Error("The chart is not drawn");
  const x = Math.min(box.width - 1, Math.max(1, box.width * fraction));
  await plot.hover({ position: { x, y: box.height / 2 } });
  const [time = "", ...values] = await page
    .locator(".u-legend")
    .nth(chart)
    .locator(".u-value")
    .allTextContents();
  // An instant is in both zones, a date in UTC alone.
  const date = /^\d+ \w+ \d+(?=$|, so far$)/.exec(time)?.[0];
  const utc = date === undefined ? (/\((.+ UTC)\)/.exec(time)?.[1] ?? "") : `${date} UTC`;
  return { instant: utc === "" ? "" : new Date(utc).toISOString(), values };
}
