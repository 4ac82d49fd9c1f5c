/** Uses a page with nothing but the keyboard. */
import type { Page } from "playwright-core";
import { waitForPage } from "./dashboard.ts";

const TABS_MAX = 100;

/** What has the focus: its label, or its text. */
export const FOCUSED = `(() => {
  const { activeElement: focused } = document;
  const label = focused.labels?.[0]?.textContent ?? focused.getAttribute("aria-label");
  return (label ?? focused.textContent).trim();
})()`;

/** Presses Tab until something has the focus. */
export async function tabTo(page: Page, label: string, { isBackward = false } = {}): Promise<void> {
  const seen: string[] = [];
  while (seen.length < TABS_MAX) {
    await page.keyboard.press(isBackward ? "Shift+Tab" : "Tab");
    const focused = await page.evaluate<string>(FOCUSED);
    if (focused === label) return;
    seen.push(focused);
  }
  throw new Error(`No Tab reaches ${label}: ${seen.join(", ")}`);
}

/** Tabs to a link or button, and presses Enter. */
export async function choose(page: Page, label: string, direction = {}): Promise<void> {
  await tabTo(page, label, direction);
  await page.keyboard.press("Enter");
  await waitForPage(page);
}

/** Tabs to a field, and types. */
export async function enter(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, label);
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
  await waitForPage(page);
}
