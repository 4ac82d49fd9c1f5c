/** A real browser that can reach only one origin. */
import { existsSync } from "node:fs";
import { chromium, type BrowserContextOptions, type Page } from "playwright-core";

const CHROMIUM = "/usr/bin/chromium";

/** Whether Chromium is installed. Prints a note if it is not. */
export function hasBrowser(): boolean {
  if (existsSync(CHROMIUM)) return true;
  process.stderr.write(`Skipped the browser tests: ${CHROMIUM} does not exist\n`);
  return false;
}

interface BrowserOptions {
  /** Without it, a page reaches every server of 127.0.0.1, and reads its responses. */
  readonly hasWebSecurity?: boolean;
}

/** Starts a browser whose pages can reach only the given origin. */
export async function startBrowser({ hasWebSecurity = true }: BrowserOptions = {}) {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-quic",
      "--disable-sync",
      ...(hasWebSecurity ? [] : ["--disable-web-security"]),
    ],
  });
  /** Opens a page in a context of its own, which shares nothing with others. */
  async function open(origin: string, options: BrowserContextOptions = {}) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      ...options,
    });
    context.setDefaultTimeout(20_000);
    const faults: string[] = [];
    await context.route("**/*", async (route) => {
      const { protocol, origin: requestedOrigin, hostname, href } = new URL(route.request().url());
      if (!hasWebSecurity && hostname === "127.0.0.1") return route.continue();
      if (requestedOrigin === origin || protocol === "data:" || protocol === "blob:")
        return route.continue();
      faults.push(`request to ${href}`);
      return route.abort();
    });
    const page = await context.newPage();
    recordFaults(page, faults);
    return { page, faults, close: () => context.close() };
  }
  return { open, close: () => browser.close() };
}

export type OpenedPage = Awaited<ReturnType<Awaited<ReturnType<typeof startBrowser>>["open"]>>;

/**
 * Resets a page for another visit: removes stored values, routes, emulation and faults. Its window
 * keeps its size, its time zone and its clock. This takes half the processor time of a new page.
 */
export async function resetPage({ page, faults }: OpenedPage): Promise<void> {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.mouse.move(0, 0);
  await page.emulateMedia({ colorScheme: null });
  await page.evaluate("localStorage.clear(), sessionStorage.clear()");
  await context.clearCookies();
  await context.setOffline(false);
  await page.goto("about:blank");
  faults.length = 0;
}

/** Records everything that must not happen on a page: failed requests, error responses, errors. */
function recordFaults(page: Page, faults: string[]): void {
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText;
    // A page that is left, or loaded again, ends its own requests.
    if (reason !== "net::ERR_ABORTED") faults.push(`failed request of ${request.url()}: ${reason}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} of ${response.url()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`console: ${message.text()}`);
  });
}

/** Starts a browser, and opens a page that can reach only the given origin. */
export async function openPage(origin: string, options: BrowserOptions = {}) {
  const browser = await startBrowser(options);
  const { page, faults } = await browser.open(origin);
  return { page, faults, close: () => browser.close() };
}

/**
 * Counts the colours of every 16th pixel of a screenshot. A blank page has one.
 *
 * @param page The page that decodes the image.
 */
export async function countColours(page: Page, png: Uint8Array): Promise<number> {
  const source = `data:image/png;base64,${Buffer.from(png).toString("base64")}`;
  return page.evaluate<number>(`(async () => {
    const image = new Image();
    image.src = ${JSON.stringify(source)};
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const points = new Uint32Array(
      canvas.getImageData(0, 0, image.width, image.height).data.buffer,
    );
    return new Set(points.filter((_, index) => index % 16 === 0)).size;
  })()`);
}
