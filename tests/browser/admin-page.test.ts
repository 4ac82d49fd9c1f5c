/** The administrator's page in Chromium: every part, what it changes, by mouse and by keyboard. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import {
  ADMIN_TOKEN,
  fillService,
  startAdminPage,
  type AdminPage,
} from "../support/processes/admin-page.ts";
import { download, hasBrowser } from "../support/processes/browser.ts";
import {
  countSeriesPixels,
  findBarriers,
  measureOverflow,
  setColourScheme,
  setWidth,
  takePicture,
  waitForPage,
} from "../support/processes/dashboard.ts";
import { choose, enter, FOCUSED, tabTo } from "../support/processes/keyboard.ts";

const WIDTHS = [360, 768, 1440] as const;
const SCHEMES = ["dark", "light"] as const;

/** Each part, its title, and the last text that it shows. */
const PARTS = [
  ["accounts", "Accounts", "Studio 54"],
  ["accounts/acme", "acme", "CSV of these lines"],
  ["notices", "Notices", "given up"],
  ["collection", "Collection", "Bluesky could not be reached"],
  ["database", "Database", "Back up"],
  ["live", "Live", "p95, ms"],
  ["audit", "Audit", "invoice 2026-117"],
] as const;

/** What a visitor loads before any data, compressed. */
const FIRST_LOAD_MAX_BYTES = 100_000;

