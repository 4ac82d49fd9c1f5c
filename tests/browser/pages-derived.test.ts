/** DERIVED_METRICS: the pages of a platform without derived figures show no percentages and rates. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import { hasBrowser } from "../support/processes/browser.ts";
import { startDashboard, type Dashboard } from "../support/processes/dashboard.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

const LINES = [
  ...Array.from({ length: 20 }, (_, day) => ({
    kind: "channel",
    observedAt: formatInstant(NOW - day * DAY_MS),
    id: "UC1",
    username: "soup",
    subscribers: 9137 - 7 * day,
  })),
  ...Array.from({ length: 20 }, (_, hour) => ({
    kind: "short",
    observedAt: formatInstant(NOW - hour * HOUR_MS),
    publishedAt: formatInstant(NOW - 24 * HOUR_MS),
    channel: "UC1",
    id: "s1",
    views: 900 - 7 * hour,
  })),
];

describe.skipIf(!hasBrowser())("the pages", () => {
  let dashboard: Dashboard;
  let without: TestService;
  beforeAll(async () => {
    dashboard = await startDashboard({ days: 0 });
    without = await startTestService({ DERIVED_METRICS: "microblog" });
    for (const service of [dashboard.service, without]) await service.observe(...LINES);
  }, 60_000);
  afterAll(async () => {
    await dashboard.close();
    await without.close();
  });

  test("hide percentages and rates of growth, unless they are given", async () => {
    const shown = async (path: string, service: TestService) => {
      const options = { baseURL: service.address };
      const { page, close } = await dashboard.visit(path, service.key, options);
      const text = await page.locator("main").innerText();
      await close();
      const figures = text.includes("× median");
      return { percent: text.includes("%"), rate: text.includes("rate of growth"), figures };
    };
    for (const path of ["/", "/channels"]) {
      expect((await shown(path, dashboard.service)).percent).toBe(true);
      expect((await shown(path, without)).percent).toBe(false);
    }
    const compare = "/compare?kind=channels&names=soup";
    const hidden = { percent: false, rate: false, figures: false };
    expect(await shown(compare, dashboard.service)).toEqual({ ...hidden, percent: true });
    expect(await shown(compare, without)).toEqual(hidden);
    const all = { percent: true, rate: false, figures: true };
    expect(await shown("/channels/soup", dashboard.service)).toEqual(all);
    await without.refreshFigures();
    expect(await shown("/channels/soup", without)).toEqual(hidden);
    const short = "/channels/soup/shorts/s1";
    expect(await shown(short, dashboard.service)).toMatchObject({ rate: true, figures: true });
    expect(await shown(short, without)).toMatchObject({ rate: false, figures: false });
  }, 60_000);
});
