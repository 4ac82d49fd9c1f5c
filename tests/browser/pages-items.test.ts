/** The shorts and tweets of a creator in the pages for people, and their curves over each other. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import { hasBrowser } from "../support/processes/browser.ts";
import {
  findBarriers,
  measureOverflow,
  setColourScheme,
  setWidth,
  startDashboard,
  takePicture,
  waitForPage,
  type Dashboard,
} from "../support/processes/dashboard.ts";
import { tabTo } from "../support/processes/keyboard.ts";
import { NOW } from "../support/service.ts";

const BREAKOUT = 2;
const HOSTILE = `<img src=x onerror="window.hacked = 1">, \u202Egnp.exe`;

/** Item `nth` is the newest but `nth`; it was observed every hour of its first day. */
const createLines = (nth: number) =>
  Array.from({ length: 25 }, (_, hour) => {
    const publishedMs = NOW - (nth + 1) * DAY_MS;
    const observedAt = formatInstant(publishedMs + hour * HOUR_MS);
    const views = hour * 100 * (nth === BREAKOUT ? 10 : 1);
    const text = nth === 0 ? HOSTILE : `Soup ${nth}`;
    return [
      {
        kind: "short",
        observedAt,
        id: `s${nth}`,
        channel: "UC1",
        title: text,
        publishedAt: formatInstant(publishedMs),
        views,
        likes: hour,
        comments: 0,
        shares: 0,
      },
      {
        kind: "tweet",
        observedAt,
        id: `${nth + 1}`,
        username: "nasa",
        text,
        created_at: formatInstant(publishedMs),
        impressions: views,
        likes: hour,
      },
    ];
  }).flat();

const ITEMS = 8;