describe.skipIf(!hasBrowser())("/admin", () => {
  let admin: AdminPage;
  /** One page for all tests, but for those that need one of their own. */
  let visit: Awaited<ReturnType<AdminPage["visit"]>>;
  beforeAll(async () => {
    admin = await startAdminPage();
    await fillService(admin);
    visit = await admin.visit("accounts");
  }, 60_000);
  afterAll(() => admin?.close());

  const readBalance = async (account: string) => (await admin.service.readSums(account)).balance;
  /** Shows what a fragment names. */
  const open = async (fragment: string) => {
    const { page, faults } = visit;
    await page.evaluate(`location.hash = "${fragment}"`);
    return { page, faults };
  };
  const findButton = (page: Page, name: string | RegExp) =>
    page.getByRole("button", { name, exact: true });
  const press = (page: Page, name: string | RegExp) => findButton(page, name).click();
  const waitForText = (page: Page, text: string) => page.getByText(text).first().waitFor();

  test("shows its parts at any width, light and dark, without an error", async () => {
    for (const [fragment, title, text] of PARTS) {
      const { page } = await open(fragment);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      if (fragment === "live") {
        // Each reading sees a request.
        await page.clock.pauseAt((await page.evaluate<number>("Date.now()")) + 5000);
        for (let count = 0; count < 4; count++) {
          await admin.service.get("/api/video/channels");
          const [response] = await Promise.all([
            page.waitForResponse("**/metrics"),
            page.clock.runFor(2000),
          ]);
          await response.finished();
        }
        await page.clock.resume();
      }
      await waitForText(page, text);
      await waitForPage(page);
      expect(await page.title()).toBe(`${title} · Administration`);
      const charts = fragment === "live" ? 2 : fragment === "accounts/acme" ? 1 : 0;
      await setWidth(page, 320);
      expect([fragment, await measureOverflow(page)]).toEqual([fragment, 0]);
      for (const colorScheme of SCHEMES) {
        await setColourScheme(page, colorScheme);
        for (const width of WIDTHS) {
          await setWidth(page, width);
          const view = `admin-${fragment.replace("/", "-")}-${width}-${colorScheme}`;
          expect([view, await measureOverflow(page)]).toEqual([view, 0]);
          const isDrawn = (await countSeriesPixels(page)).map((count) => count > 100);
          expect([view, isDrawn]).toEqual([view, Array(charts).fill(true)]);
          await takePicture(page, view);
        }
        expect([fragment, await findBarriers(page)]).toEqual([fragment, []]);
      }
    }
    expect(visit.faults).toEqual([]);
  }, 60_000);

  test("by keyboard: the token, an account, a grant, a key that is copied and revoked", async () => {
    const { page, faults, close } = await admin.visit("accounts", {
      token: null,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await enter(page, "Token", ADMIN_TOKEN);
    await page.getByRole("heading", { name: "Accounts" }).waitFor();
    await choose(page, "Create account");
    await page.keyboard.type("keyboard shop");
    await enter(page, "Credits to begin with optional", "1,500");
    await page.getByRole("heading", { name: "keyboard shop" }).waitFor();
    await waitForPage(page);
    await choose(page, "Grant credits");
    await page.keyboard.type("250");
    expect(await page.locator("dialog .hint").textContent()).toBe("Balance: 1,500 → 1,750");
    await takePicture(page, "admin-grant");
    await page.keyboard.press("Enter");
    await waitForText(page, "250 credits are granted: keyboard shop has 1,750 credits now.");
    expect(await page.evaluate<string>(FOCUSED)).toBe("Grant credits");
    await choose(page, "Create key");
    await page.keyboard.type("till");
    await page.keyboard.press("Enter");
    await page.locator("code.secret").waitFor();
    await takePicture(page, "admin-new-key");
    await choose(page, "Copy key");
    const key = await page.evaluate<string>("navigator.clipboard.readText()");
    expect((await admin.service.get("/api/video/channels", key)).status).toBe(200);
    await page.getByRole("button", { name: /^Revoke key/ }).waitFor();
    await choose(page, `Revoke key ${key.slice(0, 10)}`);
    expect(await page.evaluate<string>(FOCUSED)).toBe("Cancel");
    await takePicture(page, "admin-revoke");
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    expect((await admin.service.get("/api/video/channels", key)).status).toBe(200);
    await page.keyboard.press("Enter");
    await choose(page, "Revoke key");
    await waitForText(page, "is revoked.");
    expect((await admin.service.get("/api/video/channels", key)).status).toBe(401);
    // The button is gone, but the keyboard goes on where it was.
    await tabTo(page, "Create key");
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("grants once: with two clicks, and when the first response is lost", async () => {
    const { page } = await open("accounts");
    const before = await readBalance("pixelfabrik");
    await press(page, "Grant credits to pixelfabrik");
    await page.getByLabel("Amount").fill("1.000");
    await press(page, "Grant credits");
    await waitForText(page, "Amount must be a whole number such as 1000, got 1.000.");
    await page.getByLabel("Amount").fill("7");
    let requests = 0;
    await page.route("**/admin/grants", async (route) => {
      requests++;
      await route.fetch();
      await route.abort();
    });
    await page.getByRole("button", { name: "Grant credits", exact: true }).dblclick();
    await waitForText(
      page,
      "This may be done or not. Nothing that you entered is lost: try again.",
    );
    expect([requests, await page.getByLabel("Amount").inputValue()]).toEqual([1, "7"]);
    await page.unroute("**/admin/grants");
    await press(page, "Grant credits");
    await waitForText(page, "The credits were granted by the try before");
    expect(await readBalance("pixelfabrik")).toBe(before + 7);
    // The lost response, which the browser reports, too.
    expect(visit.faults.splice(0)).toHaveLength(2);
  }, 60_000);

  test("lists low balances first, and sets and clears when one is low", async () => {
    const { page, faults } = await open("accounts");
    const readFirst = () => page.locator("tbody tr").first().innerText();
    expect(await readFirst()).not.toContain("acme");
    await page.getByLabel("Low balances first (2)").check();
    expect(await readFirst()).toContain("low 997");
    await press(page, "Set: when the balance of pixelfabrik is low");
    await page.getByLabel("Low below").fill("1,000,000");
    await page.keyboard.press("Enter");
    await page.getByLabel("Low balances first (3)").waitFor();
    await press(page, "1,000,000: when the balance of pixelfabrik is low");
    await page.getByLabel("Low below").fill("");
    await page.keyboard.press("Enter");
    await page.getByLabel("Low balances first (2)").waitFor();
    await page.getByLabel("Search").fill("STUDIO");
    expect(await page.locator("tbody tr").count()).toBe(1);
    expect(faults).toEqual([]);
  }, 60_000);

  test("shows an account at its address: usage, its statement, and both as CSV", async () => {
    const { page, faults } = await open("accounts/Nordlicht%20Media?days=365");
    await waitForText(page, "CSV of these lines");
    await page.reload();
    await waitForText(page, "CSV of these lines");
    // The usage is a request of its own, which may be answered after the statement.
    await page.getByRole("cell", { name: "/api/video/channels", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "1 year" }).getAttribute("aria-current")).toBe(
      "true",
    );
    expect(await page.locator("section td").allInnerTexts()).toEqual(
      expect.arrayContaining(["/api/video/channels", "−2", "+1,000", "read"]),
    );
    const saved = await download(findButton(page, "CSV of these lines"));
    const csv = await Bun.file(await saved.path()).text();
    expect(csv.split("\r\n").slice(0, 2)).toEqual([
      "at,kind,amount,balance,requests,endpoint,key,label,reference,reason",
      expect.stringMatching(/^2026-11-15T12:00:00.000Z,debit,\d,997,\d,\/api\/.+,3,reports,,$/),
    ]);
    await press(page, /^Rotate key/);
    await page.getByLabel("The old key ends").selectOption("in a week");
    await press(page, "Rotate key");
    await waitForText(page, "The old key is valid until 27 Nov 2026, 12:00.");
    await waitForText(page, "replaced by number");
    expect(faults).toEqual([]);
  }, 60_000);

  test("sends a notice again, adds and removes creators and backups, verifies, filters", async () => {
    const { page, faults } = await open("notices?state=failed");
    await press(page, /^Send again the notice about/);
    await press(page, "Send again");
    await waitForText(page, "The notice is sent now");
    await open("collection");
    const list = page.getByRole("region", { name: "Monitoring list" }).first();
    await list.getByLabel("Username or address").fill("https://bsky.app/profile/bsky.app");
    await list.getByRole("button", { name: "Add", exact: true }).click();
    await waitForText(page, "bsky.app is added, but is not collected: COLLECT is off");
    await press(page, "Remove bsky.app");
    await press(page, "Remove");
    await waitForText(page, "bsky.app is removed.");
    await page.getByRole("link", { name: "Database" }).click();
    await page.getByLabel("File").fill("mine.db");
    await press(page, "Back up");
    await waitForText(page, "mine.db is written");
    const backup = await download(findButton(page, "Download mine.db"));
    const copy = await Bun.file(await backup.path()).text();
    expect(copy).toStartWith("SQLite format 3");
    await press(page, "Delete mine.db");
    await press(page, "Delete");
    await waitForText(page, "mine.db is deleted.");
    await waitForText(page, "There is no backup in the folder yet.");
    await press(page, "Verify");
    await waitForText(page, "no fault");
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByRole("combobox", { name: "What" }).selectOption("creators remove");
    await waitForText(page, "1 change");
    expect(await page.locator("tbody tr").innerText()).toContain("bsky.app");
    expect(page.url()).toEndWith("#audit?action=creators+remove");
    expect(faults).toEqual([]);
  }, 60_000);

  test("loads less than 100 kB before the data", async () => {
    const { page, close } = await admin.browser.open(admin.service.address);
    let total = 0;
    page.on("response", async (response) => {
      const { responseBodySize, responseHeadersSize } = await response.request().sizes();
      total += responseBodySize + responseHeadersSize;
    });
    await page.goto(`${admin.service.address}/admin`, { waitUntil: "networkidle" });
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThan(FIRST_LOAD_MAX_BYTES);
    await close();
  }, 60_000);
});
