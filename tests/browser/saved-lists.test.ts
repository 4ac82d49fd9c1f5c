/** Saved lists on the pages: from check boxes and by name, their names, and what they cost. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readCsvRows } from "../support/csv-rows.ts";
import { download, hasBrowser } from "../support/processes/browser.ts";
import {
  findBarriers,
  setColourScheme,
  setWidth,
  startDashboard,
  takePicture,
  waitForFrame,
  waitForPage,
  type Dashboard,
} from "../support/processes/dashboard.ts";
import { choose, enter } from "../support/processes/keyboard.ts";
import { findLookFaults } from "../support/processes/look.ts";
import { NOW } from "../support/service.ts";

const HOSTILE = `<img src=x onerror="window.hacked = 1"> \u202E/a?b#c%2F,`;

/** A page first adds to a list of the name, so that it replaces none; there may be no such list. */
const IS_NEW = /404/;

describe.skipIf(!hasBrowser())("saved lists", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    const observedAt = new Date(NOW).toISOString();
    await dashboard.service.observe(
      ...["soup", "clay", "trains"].map((username, nth) => ({
        kind: "channel",
        observedAt,
        id: `UC${nth}`,
        username,
        subscribers: 500 - nth,
        country: "PT",
      })),
      { kind: "user", observedAt, username: "nasa", followers_count: 5 },
    );
  }, 60_000);
  afterAll(() => dashboard.close());

  const readLists = async (key: string) =>
    (await dashboard.service.get("/api/lists", key)).json() as Promise<{ lists: object[] }>;

  test("are made of checked rows, and their table is exported, for 2 credits in all", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(100);
    const { page, faults, close } = await dashboard.visit("/channels", key);
    await page.getByLabel("Check soup").check();
    await page.getByLabel("Check trains").check();
    await page.getByText("2 channels checked").waitFor();
    expect(await page.getByRole("link", { name: "Compare (2 credits)" }).getAttribute("href")).toBe(
      "/compare?kind=channels&names=UC0%2CUC2",
    );
    await page.getByLabel("Name of a list").fill("Rivals");
    await page.getByRole("button", { name: "Add to the list" }).click();
    await page.getByText("Added to the list Rivals").waitFor();
    expect(await page.locator("input:checked").count()).toBe(0);
    // One more is added to the list that there is, whatever the case of its name.
    await page.getByLabel("Check clay").check();
    await page.getByLabel("Name of a list").fill("rivals");
    await page.getByLabel("Name of a list").press("Enter");
    await page.getByText("Added to the list Rivals").waitFor();
    expect((await readLists(key)).lists).toMatchObject([{ name: "Rivals", total_channels: 3 }]);

    await page.getByRole("link", { name: "Rivals" }).click();
    await page.getByRole("button", { name: "Remove UC1" }).click();
    await page.getByText("2 channels").waitFor();
    await page.getByRole("link", { name: "Table of channels (1 credit)" }).click();
    await waitForPage(page);
    expect(new URL(page.url()).search).toBe("?list=Rivals");
    expect(await page.locator("td a").allTextContents()).toEqual(["soup", "trains"]);
    const table = await download(page.getByRole("button", { name: "CSV of 2 channels" }));
    const [header = [], ...rows] = readCsvRows(await Bun.file(await table.path()).text());
    expect(header.slice(0, 7)).toEqual([
      "id",
      "username",
      "displayName",
      "country",
      "thumbnail",
      "subscribers",
      "viewCount",
    ]);
    expect(rows.map((row) => [row[0], row[1], row[3], row[5], row.at(-1)])).toEqual([
      ["UC0", "soup", "PT", "500", "2026-11-20:500"],
      ["UC2", "trains", "PT", "498", "2026-11-20:498"],
    ]);
    expect(await dashboard.service.readSums(account)).toMatchObject({ balance: 98 });
    expect(faults.filter((fault) => !IS_NEW.test(fault))).toEqual([]);
    await close();
  }, 60_000);

  test("are created, filled, renamed and deleted by keyboard, for free", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(100);
    const { page, faults, close } = await dashboard.visit("/lists", key);
    await page.getByText("No list yet").waitFor();
    await enter(page, "Name of a list", "Mine");
    await page.getByRole("heading", { name: "Mine" }).waitFor();
    await enter(page, "Names of users", "@nasa, esa");
    await page.getByText("2 users").waitFor();
    await choose(page, "Remove esa");
    await page.getByText("1 user").waitFor();
    await page.getByLabel("New name").fill("Ours");
    await page.getByLabel("New name").press("Enter");
    await page.getByRole("heading", { name: "Ours" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/lists/Ours");
    expect((await readLists(key)).lists).toMatchObject([{ name: "Ours", total_users: 1 }]);
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("button", { name: "Delete the list" }).click();
    await page.getByText("No list yet").waitFor();
    expect(await dashboard.service.readSums(account)).toMatchObject({ balance: 100 });
    expect(faults.filter((fault) => !IS_NEW.test(fault))).toEqual([]);
    await close();
  }, 60_000);

  test("have any names, as text, and one look at any width", async () => {
    const { key } = await dashboard.service.createAccountWithKey(100);
    const { page, faults, close } = await dashboard.visit("/lists", key);
    await page.getByLabel("Name of a list").fill(HOSTILE);
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByLabel("Names of channels").fill(`soup, ${"w".repeat(200)}`);
    await page.getByRole("button", { name: "Add" }).first().click();
    await page.getByText("2 channels").waitFor();
    const users = Array.from({ length: 25 }, (_, nth) => `\u202Egnp ${nth}`);
    await page.getByLabel("Names of users").fill(users.join());
    await page.getByRole("button", { name: "Add" }).last().click();
    await page.getByText("25 users").waitFor();
    expect(await page.textContent("h1")).toBe(HOSTILE);
    for (const path of [page.url(), "/lists", `/?${new URLSearchParams({ list: HOSTILE })}`]) {
      await page.goto(new URL(path, dashboard.service.address).href);
      await waitForPage(page);
      for (const colorScheme of ["light", "dark"] as const) {
        await setColourScheme(page, colorScheme);
        for (const width of [320, 390, 768, 1440]) {
          await setWidth(page, width);
          await waitForFrame(page);
          expect([path, width, await findLookFaults(page)]).toEqual([path, width, []]);
          await takePicture(page, `lists-${width}-${colorScheme}`);
        }
        expect(await findBarriers(page)).toEqual([]);
      }
    }
    // Home, the last one, says who is not collected.
    const missing = page.getByText("Not on the monitoring list: ");
    expect(await missing.locator("bdi").allTextContents()).toEqual(users.slice(0, 20));
    expect(await missing.innerText()).toContain(" and 5 more. Add them");
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(faults.filter((fault) => !IS_NEW.test(fault))).toEqual([]);
    await close();
  }, 60_000);

  test("are no part of what a key without the scope, or with another account, sees", async () => {
    const { key } = await dashboard.service.createAccountWithKey(100);
    const { page, close } = await dashboard.visit("/lists/Rivals", key);
    await page.getByText("Not found").first().waitFor();
    await page.goto(`${dashboard.service.address}/channels`);
    await waitForPage(page);
    expect(await page.getByLabel("List", { exact: true }).count()).toBe(0);
    await close();
  }, 60_000);
});
