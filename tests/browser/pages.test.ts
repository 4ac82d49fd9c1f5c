/** Every page for people in Chromium, on the data of the demo: wide and narrow, light and dark. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { HistoryItem } from "../../core/histories.ts";
import { hasBrowser } from "../support/processes/browser.ts";
import {
  countSeriesPixels,
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

const WIDTHS = [360, 768, 1440] as const;
const SCHEMES = ["dark", "light"] as const;
const CHANNEL = "/api/video/sevenminutesoup";
const USER = "/api/microblog/slowcompiler";

interface PageCase {
  readonly name: string;
  readonly path: string;
  readonly title: string;
  /** How many charts it has. */
  readonly charts: number;
}

describe.skipIf(!hasBrowser())("the pages", () => {
  let dashboard: Dashboard;
  let cases: PageCase[];
  /** The short and the tweet that were observed most often. */
  let [short, tweet] = ["", ""];

  beforeAll(async () => {
    dashboard = await startDashboard();
    const { shorts } = await dashboard.read<{ shorts: { id: string }[] }>(`${CHANNEL}/shorts`);
    const { tweets } = await dashboard.read<{ tweets: object }>(`${USER}/tweets`);
    [short, tweet] = [shorts[1]?.id ?? "", Object.keys(tweets).at(-1) ?? ""];
    cases = [
      { name: "channels", path: "/channels", title: "Channels", charts: 0 },
      {
        name: "channel",
        path: "/channels/sevenminutesoup",
        title: "Seven Minute Soup",
        charts: 2,
      },
      { name: "short", path: `/channels/sevenminutesoup/shorts/${short}`, title: "", charts: 2 },
      { name: "users", path: "/users", title: "Users", charts: 0 },
      { name: "user", path: "/users/slowcompiler", title: "Slow Compiler", charts: 2 },
      { name: "tweet", path: `/users/slowcompiler/tweets/${tweet}`, title: tweet, charts: 2 },
      {
        name: "compare",
        path: "/compare?names=sevenminutesoup,kilnandclay,rustybearings",
        title: "Compare",
        charts: 1,
      },
      { name: "creators", path: "/creators", title: "Monitoring list", charts: 0 },
      { name: "account", path: "/account", title: "Account", charts: 1 },
    ];
  }, 60_000);
  afterAll(() => dashboard.close());

  test.skipIf(process.env["PAGE_PICTURES"] === undefined)(
    "give README.md its picture",
    async () => {
      const viewport = { width: 1280, height: 1184 };
      const visit = await dashboard.visit("/channels/sevenminutesoup", undefined, { viewport });
      await takePicture(visit.page, "dashboard", { fullPage: false });
      await visit.close();
    },
    60_000,
  );

  test("show figures and charts in light and dark at any width, without an error", async () => {
    const { page, faults, close } = await dashboard.visit("/");
    expect(page.url()).toBe(`${dashboard.service.address}/`);
    for (const { name, path, title, charts } of cases) {
      await page.goto(dashboard.service.address + path);
      await waitForPage(page);
      expect([name, await page.textContent("h1")]).toEqual([name, expect.stringContaining(title)]);
      expect(await page.title()).toEndWith(" · Creator metrics");
      // 1,280 px at 400 %: nothing is out of sight (WCAG 1.4.10).
      await setWidth(page, 320);
      expect([name, await measureOverflow(page)]).toEqual([name, 0]);
      for (const colorScheme of SCHEMES) {
        await setColourScheme(page, colorScheme);
        for (const width of WIDTHS) {
          await setWidth(page, width);
          const view = `${name}-${width}-${colorScheme}`;
          expect([view, await measureOverflow(page)]).toEqual([view, 0]);
          const pixels = await countSeriesPixels(page);
          const isDrawn = pixels.map((count) => count > 100);
          expect([view, isDrawn]).toEqual([view, Array(charts).fill(true)]);
          await takePicture(page, view);
        }
        expect([name, colorScheme, await findBarriers(page)]).toEqual([name, colorScheme, []]);
      }
    }
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("a chart shows the figures of the API to those who point at it", async () => {
    const histories = [
      ["/channels/sevenminutesoup", `${CHANNEL}/history?from=2026-10-21`, "subscribers"],
      ["/users/slowcompiler", `${USER}/history?from=2026-10-21`, "followers_count"],
      [cases[2]?.path, `${CHANNEL}/short/${short}/history?interval=hour`, "views"],
      [cases[5]?.path, `${USER}/tweet/${tweet}/history?interval=hour`, "likes"],
    ] as const;
    const { page, close } = await dashboard.visit("/");
    for (const [path = "", apiPath, count] of histories) {
      type Counts = Record<typeof count, number | null>;
      const { history } = await dashboard.read<{ history: HistoryItem<Counts>[] }>(apiPath);
      await page.goto(dashboard.service.address + path);
      await waitForPage(page);
      const seen: unknown[] = [];
      for (const fraction of [0, 1]) seen.push(await pointAt(page, { fraction }));
      const expected = [history[0], history.at(-1)].map((item) => ({
        instant: item?.timestamp,
        values: [item?.[count]?.toLocaleString("en-US")],
      }));
      expect([path, seen]).toEqual([path, expected]);
    }
    await close();
  }, 60_000);

  test("/channels shows trends to those who pay for them", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(100);
    const { page, close } = await dashboard.visit("/channels", key);
    await page.getByRole("button", { name: "Show trends of 30 days (8 credits)" }).click();
    await page.locator(".sparkline").first().waitFor();
    // One channel hides its subscribers.
    expect(await page.locator(".sparkline").count()).toBe(7);
    expect(await dashboard.service.readSums(account)).toMatchObject({ balance: 91 });
    expect(await page.textContent(".credits")).toContain("91 credits left · this page cost 9");
    await close();
  }, 60_000);

  test("/compare compares what a page links to, and says what is not found", async () => {
    const { page, close } = await dashboard.visit("/compare?names=kilnandclay,nobody");
    expect(await page.getByRole("alert").textContent()).toBe("nobody is not found.");
    expect(await page.locator(".u-legend .u-label").allTextContents()).toEqual([
      "Time",
      "kilnandclay",
    ]);
    await page.getByRole("link", { name: "Channels" }).click();
    await page.getByRole("link", { name: "Seven Minute Soup" }).click();
    await page.getByRole("link", { name: "Compare with 2 more" }).click();
    await waitForPage(page);
    expect(new URL(page.url()).searchParams.get("names")).toBe(
      "kilnandclay,nobody,sevenminutesoup",
    );
    await close();
  }, 60_000);

  test("/compare shows changes since the start, and keeps the choice in the address", async () => {
    const { page, close } = await dashboard.visit("/compare?names=kilnandclay,pocketorchard");
    await page.getByLabel("Show").selectOption("percent");
    await waitForPage(page);
    expect(new URL(page.url()).searchParams.get("show")).toBe("percent");
    expect((await pointAt(page, { fraction: 0 })).values).toEqual(["0 %", "unknown"]);
    expect((await pointAt(page, { fraction: 1 })).values).toEqual(["+0.65 %", "unknown"]);
    // That is one step of the source's rounding. The other hides its subscribers.
    const cells = (await page.locator("td.numeric").allTextContents()).join(" ");
    expect(cells).toBe("1.56 M rounded – – – –");
    // Another view of the same figures costs nothing.
    expect(await page.textContent(".credits")).toContain("this page cost 2");
    await page.reload();
    await waitForPage(page);
    expect(await page.getByLabel("Show").inputValue()).toBe("percent");
    await page.getByRole("button", { name: "Remove pocketorchard" }).click();
    await waitForPage(page);
    expect(new URL(page.url()).search).toBe("?names=kilnandclay&show=percent");
    await close();
  }, 60_000);

  test("a chart is also a table and a CSV file, with the same figures", async () => {
    const { page, close } = await dashboard.visit("/channels/sevenminutesoup?range=7d");
    const { history } = await dashboard.read<{ history: HistoryItem<{ subscribers: number }>[] }>(
      `${CHANNEL}/history?from=2026-11-13&interval=hour`,
    );
    await page.getByText("Table of Subscribers", { exact: true }).click();
    const cells = page.locator("figure").first().locator("td data");
    const figures = history.map(({ subscribers }) => String(subscribers));
    await cells.first().waitFor();
    const values = await cells.evaluateAll((all) => all.map((cell) => cell.getAttribute("value")));
    expect(values).toEqual(figures);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV of Subscribers", exact: true }).click();
    const file = await (await downloading).path();
    const rows = history.map(({ timestamp, subscribers }) => `${timestamp},${subscribers}\r\n`);
    expect(await Bun.file(file).text()).toBe(`timestamp,Subscribers\r\n${rows.join("")}`);
    await close();
  }, 60_000);
});
