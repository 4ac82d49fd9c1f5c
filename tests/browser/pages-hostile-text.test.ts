/** Texts from outside that try to be more than text, in the pages for people. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { DAY_MS } from "../../core/time.ts";
import { readCsvRows } from "../support/csv-rows.ts";
import { download, hasBrowser } from "../support/processes/browser.ts";
import {
  findBarriers,
  measureOverflow,
  pointAt,
  setWidth,
  startDashboard,
  takePicture,
  waitForPage,
  type Dashboard,
} from "../support/processes/dashboard.ts";
import { NOW } from "../support/service.ts";

const SCRIPT = `<script>window.hacked = 1</script>`;
const IMAGE = `"><img src=x onerror="window.hacked = 1">`;
/** Turns the direction of all that follows, and does not end that. */
const OVERRIDE = "\u202Egnp.exe \u2067";
const FORMULA = `=HYPERLINK("http://other.example","x")`;
const LONG = "w".repeat(5000);
const EMOJI = "👩‍👩‍👧‍👦🏳️‍🌈".repeat(12);
const CONTROLS = "\u0007\u001B[31m\u009F";
const TEXTS = [SCRIPT, IMAGE, OVERRIDE, FORMULA, LONG, EMOJI, CONTROLS] as const;

/** The service finds names of up to 256 characters, none of which is a control or a comma. */
const NAMES = [
  SCRIPT,
  `${IMAGE}'`,
  OVERRIDE,
  `=1+"2"`,
  LONG.slice(0, 256),
  EMOJI,
  "plain",
] as const;

describe.skipIf(!hasBrowser())("the pages", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    const at = (daysAgo: number) => new Date(NOW - daysAgo * DAY_MS).toISOString();
    await dashboard.service.observe(
      ...TEXTS.flatMap((text, nth) =>
        [2, 1, 0].flatMap((day) => {
          const observed = { observedAt: at(day), description: text };
          const [id, username] = [`id ${nth}`, NAMES[nth]];
          const names = { username, displayName: text };
          const created_at = at(3);
          return [
            { kind: "channel", ...observed, ...names, id, country: text, subscribers: 9 - day },
            {
              kind: "short",
              ...observed,
              id: `short ${nth}`,
              channel: id,
              title: text,
              publishedAt: at(3),
              views: 100 - day,
            },
            { kind: "user", ...observed, ...names, followers_count: 50 - day },
            { kind: "tweet", observedAt: at(day), id: `tweet ${nth}`, username, text, created_at },
          ];
        }),
      ),
    );
  }, 60_000);
  afterAll(() => dashboard.close());

  /** Checks that nothing of a page runs, and that nothing is wider than the window. */
  async function checkPage(page: Page, name: string): Promise<void> {
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator("main img, main script").count()).toBe(0);
    for (const width of [1440, 360]) {
      await setWidth(page, width);
      expect([name, width, await measureOverflow(page)]).toEqual([name, width, 0]);
      await takePicture(page, `hostile-${name}-${width}`);
    }
  }

  async function readTexts(page: Page, selector: string): Promise<string[]> {
    return (await page.locator(selector).allTextContents()).toSorted();
  }

  test("show markup, reversed, long and odd texts as text", async () => {
    const { page, faults, close } = await dashboard.visit("/channels");
    const open = async (path: string) => {
      await page.goto(dashboard.service.address + path);
      await waitForPage(page);
    };
    expect(await readTexts(page, "td a .text")).toEqual(TEXTS.toSorted());
    const others = NAMES.filter((name, nth) => name !== TEXTS[nth]);
    expect(await readTexts(page, "td small .text")).toEqual(others.toSorted());
    await checkPage(page, "channels");
    expect(await findBarriers(page)).toEqual([]);
    await open("/users");
    expect(await readTexts(page, "td a .text")).toEqual(TEXTS.toSorted());
    await checkPage(page, "users");
    for (const [nth, text] of TEXTS.entries()) {
      await open(`/channels/id ${nth}`);
      expect(await page.textContent("h1")).toBe(text);
      // A browser replaces controls in titles.
      expect(await page.title()).toContain(text === CONTROLS ? "[31m" : text);
      expect(await readTexts(page, "td a .text")).toEqual([text]);
      await checkPage(page, `channel-${nth}`);
    }
    // The pages of users and tweets are made of the same parts.
    for (const [nth, text] of [SCRIPT, IMAGE, OVERRIDE].entries()) {
      await open(`/users/${encodeURIComponent(NAMES[nth] ?? "")}`);
      expect(await page.textContent("h1")).toBe(text);
      expect(await readTexts(page, "td a .text")).toEqual([text]);
      await checkPage(page, `user-${nth}`);
      await page.locator("td a").click();
      await waitForPage(page);
      expect(await page.textContent(".description")).toBe(text);
    }
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("/compare and its CSV keep hostile names as they are", async () => {
    const query = new URLSearchParams({ kind: "users", names: NAMES.join(",") });
    const { page, faults, close } = await dashboard.visit(`/compare?${query}`);
    expect(await page.locator(".u-legend .u-label").allTextContents()).toEqual(["Time", ...NAMES]);
    const { values } = await pointAt(page, { fraction: 1 });
    expect(values).toEqual(NAMES.map(() => "50"));
    await page.getByText("Table of Followers").click();
    await checkPage(page, "compare");
    const saved = await download(page.getByRole("button", { name: "CSV of Followers" }));
    const csv = await Bun.file(await saved.path()).text();
    const [header, ...rows] = readCsvRows(csv);
    expect(header).toEqual(["timestamp", ...NAMES]);
    expect(rows.map(([, ...cells]) => cells)).toEqual(
      [48, 49, 50].map((count) => NAMES.map(() => String(count))),
    );
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("/creators and /account show what a platform and an operator wrote as text", async () => {
    const { service } = dashboard;
    await service.admin("POST", "accounts", { name: IMAGE, credits: 5 });
    const created = await service.admin("POST", "keys", { account: IMAGE, label: OVERRIDE });
    const key = String(Reflect.get(Object(created), "key"));
    await service.get("/api/video/channels", key);
    const { page, faults, close } = await dashboard.visit("/account", key);
    expect(await readTexts(page, "dd .text")).toEqual([IMAGE]);
    expect(await readTexts(page, "td .text")).toContain(OVERRIDE);
    await checkPage(page, "account");
    await page.getByRole("link", { name: "Monitoring list" }).click();
    for (const name of ["nasa", "m".repeat(64)]) {
      await page.getByLabel("Username or address").fill(name);
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByRole("link", { name, exact: true }).waitFor();
    }
    await checkPage(page, "creators-added");
    // A real platform would have to write this.
    await page.route("**/api/creators", async (route) => {
      if (route.request().method() !== "GET") return route.fallback();
      const response = await route.fetch();
      const list: { creators: object[] } = await response.json();
      const creators = list.creators.map((creator, nth) => ({
        ...creator,
        failure: [`${SCRIPT}${OVERRIDE}`, LONG][nth],
      }));
      return route.fulfill({ response, json: { ...list, creators } });
    });
    await page.reload();
    await waitForPage(page);
    expect(await readTexts(page, "td:nth-child(2) .text")).toEqual(
      [`${SCRIPT}${OVERRIDE}`, LONG].toSorted(),
    );
    await checkPage(page, "creators");
    await page.getByLabel("Username or address").fill(SCRIPT);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("creator must be a username").waitFor();
    await checkPage(page, "creators-refused");
    // The last request is refused.
    expect(faults.filter((fault) => !fault.includes("400"))).toEqual([]);
    await close();
  }, 60_000);
});
