/** The administrator's page when it is empty, when requests fail, and with hostile text. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { INTEGER_MAX } from "../../core/limits.ts";
import { ADMIN_TOKEN, startAdminPage, type AdminPage } from "../support/processes/admin-page.ts";
import { hasBrowser } from "../support/processes/browser.ts";
import { findBarriers, measureOverflow, takePicture } from "../support/processes/dashboard.ts";

const NARROW = { viewport: { width: 360, height: 740 } };

const SCRIPT = `<script>window.hacked = 1</script>`;
const IMAGE = `"><img src=x onerror='window.hacked = 1'>`;
/** Turns the direction of all that follows, and does not end that. */
const OVERRIDE = "a/b?c#d%2F \u202Egnp.exe \u2067";
const EMOJI = "👩‍👩‍👧‍👦🏳️‍🌈".repeat(24).slice(0, 380);
const TEXTS = [SCRIPT, IMAGE, OVERRIDE, EMOJI] as const;

describe.skipIf(!hasBrowser())("/admin", () => {
  let admin: AdminPage;
  beforeAll(async () => {
    admin = await startAdminPage();
  }, 60_000);
  afterAll(() => admin?.close());

  /** Checks a state like a part, and takes a picture of it. */
  async function checkState(page: Page, name: string): Promise<void> {
    expect([name, await findBarriers(page)]).toEqual([name, []]);
    expect([name, await measureOverflow(page)]).toEqual([name, 0]);
    await takePicture(page, `admin-state-${name}`);
  }

  const waitForText = (page: Page, text: string) => page.getByText(text).first().waitFor();

  test("asks for a token, refuses a wrong one, and keeps the right one in the tab only", async () => {
    const { page, faults, close } = await admin.visit("audit", { ...NARROW, token: null });
    await checkState(page, "no-token");
    const field = page.getByLabel("Token");
    for (const wrong of ["a-wrong-token", "no tokén"]) {
      await field.fill(wrong);
      await page.keyboard.press("Enter");
      await waitForText(page, "The service does not know this token.");
      await page.getByRole("button", { name: "Sign in" }).waitFor();
    }
    await checkState(page, "wrong-token");
    // The browser reports each 401 itself.
    const isRefusal = (fault: string) => /401/.test(fault);
    expect([faults.length, faults.every(isRefusal)]).toEqual([4, true]);
    await field.fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Audit" }).waitFor();
    expect(page.url()).toBe(`${admin.service.address}/admin#audit`);
    const kept = `JSON.stringify([document.cookie, localStorage, history.state, document.title])
      + performance.getEntriesByType("resource").map(({ name }) => name)`;
    expect(await page.evaluate<string>(kept)).not.toContain(ADMIN_TOKEN);
    const response = await page.request.get(`${admin.service.address}/admin/audit`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    expect(response.headers()["cache-control"]).toContain("no-store");
    await page.getByRole("button", { name: "Sign out" }).click();
    await field.waitFor();
    expect(await page.evaluate<number>("sessionStorage.length")).toBe(0);
    await close();
  }, 60_000);

  test("asks again when its token is revoked", async () => {
    const created = await admin.service.admin("POST", "tokens", { name: "billing" });
    const token = String(Reflect.get(Object(created), "token"));
    const { page, close } = await admin.visit("audit", { token });
    await page.getByRole("cell", { name: "tokens create" }).waitFor();
    await admin.service.admin("DELETE", "tokens", { token: "billing" });
    await page.getByRole("link", { name: "Database" }).click();
    await waitForText(page, "The service does not accept this token any more.");
    expect(await page.evaluate<number>("sessionStorage.length")).toBe(0);
    await close();
  }, 60_000);

  test("says in each part that there is nothing yet", async () => {
    const { page, faults, close } = await admin.visit("notices", NARROW);
    for (const [fragment, text] of [
      ["notices", "There is no notice."],
      ["notices?account=nobody", "No such notice."],
      ["collection", "There is none yet."],
      ["audit?actor=nobody", "No such change."],
      ["accounts/nobody", "There is no account with this name."],
      ["accounts/account%201", "No request was charged in 30 days."],
      ["live", "The charts begin in a few seconds"],
    ] as const) {
      await page.evaluate(`location.hash = "${fragment}"`);
      await waitForText(page, text);
      await checkState(page, fragment.replace(/\W.*/, ""));
    }
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("recovers by itself when the service is back, and loses nothing", async () => {
    const { fetch: handle } = admin.service.service;
    let isFailing = false;
    const start = (port: number) =>
      Bun.serve({
        port,
        hostname: "127.0.0.1",
        fetch: (request, server) =>
          isFailing ? new Response("proxy error", { status: 503 }) : handle(request, server),
      });
    let server = start(0);
    const port = Number(server.port);
    const baseURL = `http://127.0.0.1:${port}`;
    const { page, close } = await admin.visit("accounts", { ...NARROW, baseURL });
    await page.getByRole("button", { name: "Grant credits to account 1" }).click();
    await page.getByLabel("Amount").fill("12");
    await server.stop(true);
    await page.keyboard.press("Enter");
    await waitForText(page, "Nothing that you entered is lost");
    // A button can be read under the mouse, too.
    await page.getByRole("button", { name: "Grant credits", exact: true }).hover();
    await checkState(page, "grant-failed");
    server = start(port);
    await page.keyboard.press("Enter");
    await waitForText(page, "12 credits are granted: account 1 has 1,000,012 credits now.");
    isFailing = true;
    await page.getByRole("link", { name: "Audit" }).click();
    await waitForText(page, "The service is not available (503).");
    await checkState(page, "service-unavailable");
    await server.stop(true);
    await page.clock.runFor(2000);
    await waitForText(page, "The service does not answer.");
    await checkState(page, "service-gone");
    isFailing = false;
    server = start(port);
    await page.clock.runFor(2000);
    await page.locator(".banner").waitFor({ state: "detached" });
    await waitForText(page, "amount 12");
    await close();
    await server.stop(true);
  }, 60_000);

  test("shows hostile names, labels, references and failures as text", async () => {
    const { service } = admin;
    for (const name of TEXTS) {
      await service.admin("POST", "accounts", { name, credits: 5 });
      await service.admin("POST", "keys", { account: name, label: name });
      const grant = { account: name, amount: 1, reference: name, reason: name };
      await service.admin("POST", "grants", grant);
    }
    const { page, faults, close } = await admin.visit("accounts", NARROW);
    const checkTexts = async (name: string, texts: readonly string[]) => {
      const shown = await page.locator("main .text").allTextContents();
      expect(shown).toEqual(expect.arrayContaining([...texts]));
      expect(await page.evaluate("window.hacked")).toBeUndefined();
      expect(await page.locator("main img, main script").count()).toBe(0);
      expect([name, await measureOverflow(page)]).toEqual([name, 0]);
      await takePicture(page, `admin-hostile-${name}`);
    };
    await waitForText(page, SCRIPT);
    await checkTexts("accounts", TEXTS);
    for (const [nth, text] of TEXTS.entries()) {
      await page.getByRole("link", { name: text, exact: true }).click();
      await page.getByRole("heading", { level: 1, name: text, exact: true }).waitFor();
      await waitForText(page, "CSV of these lines");
      expect((await page.locator("td .text").allTextContents()).filter((t) => t === text)).toEqual(
        // The label of the key, the reference and the reason.
        [text, text, text],
      );
      await checkTexts(`account-${nth}`, [text]);
      await page.getByRole("button", { name: "Grant credits" }).click();
      await checkTexts(`grant-${nth}`, [text]);
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("link", { name: "All accounts" }).click();
      await waitForText(page, SCRIPT);
    }
    // A real platform would have to write this.
    await page.route("**/admin/creators", (route) =>
      route.fulfill({
        json: TEXTS.map((text) => ({
          creator: text,
          platform: "microblog",
          added_at: "2026-11-20T12:00:00.000Z",
          last_success: null,
          last_failure: "2026-11-20T12:00:00.000Z",
          failure: `\u001B[31m${text}`,
          next_due: null,
        })),
      }),
    );
    await page.getByRole("link", { name: "Collection" }).click();
    await page.getByRole("heading", { name: "Collection" }).waitFor();
    await waitForText(page, SCRIPT);
    await checkTexts("collection", [...TEXTS, `\u001B[31m${SCRIPT}`]);
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByRole("cell", { name: "accounts create" }).first().waitFor();
    await checkTexts("audit", TEXTS);
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("sorts all accounts, of which it shows a hundred at first", async () => {
    await Promise.all(
      Array.from({ length: 120 }, (_, nth) => {
        // The last one by name has the least credits.
        const credits = nth === 99 ? 1 : 10_000 - nth;
        return admin.service.admin("POST", "accounts", { name: `shop ${nth}`, credits });
      }),
    );
    const { page, faults, close } = await admin.visit("accounts");
    const rows = page.locator("tbody tr");
    await page.getByLabel("Search").fill("SHOP");
    await waitForText(page, "120 of 1");
    expect(await rows.count()).toBe(100);
    for (let count = 0; count < 2; count++) {
      await page.getByRole("button", { name: "Balance", exact: true }).click();
    }
    expect(await rows.first().innerText()).toMatch(/^shop 99\s+1\s/);
    await page.getByRole("button", { name: "Show 20 more" }).click();
    expect(await rows.last().innerText()).toMatch(/^shop 0\s+10,000\s/);
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("says when a sum of credits is too large for an exact number", async () => {
    for (const name of ["full", "also full"]) {
      await admin.service.admin("POST", "accounts", { name, credits: INTEGER_MAX });
    }
    const { page, faults, close } = await admin.visit("accounts");
    await waitForText(page, "over 9,007,199,254,740,991");
    await checkState(page, "large-sum");
    expect(faults).toEqual([]);
    await close();
  }, 60_000);
});
