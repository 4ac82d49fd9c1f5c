/** The look of every page for people: its grid, its type, its tables, and a phone's first screen. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { fillService, startAdminPage, type AdminPage } from "../support/processes/admin-page.ts";
import { hasBrowser } from "../support/processes/browser.ts";
import {
  findBarriers,
  setColourScheme,
  setWidth,
  startDashboard,
  waitForFrame,
  waitForPage,
  type Dashboard,
} from "../support/processes/dashboard.ts";
import { findLookFaults, TYPE_SCALE_PX } from "../support/processes/look.ts";

const WIDTHS = [320, 390, 768, 1024, 1440, 1920] as const;
const PHONE = { width: 390, height: 844 };

async function expectNoFaults(page: Page, name: string): Promise<void> {
  for (const width of WIDTHS) {
    await setWidth(page, width);
    await waitForFrame(page);
    expect([name, width, await findLookFaults(page)]).toEqual([name, width, []]);
  }
}

describe.skipIf(!hasBrowser())("the look of the pages", () => {
  let dashboard: Dashboard;
  let paths: string[];
  beforeAll(async () => {
    dashboard = await startDashboard();
    const { shorts } = await dashboard.read<{ shorts: { id: string }[] }>(
      "/api/video/sevenminutesoup/shorts",
    );
    const { tweets } = await dashboard.read<{ tweets: object }>(
      "/api/microblog/slowcompiler/tweets",
    );
    paths = [
      "/",
      "/channels",
      "/channels?search=nobody%20at%20all",
      "/channels/sevenminutesoup",
      `/channels/sevenminutesoup/shorts/${shorts[1]?.id}`,
      "/channels/nobody",
      "/users",
      "/users/slowcompiler",
      `/users/slowcompiler/tweets/${Object.keys(tweets)[0]}`,
      "/compare",
      "/compare?names=sevenminutesoup,kilnandclay,nobody",
      "/lists",
      "/creators",
      "/account",
      "/nothing",
    ];
  }, 60_000);
  afterAll(() => dashboard.close());

  test("has one grid, one scale of type, one primary action a page, and no sideways scroll", async () => {
    const { page, close } = await dashboard.visit("/");
    for (const path of paths) {
      await page.goto(dashboard.service.address + path);
      await waitForPage(page);
      await expectNoFaults(page, path);
    }
    await close();
    const visit = await dashboard.visit("/", null);
    await expectNoFaults(visit.page, "without a key");
    await visit.close();
  }, 60_000);

  test("has the scale of type that its style sheet names", async () => {
    const { page, close } = await dashboard.visit("/creators");
    const sizes = await page.evaluate<string[]>(`["small", "body", "medium", "large", "huge"]
      .map((name) => getComputedStyle(document.documentElement).getPropertyValue("--text-" + name))`);
    expect(sizes.map((size) => parseFloat(size) * 16)).toEqual([...TYPE_SCALE_PX]);
    await close();
  }, 60_000);

  test("shows content on the first screen of a phone, and not only controls", async () => {
    const { page, close } = await dashboard.visit("/", undefined, { viewport: PHONE });
    for (const [path, content, heightMin] of [
      ["/channels", "tbody tr", 300],
      ["/users", "tbody tr", 300],
      ["/channels/sevenminutesoup", ".u-over", 100],
      ["/users/slowcompiler", ".u-over", 100],
      ["/compare?names=sevenminutesoup,kilnandclay", ".u-over", 200],
      ["/account", ".u-over", 200],
    ] as const) {
      await page.goto(dashboard.service.address + path);
      await waitForPage(page);
      const box = await page.locator(content).first().boundingBox();
      const shown = PHONE.height - (box?.y ?? Infinity);
      expect([path, shown >= heightMin, shown]).toEqual([path, true, shown]);
    }
    await close();
  }, 60_000);

  test("keeps the head of a table in view, of the page's own and of one that is too wide", async () => {
    const { page, close } = await dashboard.visit("/channels/sevenminutesoup");
    const head = page.locator("section[aria-labelledby=shorts] thead th").first();
    const row = page.locator("section[aria-labelledby=shorts] tbody tr").nth(30);
    await row.evaluate((element) => element.scrollIntoView({ block: "center" }));
    expect((await head.boundingBox())?.y).toBe(0);
    // A phone that shows a long word makes the table wider than the window.
    await setWidth(page, PHONE.width);
    await page.evaluate(`document.querySelector("section[aria-labelledby=shorts] tbody tr:last-child td.numeric:not(.wide)")
      .style.minWidth = "40rem"`);
    await setWidth(page, PHONE.width + 10);
    await waitForFrame(page);
    const region = page.locator("section[aria-labelledby=shorts] .scroll");
    expect(await region.getAttribute("tabindex")).toBe("0");
    await region.evaluate((element) => element.scrollTo(300, 600));
    const [frame, first] = [await region.boundingBox(), await head.boundingBox()];
    expect([first?.x, first?.y]).toEqual([frame?.x, frame?.y]);
    expect(await findLookFaults(page)).toEqual([]);
    await close();
  }, 60_000);

  test("has heads that sort without looking like links, and numbers below each other", async () => {
    const { page, close } = await dashboard.visit("/channels");
    const readStyle = (selector: string, name: string) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelector("${selector}")).getPropertyValue("${name}")`,
      );
    const accent = await readStyle(".brand svg", "color");
    for (const selector of ["[aria-sort] .sort", "th:not([aria-sort]) .sort"]) {
      expect(await readStyle(selector, "text-decoration-line")).toBe("none");
      expect(await readStyle(selector, "color")).not.toBe(accent);
    }
    expect(await readStyle("td.numeric", "text-align")).toBe("right");
    expect(await readStyle("td.numeric", "font-variant-numeric")).toBe("tabular-nums");
    // The label of the sorted column ends where its numbers end.
    const rights = await page.evaluate<number[]>(`["th[aria-sort] .sort", "td.numeric data"]
      .map((selector) => document.querySelector(selector).getBoundingClientRect().right)`);
    expect(rights[0]).toBeCloseTo(rights[1] ?? 0, 0);
    await close();
  }, 60_000);

  test("/compare without names offers a comparison, for the credits that it says", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(10);
    const { page, faults, close } = await dashboard.visit("/compare", key);
    await page.getByRole("button", { name: "Compare the 3 greatest (4 credits)" }).click();
    await page.locator(".u-over").waitFor();
    await waitForPage(page);
    expect(await page.locator("tbody td a").allTextContents()).toEqual([
      "kilnandclay",
      "littlemoonkitchen",
      "rustybearings",
    ]);
    expect(await dashboard.service.readSums(account)).toMatchObject({ balance: 6 });
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("says in a search without a match how to go on", async () => {
    const { page, close } = await dashboard.visit("/channels?search=nobody&country=zz");
    for (const scheme of ["dark", "light"] as const) {
      await setColourScheme(page, scheme);
      expect(await findBarriers(page)).toEqual([]);
    }
    await page.getByRole("button", { name: "Show all channels" }).click();
    await page.getByRole("link", { name: "Kiln & Clay" }).waitFor();
    expect(new URL(page.url()).search).toBe("");
    await close();
  }, 60_000);
});

describe.skipIf(!hasBrowser())("the look of /admin", () => {
  let admin: AdminPage;
  beforeAll(async () => {
    admin = await startAdminPage();
    await fillService(admin);
  }, 60_000);
  afterAll(() => admin.close());

  test("has one grid, one scale of type, one primary action a part, and no sideways scroll", async () => {
    const { page, close } = await admin.visit("accounts");
    for (const part of [
      "accounts",
      "accounts/acme",
      "accounts/nobody",
      "notices",
      "collection",
      "database",
      "live",
      "audit",
    ]) {
      await page.evaluate(`location.hash = "${part}"`);
      await page.waitForLoadState("networkidle");
      await waitForPage(page);
      await expectNoFaults(page, part);
    }
    await close();
    const visit = await admin.visit("accounts", { token: null });
    await expectNoFaults(visit.page, "without a token");
    await visit.close();
  }, 60_000);
});
