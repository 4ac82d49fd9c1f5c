/** Home: what happened in the week, for all creators or for a saved list, and what it costs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { hasBrowser } from "../support/processes/browser.ts";
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
import { choose } from "../support/processes/keyboard.ts";
import { findLookFaults } from "../support/processes/look.ts";
import { NOW } from "../support/service.ts";

/** A channel with its subscribers 30 days ago, a week ago and now. */
function observeChannel(id: string, ...counts: readonly [number, number, number]) {
  return [30, 7, 0].map((day, index) => ({
    kind: "channel",
    observedAt: formatInstant(NOW - day * DAY_MS),
    id,
    username: id,
    subscribers: counts[index],
  }));
}

/** The second short of a day has 30 times the views that the others had at its age. */
const SHORTS = Array.from({ length: 9 }, (_, nth) => {
  const publishedAt = NOW - (nth + 1) * 12 * 3_600_000;
  return [6, 12].map((hours) => ({
    kind: "short",
    observedAt: formatInstant(publishedAt + hours * 3_600_000),
    publishedAt: formatInstant(publishedAt),
    channel: "wins",
    id: `short ${nth}`,
    title: `Short ${nth}`,
    views: hours * (nth === 1 ? 3007 : 101),
  }));
}).flat();

describe.skipIf(!hasBrowser())("home", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    await dashboard.service.observe(
      // The greatest gain, which is small in percent; 2,000,000 is passed.
      ...observeChannel("wins", 1_984_321, 1_997_654, 2_003_211),
      // The greatest gain in percent; 8,000 is near: 4,005 in 30 days, and 895 are left.
      ...observeChannel("rises", 3_100, 5_002, 7_105),
      // Too small to be compared in percent.
      ...observeChannel("tiny", 11, 12, 97),
      ...observeChannel("falls", 9_871, 9_803, 9_002),
      // One step of a source that rounds: no gain.
      ...observeChannel("rounded", 1_510_000, 1_510_000, 1_520_000),
      ...SHORTS,
      { kind: "user", observedAt: formatInstant(NOW), username: "nasa", followers_count: 5 },
    );
    await dashboard.service.refreshFigures();
  }, 60_000);
  afterAll(() => dashboard.close());

  const readTable = async (page: Page, caption: string | RegExp) =>
    (await page.getByRole("region", { name: caption }).locator("tbody tr").allInnerTexts()).map(
      (text) => text.split(/\s*[\t\n]\s*/).filter((part) => part !== ""),
    );

  test("answers what happened: movers, breakouts, milestones and what is collected", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(100);
    const { page, faults, close } = await dashboard.visit("/", key);
    expect(await page.title()).toBe("This week · Creator metrics");
    expect(await readTable(page, "By subscribers gained")).toEqual([
      ["wins", "2 M", "+5.56 K", "+0.28 %"],
      ["rises", "7.11 K", "+2.1 K", "+42 %"],
      ["tiny", "97", "+85", "+708 %"],
    ]);
    expect(await readTable(page, "In %, of at least 1,000 subscribers")).toEqual([
      ["rises", "7.11 K", "+2.1 K", "+42 %"],
      ["wins", "2 M", "+5.56 K", "+0.28 %"],
    ]);
    expect(await readTable(page, /^Shorts with most views/)).toEqual([
      ["Short 1", "wins", "24 h", "36.1 K", "30 ×"],
    ]);
    expect(await readTable(page, "Passed in this week.")).toEqual([
      ["wins", "2 M subscribers", "2 M"],
      ["rises", "7 K subscribers", "7.11 K"],
    ]);
    expect(await readTable(page, /^Near: an estimate/)).toEqual([
      ["tiny", "100 subscribers", "1 day"],
      ["rises", "8 K subscribers", "7 days"],
    ]);
    await page.getByText("No user gained followers in this week.").first().waitFor();
    await page.getByRole("link", { name: "Add some to the monitoring list" }).waitFor();
    // All channels and all users are in a page each, so none is read twice.
    expect(await page.textContent(".credits")).toContain("96 credits left · this page cost 4");
    expect(await dashboard.service.readSums(account)).toMatchObject({ balance: 96 });
    await page.getByRole("link", { name: "Short 1" }).click();
    await waitForPage(page);
    await page.goBack();
    await page.getByText("this page cost 0").waitFor();
    await page.getByRole("link", { name: "Losses first" }).first().click();
    await waitForPage(page);
    expect(await page.locator("tbody tr").first().innerText()).toContain("falls");
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("is of a saved list, which the address keeps, and says whom of it nobody collects", async () => {
    const { service } = dashboard;
    const { key } = await service.createAccountWithKey(100);
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const body = JSON.stringify({ channels: ["tiny", "falls"], users: ["nasa", "esa"] });
    await service.send("/api/lists/Rivals", { method: "PUT", headers, body });
    await service.send("/api/creators", {
      method: "PATCH",
      headers,
      body: JSON.stringify({ creator: "NASA", platform: "microblog" }),
    });
    const { page, close } = await dashboard.visit("/", key);
    await page.getByLabel("List").selectOption("Rivals");
    await waitForPage(page);
    expect(new URL(page.url()).search).toBe("?list=Rivals");
    // No floor: the visitor has chosen them.
    expect(await readTable(page, "In %")).toEqual([["tiny", "97", "+85", "+708 %"]]);
    await page.getByText("Failing: 1 of 1 creator.").waitFor();
    expect((await readTable(page, "Not collected, and why"))[0]?.slice(0, 3)).toEqual([
      "NASA",
      "failing",
      "Bluesky has no profile NASA: handles there are domain names",
    ]);
    await page.getByText("Not on the monitoring list: esa.").waitFor();
    await page.reload();
    await waitForPage(page);
    expect(await page.getByLabel("List").inputValue()).toBe("Rivals");
    expect(await page.textContent(".credits")).toContain("this page cost 4");
    await close();
  }, 60_000);

  test("has one look at any width, in light and dark, and no barrier", async () => {
    const { page, close } = await dashboard.visit("/");
    for (const colorScheme of ["light", "dark"] as const) {
      await setColourScheme(page, colorScheme);
      for (const width of [320, 390, 768, 1440]) {
        await setWidth(page, width);
        await waitForFrame(page);
        expect([width, await findLookFaults(page)]).toEqual([width, []]);
        await takePicture(page, `home-${width}-${colorScheme}`);
      }
      expect(await findBarriers(page)).toEqual([]);
    }
    await close();
  }, 60_000);

  test("leads to a mover by keyboard", async () => {
    const { page, close } = await dashboard.visit("/");
    await choose(page, "rises");
    expect(await page.textContent("h1")).toBe("rises");
    await close();
  }, 60_000);

  test("costs at most 5 credits where there are more creators than a page has", async () => {
    const { service } = dashboard;
    await service.observe(
      ...Array.from({ length: 101 }, (_, nth) =>
        observeChannel(`more ${nth}`, 1001, 1501, 1502),
      ).flat(),
    );
    await service.refreshFigures();
    const cost = async (credits: number) => {
      const { key, account } = await service.createAccountWithKey(100);
      const { page, close } = await dashboard.visit("/", key);
      expect(await service.readSums(account)).toMatchObject({ balance: 100 - credits });
      return { page, close, account };
    };
    const first = await cost(5);
    expect((await readTable(first.page, /^In %/))[0]?.[0]).toBe("rises");
    await first.page.getByText("Passed in this week. Of those that gained most alone.").waitFor();
    await first.close();
    // A failure of the rows by percent leaves the others, and is tried again for a credit.
    const second = await dashboard.visit("/account", (await service.createAccountWithKey(100)).key);
    const isPercent = /sort=\w*Percent/;
    await second.page.route(isPercent, (route) =>
      route.fulfill({ status: 400, contentType: "application/json", body: "{}" }),
    );
    await second.page.goto(service.address);
    await second.page.getByRole("alert").waitFor();
    await waitForPage(second.page);
    expect((await readTable(second.page, "By subscribers gained"))[0]?.[0]).toBe("wins");
    await second.page.getByText("this page cost 4").waitFor();
    await second.page.unroute(isPercent);
    await second.page.getByRole("button", { name: "Try again" }).click();
    await waitForPage(second.page);
    expect((await readTable(second.page, /^In %/))[0]?.[0]).toBe("rises");
    await second.page.getByText("this page cost 5").waitFor();
    await second.close();
    await service.observe(
      ...Array.from({ length: 101 }, (_, nth) => ({
        kind: "user",
        observedAt: formatInstant(NOW),
        username: `user${nth}`,
        followers_count: 5,
      })),
    );
    await service.refreshFigures();
    const { page, close, account } = await cost(5);
    await page.getByRole("button", { name: "Show tweets, too (1 credit)" }).click();
    await page.getByText("No tweet of 7 days has more views").waitFor();
    expect(await service.readSums(account)).toMatchObject({ balance: 94 });
    await close();
  }, 60_000);
});
