/** What the pages for people cost, and what they load. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { hasBrowser } from "../support/processes/browser.ts";
import { startDashboard, waitForPage, type Dashboard } from "../support/processes/dashboard.ts";
import { NOW } from "../support/service.ts";
import { waitUntil } from "../support/wait.ts";

/** An answer to a request that fails and costs nothing, and that a client does not repeat. */
const FAILURE = {
  status: 400,
  contentType: "application/json",
  body: JSON.stringify({ error: "Bad Request", message: "It failed" }),
};

/** What a visitor loads before any data, compressed: document, script and style. */
const FIRST_LOAD_MAX_BYTES = 70_000;

describe.skipIf(!hasBrowser())("the pages", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    const observedAt = new Date(NOW).toISOString();
    await dashboard.service.observe(
      { kind: "channel", observedAt, id: "UC1", username: "soup", subscribers: 5 },
      ...Array.from({ length: 120 }, (_, nth) => ({
        kind: "short",
        observedAt,
        channel: "UC1",
        id: `short ${nth}`,
        publishedAt: new Date(NOW - nth * DAY_MS).toISOString(),
        views: nth,
      })),
      ...[5000, 5234].map((followers_count, nth) => ({
        kind: "user",
        observedAt: new Date(NOW - (1 - nth) * 7 * DAY_MS).toISOString(),
        username: "nasa",
        followers_count,
      })),
      // A space apart, the names of the channel and of the short are the same text.
      ...[
        { channel: "a b", id: "c", views: 111 },
        { channel: "a", id: "b c", views: 222 },
      ].flatMap(({ channel, ...short }) => [
        { kind: "channel", observedAt, id: channel, username: channel, subscribers: 1 },
        { kind: "short", observedAt, channel, ...short, publishedAt: observedAt },
      ]),
    );
  }, 60_000);
  afterAll(() => dashboard.close());

  test("cost what they say, and nothing when the visitor goes back", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(100);
    const { page, close } = await dashboard.visit("/channels", key);
    const expectCost = async (cost: number, left: number) => {
      await waitForPage(page);
      expect(await page.textContent(".credits")).toContain(
        `${left} credits left · this page cost ${cost}`,
      );
      expect(await dashboard.service.readSums(account)).toMatchObject({ balance: left });
    };
    await expectCost(1, 99);
    await page.getByRole("link", { name: "soup" }).click();
    await page.getByText("Load more (1 credit)").waitFor();
    await expectCost(3, 96);
    await page.getByText("Load more (1 credit)").click();
    await page.getByRole("link", { name: "short 119" }).waitFor();
    await expectCost(4, 95);
    await page.getByRole("link", { name: "short 119" }).click();
    await expectCost(2, 93);
    await page.getByRole("link", { name: "Monitoring list" }).click();
    await page.getByLabel("Username or address").fill("nasa");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("link", { name: "nasa" }).waitFor();
    await expectCost(0, 93);
    for (let steps = 0; steps < 3; steps++) await page.goBack();
    expect(new URL(page.url()).pathname).toBe("/channels");
    await expectCost(0, 93);
    await page.getByRole("link", { name: "Account" }).click();
    await expectCost(0, 93);
    expect(await page.locator("dd").allTextContents()).toEqual(["93", "7", account]);
    await page.getByRole("link", { name: "Channels" }).click();
    // The page of the account has such a button, too.
    await page.getByRole("link", { name: "soup" }).waitFor();
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByText("this page cost 1").waitFor();
    await expectCost(1, 92);
    await close();
  }, 60_000);

  const readBalance = async (account: string) =>
    Number(Object(await dashboard.service.readSums(account)).balance);

  test("show what was paid when another read of the page fails, which alone is paid again", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(100);
    const { page, close } = await dashboard.visit("/account", key);
    await page.route("**/metrics", (route) => route.fulfill(FAILURE));
    await page.goto(`${dashboard.service.address}/users/nasa`);
    await page.getByRole("alert").waitFor();
    await waitForPage(page);
    expect(await page.textContent("main")).toContain("5.23 K");
    // The details, the history and the tweets.
    expect(await readBalance(account)).toBe(97);
    await page.unroute("**/metrics");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Next milestone").waitFor();
    expect(await page.locator(".figures").first().innerText()).toMatch(/In a week\s+\+234/);
    expect(await readBalance(account)).toBe(96);
    await close();
  }, 60_000);

  test("tell items apart whose names are the same text", async () => {
    const { page, close } = await dashboard.visit("/channels/a%20b/shorts/c");
    const readViews = () => page.locator("dd").first().innerText();
    expect(await readViews()).toBe("111");
    await page.evaluate(`history.pushState(null, "", "/channels/a/shorts/b%20c"),
      dispatchEvent(new PopStateEvent("popstate"))`);
    await waitForPage(page);
    expect(await readViews()).toBe("222");
    await close();
  }, 60_000);

  test("leave visitors on the page that they went to, and read nothing twice", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(100);
    for (const [path, label] of [
      ["/channels/UC1/shorts/short%205", "Compare with the creator’s last five"],
      ["/compare", "Compare the 3 greatest"],
    ] as const) {
      const { page, close } = await dashboard.visit(path, key);
      const released = Promise.withResolvers<void>();
      await page.route(/limit=/, async (route) => {
        await released.promise;
        await route.fallback();
      });
      await page.getByRole("button", { name: label }).click();
      const [response] = await Promise.all([
        page.waitForResponse(/limit=/),
        page.getByRole("link", { name: "Account" }).click().then(released.resolve),
      ]);
      await response.finished();
      await waitForPage(page);
      expect(new URL(page.url()).pathname).toBe("/account");
      const before = await readBalance(account);
      await page.goBack();
      await page.getByRole("button", { name: label }).click();
      await page.waitForURL(/compare\?/);
      await waitForPage(page);
      const compared = new URL(page.url()).searchParams;
      const names = (compared.get("ids") ?? compared.get("names") ?? "").split(",");
      expect(before - (await readBalance(account))).toBe(names.length);
      await close();
    }
  }, 60_000);

  test("show the error of a list under this list alone", async () => {
    const { page, close } = await dashboard.visit("/channels/UC1");
    await page.route(/cursor=/, (route) => route.fulfill(FAILURE));
    await page.getByText("Load more (1 credit)").click();
    await page.locator("main [role=alert]").waitFor();
    await page.getByRole("button", { name: "Views", exact: true }).click();
    await page.waitForURL(/sort=views/);
    await waitForPage(page);
    expect(await page.locator("main [role=alert]").count()).toBe(0);
    await page.goBack();
    await page.locator("main [role=alert]").waitFor();
    await close();
  }, 60_000);

  test("request nothing while they are only looked at", async () => {
    const { page, close } = await dashboard.browser.open(dashboard.service.address);
    await page.clock.install({ time: NOW });
    const requests: string[] = [];
    let pending = 0;
    page.on("request", (request) => {
      requests.push(request.url());
      pending++;
    });
    page.on("requestfinished", () => pending--);
    for (const path of ["/channels", "/channels/UC1", "/creators", "/account"]) {
      await page.goto(`${dashboard.service.address}${path}#key=${dashboard.service.key}`);
      await waitForPage(page);
      // Ten minutes end every request that has no response yet, and it is sent again.
      await waitUntil(() => pending === 0);
      const before = requests.length;
      expect(before).toBeGreaterThan(0);
      await page.clock.runFor("10:00");
      expect(requests.slice(before)).toEqual([]);
    }
    await close();
  }, 60_000);

  test("load less than 70 kB before the data, and nothing twice", async () => {
    const { page, close } = await dashboard.browser.open(dashboard.service.address);
    const sizes = new Map<string, number>();
    page.on("response", async (response) => {
      const { responseBodySize, responseHeadersSize } = await response.request().sizes();
      sizes.set(new URL(response.url()).pathname, responseBodySize + responseHeadersSize);
    });
    await page.goto(dashboard.service.address, { waitUntil: "networkidle" });
    expect([...sizes.keys()].toSorted()).toEqual(["/", "/assets/pages.css", "/assets/pages.js"]);
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect(total).toBeLessThan(FIRST_LOAD_MAX_BYTES);
    await close();
  }, 60_000);
});
