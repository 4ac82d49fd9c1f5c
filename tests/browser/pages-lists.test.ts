/** The lists of the pages for people: their order, how much of them is loaded, and narrow windows. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encodeListCursor } from "../../core/lists.ts";
import { HOUR_MS } from "../../core/time.ts";
import { hasBrowser } from "../support/processes/browser.ts";
import { startDashboard, waitForPage, type Dashboard } from "../support/processes/dashboard.ts";
import { NOW } from "../support/service.ts";
import { retryWithin } from "../support/wait.ts";

const NARROW = { viewport: { width: 360, height: 740 } };

describe.skipIf(!hasBrowser())("the lists", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    const observedAt = new Date(NOW).toISOString();
    const at = (nth: number) => new Date(NOW - nth * HOUR_MS).toISOString();
    await dashboard.service.observe(
      { kind: "channel", observedAt, id: "UC1", username: "soup", subscribers: 5, viewCount: 9 },
      { kind: "channel", observedAt, id: "UC2", username: "clay", subscribers: 7, viewCount: 2 },
      { kind: "user", observedAt, username: "nasa", followers_count: 5 },
      ...Array.from({ length: 120 }, (_, nth) => ({
        kind: "short",
        observedAt,
        channel: "UC1",
        id: `short ${nth}`,
        publishedAt: at(nth),
        views: nth,
      })),
      ...Array.from({ length: 120 }, (_, nth) => ({
        kind: "tweet",
        observedAt,
        username: "nasa",
        id: String(10 ** 12 - nth),
        text: `tweet ${nth}`,
        created_at: at(nth),
        likes: nth,
      })),
    );
    await dashboard.service.refreshFigures();
  }, 60_000);
  afterAll(() => dashboard.close());

  test("of channels are sorted by the service when a head is pressed, for a credit", async () => {
    const { page, close } = await dashboard.visit("/channels");
    const names = () => page.locator("td a").allTextContents();
    const head = (name: string) => page.getByRole("columnheader", { name });
    expect(await names()).toEqual(["clay", "soup"]);
    expect(await head("Subscribers").getAttribute("aria-sort")).toBe("descending");
    expect(await page.textContent("caption")).toContain("A head sorts the whole list (1 credit)");
    await head("Views").getByRole("button").click();
    await page.getByText("this page cost 2").waitFor();
    await waitForPage(page);
    expect(await names()).toEqual(["soup", "clay"]);
    expect(new URL(page.url()).search).toBe("?sort=views&order=desc");
    expect(await head("Views").getAttribute("aria-sort")).toBe("descending");
    expect(await head("Subscribers").getAttribute("aria-sort")).toBeNull();
    await head("Views").getByRole("button").click();
    await page.getByText("this page cost 3").waitFor();
    await waitForPage(page);
    expect(await names()).toEqual(["clay", "soup"]);
    expect(await page.locator("select[name=order]").inputValue()).toBe("asc");
    await close();
  }, 60_000);

  test("of channels are sorted in percent, with a floor, as the address says", async () => {
    const { page, close } = await dashboard.visit("/channels?sort=views");
    await page.getByRole("columnheader", { name: "7 days, %" }).getByRole("button").click();
    await page
      .getByText("Channels by subscribers gained in a week, in %, greatest first")
      .waitFor();
    await page.getByLabel("At least so many subscribers").fill("6");
    await page.getByRole("button", { name: "Search" }).click();
    await waitForPage(page);
    expect(await page.locator("td a").allTextContents()).toEqual(["clay"]);
    expect(new URL(page.url()).search).toBe("?sort=weeklySubscriberGainPercent&order=desc&min=6");
    await page.getByText("this page cost 3").waitFor();
    await page.getByLabel("At least so many subscribers").fill("8");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("button", { name: "Show all channels (1 credit)" }).click();
    await waitForPage(page);
    expect(await page.locator("td a").count()).toBe(2);
    await close();
  }, 60_000);

  test("of channels go on behind a page without any, as a long list has with filters", async () => {
    const { page, close } = await dashboard.visit("/account");
    await page.route("**/api/video/channels?*", async (route) => {
      if (route.request().url().includes("cursor=")) return route.continue();
      const list = { kind: "channel", sort: "subscribers", order: "desc" } as const;
      const nextCursor = encodeListCursor({ figure: 1e9, id: "a" }, { ...list, search: "soup" });
      const pagination = { hasMore: true, nextCursor };
      return route.fulfill({ json: { channels: [], pagination } });
    });
    await page.goto(`${dashboard.service.address}/channels?search=soup`);
    await page.getByText("No channel matches among the first 8,000 in this order.").waitFor();
    await page.getByRole("button", { name: "Search the next 8,000 (1 credit)" }).click();
    await page.getByRole("link", { name: "soup" }).waitFor();
    expect(await page.getByText("No channel matches").count()).toBe(0);
    await close();
  }, 60_000);

  test("of channels search on until one matches, for as many credits as they say", async () => {
    const { page, close } = await dashboard.visit("/account");
    const soup = { id: "UC1", username: "soup", displayName: null, subscribers: 5, videoCount: 9 };
    let pages = 0;
    await page.route("**/api/video/channels?*", async (route) => {
      pages++;
      const channels = pages === 14 ? [soup] : [];
      const pagination = { hasMore: true, nextCursor: `subscribers-desc-z-${pages}` };
      return route.fulfill({ json: { channels, pagination } });
    });
    await page.goto(`${dashboard.service.address}/channels?search=soup`);
    const searchOn = page.getByRole("button", { name: "until one matches (up to 10 credits)" });
    await searchOn.click();
    await page.getByText("among the first 88,000 in this order").waitFor();
    expect(pages).toBe(11);
    await searchOn.click();
    await page.getByRole("link", { name: "soup" }).waitFor();
    expect(pages).toBe(14);
    expect(await page.getByText("No channel matches").count()).toBe(0);
    await page.getByRole("button", { name: "Load more (1 credit)" }).click();
    await page.getByText("No channel matches among the next 8,000 in this order.").waitFor();
    await close();
  }, 60_000);

  test("of shorts and tweets say what is sorted, and load all for the credits that they say", async () => {
    const { page, close } = await dashboard.visit("/channels/soup");
    const caption = () => page.locator("caption").innerText();
    expect(await caption()).toBe("Shorts by age, newest first. Another order costs 1 credit.");
    await page.getByRole("button", { name: "Load more (1 credit)" }).click();
    await page.getByRole("link", { name: "short 119" }).waitFor();
    await page.getByText("this page cost 4").waitFor();
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByText("this page cost 5").waitFor();
    await waitForPage(page);
    expect(await caption()).toContain("Shorts by views, greatest first.");
    expect(await page.locator("td a").first().textContent()).toBe("short 119");
    // No views of these tweets are known: the loaded ones are sorted, by their likes.
    await page.goto(`${dashboard.service.address}/users/nasa`);
    await waitForPage(page);
    expect(await caption()).toBe("Tweets: the newest 100. Sorting orders these.");
    await page.getByText("this page cost 4").waitFor();
    await page.getByRole("button", { name: "Load more (1 credit)" }).click();
    await page.getByRole("link", { name: "tweet 119" }).waitFor();
    expect(await caption()).toBe("Tweets: 120. Sorting orders these.");
    await page.getByText("this page cost 5").waitFor();
    const likes = page.getByRole("button", { name: "Likes" });
    await likes.click();
    expect(await page.locator("td a").first().textContent()).toBe("tweet 119");
    await close();
  }, 60_000);

  test("show the figures first where there is little room", async () => {
    const { page, close } = await dashboard.visit("/channels/soup", undefined, NARROW);
    const isInView = (name: string) =>
      page
        .getByRole("columnheader", { name, exact: true })
        .boundingBox()
        .then((box) => box !== null && box.x + box.width <= NARROW.viewport.width);
    expect([await isInView("Views"), await isInView("× median")]).toEqual([true, true]);
    expect(await page.getByRole("columnheader", { name: "Age" }).count()).toBe(0);
    expect(await page.locator(".scroll tbody tr").nth(1).innerText()).toContain("1 h");
    await page.goto(`${dashboard.service.address}/users/nasa`);
    await waitForPage(page);
    expect(await isInView("Likes")).toBe(true);
    await page.goto(`${dashboard.service.address}/channels`);
    await waitForPage(page);
    expect([await isInView("Subscribers"), await isInView("7 days")]).toEqual([true, true]);
    await close();
  }, 60_000);

  test("are where they were for those who come back to them", async () => {
    const { page, close } = await dashboard.visit("/channels/soup");
    const link = page.getByRole("link", { name: "short 40" });
    await link.scrollIntoViewIfNeeded();
    const before = await page.evaluate<number>("scrollY");
    expect(before).toBeGreaterThan(500);
    await link.click();
    await waitForPage(page);
    expect(await page.evaluate<number>("scrollY")).toBe(0);
    await page.goBack();
    await retryWithin(5000, async () => {
      expect(await page.evaluate<number>("scrollY")).toBeCloseTo(before, 0);
    });
    await page.getByText("this page cost 0").waitFor();
    // Scrolling back ends with the page: here, the next page opens before the first frame.
    await link.click();
    await waitForPage(page);
    await page.evaluate(`new Promise((done) => {
      addEventListener("popstate", () => {
        document.querySelector('a[href="/channels"]').click();
        done();
      }, { once: true });
      history.back();
    })`);
    const scrolls = await page.evaluate<number[]>(`new Promise((done) => {
      const calls = [];
      const scroll = scrollTo;
      window.scrollTo = (x, y) => { calls.push(y); scroll(x, y); };
      setTimeout(() => done(calls), 200);
    })`);
    expect(scrolls.filter((y) => y > 0)).toEqual([]);
    await close();
  }, 60_000);
});
