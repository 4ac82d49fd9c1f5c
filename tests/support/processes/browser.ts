/** A real browser that can reach only this machine. */
import { existsSync } from "node:fs";
import {
  chromium,
  type BrowserContextOptions,
  type Download,
  type Locator,
  type Page,
} from "playwright-core";

/** The shell has no window, and takes a third less processor time for a page. */
const CHROMIUM =
  ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path)) ?? "";

/** Whether Chromium is installed. Prints a note if it is not. */
export function hasBrowser(): boolean {
  if (CHROMIUM !== "") return true;
  process.stderr.write("Skipped the browser tests: Chromium is not in /usr/bin\n");
  return false;
}

interface BrowserOptions {
  /** Without it, a page reaches every server of 127.0.0.1, and reads its responses. */
  readonly hasWebSecurity?: boolean;
}

/**
 * Starts a browser that reaches only 127.0.0.1. A request of a page to another origin is a fault.
 * Nothing intercepts requests: that would turn off the browser's cache.
 */
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
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
      ...(hasWebSecurity ? [] : ["--disable-web-security"]),
    ],
  });
  /** Opens a page in a context of its own, which shares nothing with others. */
  async function open(origin: string, options: BrowserContextOptions = {}) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      ...options,
    });
    // Beside other tests, a step that takes 2 s alone took more than 20 s. Tests have 60 s: a step
    // that takes longer fails before its test, and its error says which step it was.
    context.setDefaultTimeout(50_000);
    const faults: string[] = [];
    context.on("request", (request) => {
      const { protocol, origin: requestedOrigin, hostname, href } = new URL(request.url());
      const isAllowed = hasWebSecurity ? requestedOrigin === origin : hostname === "127.0.0.1";
      if (!isAllowed && protocol.startsWith("http")) faults.push(`request to ${href}`);
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
 * keeps its size, its time zone and its date. This takes half the processor time of a new page.
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

/** Clicks a button that starts a download. If the click fails, nothing waits for the download. */
export async function download(button: Locator): Promise<Download> {
  const [started] = await Promise.all([button.page().waitForEvent("download"), button.click()]);
  return started;
}

/**
 * Sets what `Date` says on a page from now on, also on the documents that it loads later. Timers and
 * frames stay those of the browser. `page.clock` replaces them, too: a test then waits for a frame
 * that is not drawn.
 *
 * @param time In milliseconds since 1970 UTC.
 */
export async function setDate(page: Page, time: number): Promise<void> {
  const script = `globalThis.Date = new Proxy(Object.getPrototypeOf(new Date(0)).constructor, {
    construct: (RealDate, parameters) =>
      parameters.length === 0 ? new RealDate(${time}) : new RealDate(...parameters),
    apply: (RealDate) => String(new RealDate(${time})),
    get: (RealDate, name) => (name === "now" ? () => ${time} : Reflect.get(RealDate, name)),
  })`;
  await page.addInitScript(script);
  await page.evaluate(script);
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

/** Starts a browser, and opens a page that may ask only the given origin. */
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
