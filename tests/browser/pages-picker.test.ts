/** The field that finds channels and users to compare: what it offers, its keys, and its price. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { DAY_MS, formatInstant } from "../../core/time.ts";
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

const HOSTILE = `"><img src=x onerror="window.hacked = 1">, \u202Egnp.exe`;

/** The names of channels, by their identifiers. One identifier has the comma that separates them. */
const NAMES: Readonly<Record<string, string>> = {
  UC1: "Soup of the day",
  UC2: "Soup, salad and bread",
  UC3: HOSTILE,
  "UC4,5": "Soup, without a usable name",
};

const FIELD = "Find channels to compare";

describe.skipIf(!hasBrowser())("the picker of /compare", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    await dashboard.service.observe(
      ...Object.entries(NAMES).flatMap(([id, displayName], nth) =>
        [0, 1, 2].flatMap((day) => {
          const observedAt = formatInstant(NOW - day * DAY_MS);
          return [
            {
              kind: "channel",
              observedAt,
              id,
              displayName,
              username: displayName,
              subscribers: 9 - day + nth,
            },
            { kind: "user", observedAt, username: `soup${nth}`, followers_count: 9 - day },
          ];
        }),
      ),
    );
  }, 60_000);
  afterAll(() => dashboard.close());

  const field = (page: Page) => page.getByRole("combobox", { name: FIELD });
  const options = (page: Page) => page.locator("[role=listbox] [role=option]");
  const expectCost = (page: Page, cost: number) =>
    page.getByText(new RegExp(`this page cost ${cost}\\b`)).waitFor();

  test("suggests what the tab has seen, for free, and what a search finds, for a credit", async () => {
    const { page, close } = await dashboard.visit("/compare");
    await field(page).fill("soup");
    expect(await options(page).allInnerTexts()).toEqual([
      "Search all channels for “soup” (1 credit)",
    ]);
    await expectCost(page, 0);
    await options(page).click();
    await page.getByRole("option", { name: "Soup of the day" }).waitFor();
    await expectCost(page, 1);
    expect(await options(page).count()).toBe(3);
    // An identifier with a comma could not be told from two.
    const unusable = page.getByRole("option", { name: "without a usable name" });
    expect(await unusable.getAttribute("aria-disabled")).toBe("true");
    await page.getByRole("option", { name: "Soup of the day" }).click();
    await page.getByRole("option", { name: "salad" }).click();
    expect(await options(page).nth(0).getAttribute("aria-selected")).toBe("true");
    await page.getByRole("button", { name: "Compare (2 credits)" }).click();
    await waitForPage(page);
    await expectCost(page, 3);
    expect(new URL(page.url()).searchParams.get("names")?.split(",").toSorted()).toEqual([
      "UC1",
      "UC2",
    ]);
    expect(await page.locator(".scroll tbody tr").count()).toBe(2);
    // Those that a list showed are suggested in this tab.
    await page.getByRole("link", { name: "Channels" }).click();
    await waitForPage(page);
    const compare = page.getByRole("link", { name: /^Compare \(/ });
    await page.getByLabel("Check Soup, without a usable name").check();
    await page.getByText("1 channel checked").waitFor();
    expect(await compare.count()).toBe(0);
    await page.getByLabel("Check Soup of the day").check();
    expect(await compare.innerText()).toBe("Compare (1 credit)");
    expect(await compare.getAttribute("href")).toBe("/compare?kind=channels&names=UC1");
    await page.getByRole("link", { name: "Compare", exact: true }).click();
    await field(page).fill("gnp");
    expect(await options(page).first().innerText()).toContain("gnp.exe");
    await close();
  }, 60_000);

  test("has the names of the newest address, also if it changed before the page followed it", async () => {
    const { page, close } = await dashboard.visit("/account");
    await page.evaluate(`(async () => {
      const open = (href) => {
        history.pushState(null, "", href);
        dispatchEvent(new PopStateEvent("popstate"));
      };
      // The page is rendered in a microtask, and follows addresses from the next frame on.
      open("/compare?names=UC1");
      for (let task = 0; task < 200 && !document.querySelector(".picker"); task++) {
        await new Promise((done) => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = done;
          port2.postMessage(0);
        });
      }
      open("/compare?names=UC2,UC3");
    })()`);
    await page.getByRole("list", { name: "Chosen channels" }).getByText("UC3").waitFor();
    await close();
  }, 60_000);

  test("is used with nothing but the keyboard", async () => {
    const { page, close } = await dashboard.visit("/compare");
    await tabTo(page, FIELD);
    await page.keyboard.type("soup");
    await page.keyboard.press("Enter");
    await page.getByRole("option", { name: "Soup of the day" }).waitFor();
    const active = () =>
      page.evaluate<string>(`document.getElementById(
        document.activeElement.getAttribute("aria-activedescendant"))?.innerText ?? ""`);
    expect(await active()).toContain("Soup of the day");
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowUp");
    expect(await active()).toContain("Soup, without a usable name");
    // It cannot be chosen.
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowUp");
    expect(await active()).toContain("Soup, salad");
    await page.keyboard.press("Enter");
    const chosen = () => page.locator(".picker > ul li").allInnerTexts();
    expect((await chosen()).length).toBe(2);
    await page.keyboard.press("Escape");
    expect(await field(page).getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("Escape");
    expect(await field(page).inputValue()).toBe("");
    await page.keyboard.press("Backspace");
    expect((await chosen()).length).toBe(1);
    await tabTo(page, "Compare (1 credit)");
    await page.keyboard.press("Enter");
    await waitForPage(page);
    expect(new URL(page.url()).searchParams.get("names")).toBe("UC1");
    await close();
  }, 60_000);

  test("takes the names of a saved list, whose reading is free", async () => {
    const { key } = await dashboard.service.createAccountWithKey(100);
    await fetch(`${dashboard.service.address}/api/lists/Soups`, {
      method: "PUT",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ channels: ["UC2", "UC3"], users: ["soup1"] }),
    });
    const { page, close } = await dashboard.visit("/compare", key);
    await page.getByLabel("Saved list").selectOption("Soups");
    await page.getByRole("button", { name: "Compare (2 credits)" }).click();
    await waitForPage(page);
    await expectCost(page, 2);
    expect(await page.locator(".scroll tbody").innerText()).toContain("gnp.exe");
    await page.locator("select[name=kind]").selectOption("users");
    await page.getByLabel("Saved list").selectOption("Soups");
    await page.getByRole("button", { name: "Compare (1 credit)" }).click();
    await page.getByRole("link", { name: "soup1" }).waitFor();
    await close();
  }, 60_000);

  test("has no barrier, runs no text, and fits a phone, in light and dark", async () => {
    const { page, close } = await dashboard.visit("/channels");
    await page.getByRole("link", { name: "Compare" }).click();
    await field(page).click();
    for (const id of ["UC1", "UC2", "UC3"]) {
      await options(page)
        .filter({ hasText: NAMES[id]?.slice(0, 12) ?? "" })
        .first()
        .click();
    }
    for (const scheme of ["light", "dark"] as const) {
      await setColourScheme(page, scheme);
      for (const width of [390, 768, 1440]) {
        await setWidth(page, width);
        expect([width, await measureOverflow(page)]).toEqual([width, 0]);
        await takePicture(page, `picker-${width}-${scheme}`);
      }
      expect(await findBarriers(page)).toEqual([]);
    }
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator(".picker > ul li").count()).toBe(3);
    await close();
  }, 60_000);
});