describe.skipIf(!hasBrowser())("the pages of items", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    await dashboard.service.observe(
      ...Array.from({ length: ITEMS }, (_, nth) => createLines(nth)).flat(),
      ...Array.from({ length: 40 }, (_, day) => {
        const observedAt = formatInstant(NOW - day * DAY_MS);
        return [
          {
            kind: "channel",
            observedAt,
            id: "UC1",
            username: "soup",
            subscribers: 9900 - 10 * day,
          },
          { kind: "user", observedAt, username: "nasa", followers_count: 9900 - 10 * day },
        ];
      }).flat(),
    );
  }, 60_000);
  afterAll(() => dashboard.close());

  const rows = (page: Page) => page.locator(".scroll tbody tr");
  const readQuery = (page: Page) => new URL(page.url()).searchParams;
  const expectCost = (page: Page, cost: number) =>
    page.getByText(new RegExp(`this page cost ${cost}\\b`)).waitFor();

  test("have figures, and are sorted by the service for a credit, which the address keeps", async () => {
    const { page, close } = await dashboard.visit("/channels/soup");
    await expectCost(page, 3);
    expect(await page.locator(".scroll thead th").allInnerTexts()).toEqual([
      "Short",
      "Age",
      "Views",
      "Per hour",
      "Per day",
      "Engagement",
      "× median",
      "30 days",
      "Observed",
    ]);
    const cells = await rows(page).nth(BREAKOUT).locator("td").allInnerTexts();
    expect(cells.slice(1).map((cell) => cell.trim())).toEqual([
      "3 d",
      "24 K",
      "1 K",
      "24 K",
      "0.1 %",
      "10 ×",
      "",
      "2 d ago",
    ]);
    await page.getByRole("button", { name: "× median" }).click();
    await expectCost(page, 4);
    await waitForPage(page);
    expect(await rows(page).first().innerText()).toContain("Soup 2");
    expect(readQuery(page).get("sort")).toBe("ageMultiple");
    await page.reload();
    await waitForPage(page);
    expect(await rows(page).first().innerText()).toContain("Soup 2");
    await close();
  }, 60_000);

  test("compare those that are checked by hours since publication, for a credit each", async () => {
    const { page, close } = await dashboard.visit("/channels/soup");
    await page.getByLabel("Compare Soup 2").check();
    await page.getByText("Choose one more to compare").waitFor();
    await page.getByLabel("Compare Soup 5").check();
    await page.reload();
    await waitForPage(page);
    expect(await page.getByLabel("Compare Soup 5").isChecked()).toBe(true);
    await page.getByRole("link", { name: "Compare 2 (2 credits)" }).click();
    await waitForPage(page);
    await expectCost(page, 2);
    expect(readQuery(page).get("ids")).toBe("s2,s5");
    expect(await page.locator("figcaption").innerText()).toBe("Views by hours since publication");
    const compared = await rows(page).allInnerTexts();
    expect(compared.map((row) => row.split(/\s*[\n\t]\s*/).filter((part) => part !== ""))).toEqual([
      ["Soup 2", "soup", "17 Nov 2026", "24 K", "24 K", "✕"],
      ["Soup 5", "soup", "14 Nov 2026", "2.4 K", "2.4 K", "✕"],
    ]);
    await page.getByRole("button", { name: "Table" }).click();
    const hours = await page.locator(".tall tbody tr").allInnerTexts();
    expect(hours.length).toBe(25);
    expect(hours[6]).toBe("6 h\t6,000\t600");
    await page.getByRole("button", { name: "Log" }).click();
    await page.getByLabel("Points").selectOption("6");
    await expectCost(page, 4);
    await waitForPage(page);
    await page.getByLabel("Count").selectOption("likes");
    await expectCost(page, 6);
    await page.getByRole("button", { name: "Dates" }).first().click();
    await expectCost(page, 8);
    await waitForPage(page);
    const query = readQuery(page);
    expect(Object.fromEntries(query)).toEqual({
      kind: "shorts",
      ids: "s2,s5",
      scale: "log",
      step: "6",
      count: "likes",
      by: "date",
    });
    expect(await page.locator("figcaption").innerText()).toStartWith("Likes");
    await page.getByRole("button", { name: "Remove Soup 5" }).click();
    await expectCost(page, 9);
    expect(await page.evaluate<string>("document.activeElement.id")).toBe("main");
    await page.goBack();
    await waitForPage(page);
    expect(await rows(page).count()).toBeGreaterThan(1);
    await expectCost(page, 9);
    // Of more rows than a page has, the last ones are not read.
    await page.route("**/api/**by=age*", async (route) => {
      const response = await route.fetch();
      const body: { pagination: object } = await response.json();
      const pagination = { ...body.pagination, hasMore: true, nextCursor: "x" };
      return route.fulfill({ response, json: { ...body, pagination } });
    });
    await page.getByRole("button", { name: "Hours since publication" }).click();
    await page.getByLabel("Points").selectOption("24");
    await page.getByRole("columnheader", { name: "Last shown" }).waitFor();
    await close();
  }, 60_000);

  test("compare one with the creator's last five, for the credits that they say", async () => {
    const { account, key } = await dashboard.service.createAccountWithKey(100);
    const { page, close } = await dashboard.visit(`/channels/UC1/shorts/s${BREAKOUT}`, key);
    await expectCost(page, 2);
    await page.getByRole("button", { name: "last five (up to 7 credits)" }).click();
    await page.locator("figcaption", { hasText: "Views by hours" }).waitFor();
    await waitForPage(page);
    expect(readQuery(page).get("ids")).toBe("s2,s0,s1,s3,s4,s5");
    expect(await rows(page).count()).toBe(6);
    expect(await dashboard.service.readSums(account)).toMatchObject({ balance: 100 - 2 - 7 });
    await close();
  }, 60_000);

  test("show metrics for a credit: of an item, of a channel, and gains of a user at once", async () => {
    const { page, close } = await dashboard.visit(`/channels/UC1/shorts/s${BREAKOUT}`);
    await page.getByRole("button", { name: "engagement (1 credit)" }).click();
    await page.getByText("× median at its age").waitFor();
    await expectCost(page, 3);
    const figures = (nth: number) => page.locator(".figures").nth(nth).innerText();
    expect(await figures(1)).toContain("10 ×\nof 5 earlier shorts");
    expect(await page.locator("main").innerText()).toContain("last observed 18 Nov 2026, 12:00");
    await page.goto(`${dashboard.service.address}/channels/soup`);
    await waitForPage(page);
    await page.getByRole("button", { name: "projection (1 credit)" }).click();
    await page.getByText("Next milestone").waitFor();
    await expectCost(page, 4);
    expect(await figures(2)).toMatch(/Next milestone\n10 K\nestimate: 29 Nov 2026 – 30 Nov 2026/);
    await page.goto(`${dashboard.service.address}/users/nasa`);
    await waitForPage(page);
    await expectCost(page, 4);
    expect(await figures(0)).toMatch(/Followers in a day\n\+10\nIn a week\n\+70\n/);
    expect(await figures(2)).toMatch(/^Followers in a day, in %\n\+0.1 %\n/);
    await close();
  }, 60_000);

  test("can be chosen and compared with nothing but the keyboard", async () => {
    const { page, close } = await dashboard.visit("/users/nasa");
    for (const name of ["Compare Soup 1", "Compare Soup 2"]) {
      await tabTo(page, name);
      await page.keyboard.press("Space");
    }
    await tabTo(page, "Compare 2 (2 credits)", { isBackward: true });
    await page.keyboard.press("Enter");
    await waitForPage(page);
    expect(readQuery(page).get("ids")).toBe("2,3");
    await tabTo(page, "Remove Soup 1");
    await page.keyboard.press("Enter");
    await waitForPage(page);
    expect(readQuery(page).get("ids")).toBe("3");
    await close();
  }, 60_000);

  test("have no barrier, run no text, and fit a phone, in light and dark", async () => {
    const { page, faults, close } = await dashboard.visit("/channels/soup");
    const [shorts, tweets] = ["s0,s1,s2,nothing", "1,2,3"];
    for (const [name, path] of [
      ["items-chosen", "/channels/soup?chosen=s0,s1"],
      ["items-users", "/users/nasa"],
      ["items-short", "/channels/soup/shorts/s0?metrics=shown"],
      ["items-compare", `/compare?kind=shorts&ids=${shorts}`],
      ["items-compare-tweets", `/compare?kind=tweets&ids=${tweets}&by=date`],
      ["items-compare-none", "/compare?kind=tweets"],
    ] as const) {
      await page.goto(dashboard.service.address + path);
      await waitForPage(page);
      for (const scheme of ["light", "dark"] as const) {
        await setColourScheme(page, scheme);
        for (const width of [390, 768, 1440]) {
          await setWidth(page, width);
          expect([name, width, await measureOverflow(page)]).toEqual([name, width, 0]);
          await takePicture(page, `${name}-${width}-${scheme}`);
        }
        expect([name, await findBarriers(page)]).toEqual([name, []]);
      }
      expect(await page.evaluate("window.hacked")).toBeUndefined();
    }
    expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
    await close();
  }, 60_000);
});
