/** What the pages for people show when there is nothing to show, or when something fails. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { hasBrowser } from "../support/processes/browser.ts";
import {
  findBarriers,
  measureOverflow,
  startDashboard,
  takePicture,
  waitForPage,
  type Dashboard,
} from "../support/processes/dashboard.ts";

const CHANNEL_PATH = "/channels/UC1";
const NARROW = { viewport: { width: 360, height: 740 } };

describe.skipIf(!hasBrowser())("the pages", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    await dashboard.service.observe({
      kind: "channel",
      observedAt: "2026-11-20",
      id: "UC1",
      username: "soup",
      displayName: "Soup",
    });
  }, 60_000);
  afterAll(() => dashboard.close());

  /** Checks a state like a page, and takes a picture of it. */
  async function checkState(page: Page, name: string): Promise<void> {
    expect(await findBarriers(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await takePicture(page, name);
  }

  const readAlert = (page: Page) => page.getByRole("alert").first().innerText();
  const retry = async (page: Page) => {
    await page.getByRole("button", { name: "Try again" }).click();
    await waitForPage(page);
  };

  test("ask for a key, and say that it is wrong, once", async () => {
    const { page, close } = await dashboard.visit("/account", null, NARROW);
    expect(await page.locator("nav").count()).toBe(0);
    await checkState(page, "state-no-key");
    await page.getByLabel("API key").fill("cm_wrong");
    await page.keyboard.press("Enter");
    expect(await readAlert(page)).toContain("The service does not know this API key");
    expect(await page.getByLabel("API key").count()).toBe(1);
    await checkState(page, "state-wrong-key");
    await page.getByLabel("API key").fill(dashboard.service.key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/account");
    await close();
  }, 60_000);

  test("keep the key in the tab only, and take it out of the address", async () => {
    const { page, close } = await dashboard.visit("/account");
    expect(page.url()).toBe(`${dashboard.service.address}/account`);
    expect(await page.evaluate<string>("document.cookie + JSON.stringify(localStorage)")).toBe(
      "{}",
    );
    await page.reload();
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await page.evaluate<number>("sessionStorage.length")).toBe(0);
    await close();
  }, 60_000);

  test("keep the key in a tab that a link is opened in, but not in any other", async () => {
    const { page, close } = await dashboard.visit("/channels");
    const context = page.context();
    const [opened] = await Promise.all([
      context.waitForEvent("page"),
      page.getByRole("link", { name: "Soup" }).click({ button: "middle" }),
    ]);
    await waitForPage(opened);
    expect(await opened.textContent("h1")).toBe("Soup");
    // The address was opened once; whoever asks again has not been let in by a press.
    const other = await context.newPage();
    await other.goto(opened.url());
    await other.getByLabel("API key").waitFor();
    await close();
  }, 60_000);

  test("say that no credits are left, and go on when there are some", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(2);
    const { page, close } = await dashboard.visit(CHANNEL_PATH, key, NARROW);
    expect(await readAlert(page)).toContain("No credits left");
    expect(await page.textContent(".credits")).toContain("0 credits left · this page cost 2");
    await checkState(page, "state-no-credits");
    await dashboard.service.admin("POST", "grants", { account, amount: 10 });
    await retry(page);
    expect(await page.textContent("main")).toContain("No short of this channel was observed yet.");
    expect(await page.textContent(".credits")).toContain("9 credits left · this page cost 3");
    await close();
  }, 60_000);

  test("say that a page, a channel and a user do not exist, and what that cost", async () => {
    const { key } = await dashboard.service.createAccountWithKey(5);
    const { page, close } = await dashboard.visit("/channels/nobody", key, NARROW);
    expect(await readAlert(page)).toContain("Channel nobody not found");
    expect(await page.textContent(".credits")).toContain("4 credits left · this page cost 1");
    await checkState(page, "state-not-found");
    await page.goto(`${dashboard.service.address}/users/nobody`);
    expect(await readAlert(page)).toContain("Not found");
    await page.goto(`${dashboard.service.address}/nothing`);
    expect(await page.textContent("main")).toContain("There is no such page");
    expect(await page.title()).toBe("Not found · Creator metrics");
    await close();
  }, 60_000);

  test("say what to do when lists are empty", async () => {
    const { page, close } = await dashboard.visit("/creators", undefined, NARROW);
    expect(await page.textContent("main")).toContain("The list is empty. Add a username");
    await checkState(page, "state-empty-list");
    for (const [path, text] of [
      ["/users", "No user was observed yet"],
      ["/channels?search=zzz", "No channel matches"],
      ["/compare", "Compare up to 10 channels or users"],
    ] as const) {
      await page.goto(dashboard.service.address + path);
      await waitForPage(page);
      expect(await page.textContent("main")).toContain(text);
    }
    await page.goto(`${dashboard.service.address}/channels/UC1?range=7d`);
    await waitForPage(page);
    expect(await page.textContent("main")).toContain("Subscribers: no value is known");
    await close();
  }, 60_000);

  test("say that they are loading until the response is there", async () => {
    const { page, close } = await dashboard.visit("/creators", undefined, NARROW);
    const released = Promise.withResolvers<void>();
    await page.route("**/api/video/channels*", async (route) => {
      await released.promise;
      await route.fallback();
    });
    await page.getByRole("link", { name: "Channels" }).click();
    await page.locator("main [role=status]").waitFor();
    expect(await page.textContent("main")).toContain("Loading…");
    await page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished))");
    await checkState(page, "state-loading");
    released.resolve();
    await page.getByRole("link", { name: "Soup" }).waitFor();
    await close();
  }, 60_000);

  test("can be tried again when the service is back", async () => {
    const { fetch: handle } = dashboard.service.service;
    const start = (port: number) => Bun.serve({ port, hostname: "127.0.0.1", fetch: handle });
    let server = start(0);
    const port = Number(server.port);
    const { page, close } = await dashboard.visit("/creators", undefined, {
      ...NARROW,
      baseURL: `http://127.0.0.1:${port}`,
    });
    await server.stop(true);
    await page.getByRole("link", { name: "Channels" }).click();
    expect(await readAlert(page)).toContain("The service does not answer");
    await checkState(page, "state-service-gone");
    server = start(port);
    await retry(page);
    await page.getByRole("link", { name: "Soup" }).waitFor();
    await close();
    await server.stop(true);
  }, 60_000);

  test("say that the browser is offline, and can be tried again", async () => {
    const { page, close } = await dashboard.visit("/creators", undefined, NARROW);
    await page.context().setOffline(true);
    await page.getByRole("link", { name: "Channels" }).click();
    expect(await readAlert(page)).toContain("You are offline");
    await checkState(page, "state-offline");
    await page.context().setOffline(false);
    await retry(page);
    await page.getByRole("link", { name: "Soup" }).waitFor();
    await close();
  }, 60_000);

  test("refuse what a key may not do, and say why", async () => {
    const { key } = await dashboard.service.createAccountWithKey(5, { scopes: ["read"] });
    const { page, close } = await dashboard.visit("/creators", key, NARROW);
    expect(await readAlert(page)).toContain("This key may not read this page");
    await close();
  }, 60_000);
});
