/** The pages for people, used with nothing but the keyboard. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hasBrowser } from "../support/processes/browser.ts";
import { startDashboard, type Dashboard } from "../support/processes/dashboard.ts";
import { choose, enter, FOCUSED, tabTo } from "../support/processes/keyboard.ts";

describe.skipIf(!hasBrowser())("the pages by keyboard", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 2 });
  }, 60_000);
  afterAll(() => dashboard.close());

  test("lead from the key to the best short of a channel, the monitoring list and the balance", async () => {
    const { key, account } = await dashboard.service.createAccountWithKey(1234);
    const { page, faults, close } = await dashboard.visit("/", null);
    await enter(page, "API key", key);
    await choose(page, "Channels", { isBackward: true });
    await enter(page, "Name", "minute soup");
    expect(new URL(page.url()).searchParams.get("search")).toBe("minute soup");
    await choose(page, "Seven Minute Soup");
    expect(await page.textContent("h1")).toBe("Seven Minute Soup");

    const { shorts } = await dashboard.read<{ shorts: { title: string; views: number }[] }>(
      "/api/video/sevenminutesoup/shorts?limit=50",
    );
    const best = shorts.toSorted((a, b) => b.views - a.views)[0];
    await choose(page, "Views");
    await tabTo(page, "× median");
    await choose(page, best?.title ?? "");
    expect(await page.textContent("h1")).toBe(best?.title ?? "");

    await choose(page, "Monitoring list", { isBackward: true });
    await enter(page, "Username or address", "slowcompiler");
    await page.getByRole("status").filter({ hasText: "slowcompiler" }).waitFor();
    await page.getByRole("link", { name: "slowcompiler" }).waitFor();
    expect(await page.evaluate<string>(FOCUSED)).toBe("Username or address");
    await choose(page, "Remove slowcompiler");
    await page.getByText("The list is empty.").waitFor();

    await choose(page, "Account", { isBackward: true });
    const { balance } = await dashboard.service.readSums(account);
    expect(await page.locator("dd").first().textContent()).toBe(balance.toLocaleString("en-US"));
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("have a link that skips the navigation, and set the focus to a new page", async () => {
    const { page, close } = await dashboard.visit("/channels");
    await page.keyboard.press("Tab");
    expect(await page.evaluate<string>(FOCUSED)).toBe("Skip to the page");
    await page.keyboard.press("Enter");
    expect(await page.evaluate<string>("document.activeElement.id")).toBe("main");
    await choose(page, "Kiln & Clay");
    expect(await page.evaluate<string>("document.activeElement.id")).toBe("main");
    expect(await page.title()).toBe("Kiln & Clay · Creator metrics");
    await close();
  }, 60_000);

  test("do not move for people who prefer reduced motion", async () => {
    const { page, close } = await dashboard.visit("/creators", undefined, {
      reducedMotion: "reduce",
    });
    const animation = await page.evaluate<string>(`(() => {
      const loading = document.createElement("p");
      loading.className = "loading";
      document.body.append(loading);
      return getComputedStyle(loading).animationName;
    })()`);
    expect(animation).toBe("none");
    await close();
  }, 60_000);
});
