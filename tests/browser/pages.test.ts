/** Opens the pages for people in Chromium, on the data of the demo. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { generateDailyProfiles, generateObservations } from "../../server/demo/generate.ts";
import { countColours, hasBrowser, openPage } from "../support/processes/browser.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.observe(
    ...generateDailyProfiles({ from: NOW - 90 * DAY_MS, to: NOW }),
    ...generateObservations({ from: NOW - 3 * DAY_MS, to: NOW }),
  );
}, 60_000);
afterAll(() => service.close());

const PAGES = [
  ["/channels", "Channels"],
  ["/channels/sevenminutesoup", "Seven Minute Soup"],
  ["/users", "Users"],
  ["/users/slowcompiler", "Slow Compiler"],
  ["/compare?names=sevenminutesoup,kilnandclay&range=all", "Compare"],
  ["/creators", "Monitoring list"],
  ["/account", "Account"],
] as const;

describe.skipIf(!hasBrowser())("the pages", () => {
  test("show figures and charts, with no error and no request elsewhere", async () => {
    const { page, faults, close } = await openPage(service.address);
    try {
      await page.goto(`${service.address}/#key=${service.key}`);
      await page.waitForSelector("table");
      expect(page.url()).toBe(`${service.address}/`);
      for (const [path, title] of PAGES) {
        await page.goto(`${service.address}${path}`);
        await page.waitForSelector("h1");
        expect(await page.textContent("h1")).toContain(title);
      }
      await page.goto(`${service.address}/channels/sevenminutesoup?range=all`);
      const canvas = await page.waitForSelector("canvas");
      expect(await countColours(page, await canvas.screenshot())).toBeGreaterThan(5);
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  }, 60_000);
});
