/** Every page for people in Chromium, on the data of the demo: wide and narrow, light and dark. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { HistoryItem } from "../../core/histories.ts";
import { download, hasBrowser } from "../support/processes/browser.ts";
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

/** Pages: the path, where `SHORT` and `TWEET` stand for ids, the title, the number of charts. */
const PAGES = {
  channels: ["/channels", "Channels", 0],
  channel: ["/channels/sevenminutesoup", "Seven Minute Soup", 2],
  short: ["/channels/sevenminutesoup/shorts/SHORT", "", 2],
  users: ["/users", "Users", 0],
  user: ["/users/slowcompiler", "Slow Compiler", 2],
  tweet: ["/users/slowcompiler/tweets/TWEET", "TWEET", 2],
  compare: ["/compare?names=sevenminutesoup,kilnandclay,rustybearings", "Compare", 1],
  home: ["/", "This week", 0],
  lists: ["/lists", "Lists", 0],
  creators: ["/creators", "Monitoring list", 0],
  account: ["/account", "Account", 1],
} as const;

describe.skipIf(!hasBrowser())("the pages", () => {
  let dashboard: Dashboard;
  /** The short and the tweet that were observed most often. */
  let [short, tweet] = ["", ""];

  beforeAll(async () => {
    dashboard = await startDashboard();
    const { shorts } = await dashboard.read<{ shorts: { id: string }[] }>(`${CHANNEL}/shorts`);
    const { tweets } = await dashboard.read<{ tweets: object }>(`${USER}/tweets`);
    [short, tweet] = [shorts[1]?.id ?? "", Object.keys(tweets).at(-1) ?? ""];
  }, 60_000);
  afterAll(() => dashboard.close());

  const withIds = (text: string) => text.replace("SHORT", short).replace("TWEET", tweet);

  test.skipIf(process.env["PAGE_PICTURES"] === undefined)(
    "give README.md its pictures",
    async () => {
      const viewport = { width: 1280, height: 1184 };
      const pictures = { home: "/", dashboard: "/channels/sevenminutesoup" };
      // So many days as the demo has.
      const demo = await startDashboard({ days: 45 });
      for (const [name, path] of Object.entries(pictures)) {
        const visit = await demo.visit(path, undefined, { viewport });
        await takePicture(visit.page, name, { fullPage: false });
        await visit.close();
      }
      await demo.close();
    },
    60_000,
  );

  test.each(Object.keys(PAGES) as (keyof typeof PAGES)[])(
    "%s shows figures and charts in light and dark at any width, without an error",
    async (name) => {
      const [path, title, charts] = PAGES[name];
      const { page, faults, close } = await dashboard.visit(withIds(path));
      expect(page.url()).toBe(dashboard.service.address + withIds(path));
      expect(await page.textContent("h1")).toContain(withIds(title));
      expect(await page.title()).toEndWith(" · Creator metrics");
      // 1,280 px at 400 %: nothing is out of sight (WCAG 1.4.10).
      await setWidth(page, 320);
      expect(await measureOverflow(page)).toBe(0);
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
        expect([colorScheme, await findBarriers(page)]).toEqual([colorScheme, []]);
      }
      expect(faults).toEqual([]);
      await close();
    },
    60_000,
  );

  test("a chart shows the figures of the API to those who point at it", async () => {
    const histories = [
      ["/channels/sevenminutesoup", `${CHANNEL}/history?from=2026-10-21`, "subscribers"],
      ["/users/slowcompiler", `${USER}/history?from=2026-10-21`, "followers_count"],
      [withIds(PAGES.short[0]), `${CHANNEL}/short/${short}/history?interval=hour`, "views"],
      [withIds(PAGES.tweet[0]), `${USER}/tweet/${tweet}/history?interval=hour`, "likes"],
    ] as const;
    const { page, close } = await dashboard.visit("/");
    for (const [path, apiPath, count] of histories) {
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

  test("/channels shows gains and trends of 30 days in a table, for one credit", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(100);
    const { page, close } = await dashboard.visit("/channels", key);
    // One channel hides its subscribers.
    expect(await page.locator(".sparkline").count()).toBe(7);
    const row = page.locator("tbody tr", { hasText: "sevenminutesoup" });
    expect(await row.locator("td").allInnerTexts()).toEqual([
      "Seven Minute Soup\nsevenminutesoup",
      "250 K",
      "+1.96 K",
      "+0.79 %",
      "+2.44 K",
      "+0.99 %",
      "",
      "151 M",
      "20 Nov 2026, 11:23",
    ]);
    expect(await dashboard.service.readSums(account)).toMatchObject({ balance: 99 });
    expect(await page.textContent(".credits")).toContain("99 credits left · this page cost 1");
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
    const others = new URL(page.url()).searchParams.get("names");
    expect(others).toMatch(/^kilnandclay,nobody,CH\w+$/);
    expect(await page.locator(".u-legend .u-label").count()).toBe(3);
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
    type Subscribers = Record<"subscribers", number>;
    const { history } = await dashboard.read<{ history: HistoryItem<Subscribers>[] }>(
      `${CHANNEL}/history?from=2026-11-13&interval=hour`,
    );
    await page.getByText("Table of Subscribers", { exact: true }).click();
    const cells = page.locator(".charts td:nth-child(2) data");
    const figures = history.map(({ subscribers }) => String(subscribers));
    await cells.first().waitFor();
    const values = await cells.evaluateAll((all) => all.map((cell) => cell.getAttribute("value")));
    expect(values).toEqual(figures);
    const saved = await download(
      page.getByRole("button", { name: "CSV of Subscribers", exact: true }),
    );
    const rows = history.map(
      ({ timestamp, subscribers, change }) =>
        `${timestamp},${subscribers},${change.subscribers ?? ""}\r\n`,
    );
    expect(await Bun.file(await saved.path()).text()).toBe(
      `timestamp,Subscribers,Change of subscribers\r\n${rows.join("")}`,
    );
    await close();
  }, 60_000);
});
