/** The administrator's page in Chromium: every part, wide and narrow, light and dark. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fillService, startAdminPage, type AdminPage } from "../support/processes/admin-page.ts";
import { hasBrowser } from "../support/processes/browser.ts";
import {
  findBarriers,
  measureOverflow,
  takePicture,
  waitForFrame,
  waitForPage,
} from "../support/processes/dashboard.ts";

const WIDTHS = [360, 768, 1440] as const;

const PARTS = [
  ["accounts", "Accounts", "All accounts"],
  ["accounts/acme", "acme", "Statement"],
  ["notices", "Notices", "Nordlicht Media"],
  ["collection", "Collection", "Monitoring list"],
  ["database", "Database", "Back up"],
  ["live", "Live", "Pause"],
  ["audit", "Audit", "invoice 2026-117"],
] as const;

describe.skipIf(!hasBrowser())("/admin", () => {
  let admin: AdminPage;
  beforeAll(async () => {
    admin = await startAdminPage();
    await fillService(admin);
  }, 60_000);
  afterAll(() => admin?.close());

  for (const colorScheme of ["light", "dark"] as const) {
    test(`shows its parts in ${colorScheme} at any width, without an error`, async () => {
      const { page, faults, close } = await admin.visit("accounts", { colorScheme });
      for (const [fragment, title, text] of PARTS) {
        await page.goto(`${admin.service.address}/admin#${fragment}`);
        await page.getByRole("heading", { level: 1, name: title }).waitFor();
        await page.getByText(text).first().waitFor();
        await waitForPage(page);
        expect(await page.title()).toBe(`${title} · Administration`);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          await waitForFrame(page);
          expect([fragment, width, await measureOverflow(page)]).toEqual([fragment, width, 0]);
          await takePicture(page, `admin-${fragment.replace("/", "-")}-${width}-${colorScheme}`);
        }
        expect([fragment, await findBarriers(page)]).toEqual([fragment, []]);
      }
      expect(faults).toEqual([]);
      await close();
    }, 60_000);
  }
});
