/**
 * Measures the pages for people in Chromium, with 5,000 channels and a short of 10,000 observations: how
 * much a first visit loads, when it paints first, and the longest time for which it does not respond.
 */
import { join } from "node:path";
import { HOUR_MS } from "../../core/time.ts";
import { hasBrowser, startBrowser } from "../support/processes/browser.ts";
import { lessThan, withServers, type BenchContext } from "./bench-context.ts";
import { createValueRow, median, type ReportRow } from "./report.ts";
import { seedChannels } from "./seed.ts";
import {
  createBenchDatabase,
  databaseSettings,
  startServiceProcess,
  verbCommand,
  type BenchDatabase,
} from "./service-process.ts";
import type { Workspace } from "./workspace.ts";

const PART = "pages";
const CHANNELS = 5000;
const HISTORIES = 20;
const ROUNDS = 5;

const POINTS = 10_000;
/** A page shows its history hour by hour: more buckets than of a longer history by day. */
const SHORT_HOURS = 960;

/** A page, and what is there once it is complete. */
const VISITS = [
  { what: "channels", path: "/channels", selector: "table" },
  { what: "channel", path: "/channels/Channel1?range=1y", selector: "canvas" },
  { what: "short", path: "/channels/Channel1/shorts/busy", selector: "canvas" },
] as const;

/** What a browser says about a visit. */
interface Visit {
  readonly firstPaintMs: number;
  /** The longest task of at least 50 ms, which is when a browser calls it long; else 0. */
  readonly longestTaskMs: number;
}

const RECORD_LONG_TASKS = `
  window.longTasks = [];
  new PerformanceObserver((list) => {
    window.longTasks.push(...list.getEntries().map(({ duration }) => duration));
  }).observe({ type: "longtask", buffered: true });`;

const READ_VISIT = `({
  firstPaintMs: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  longestTaskMs: Math.max(0, ...window.longTasks),
})`;

/** Measures the pages. It needs Chromium. */
export async function measurePages({ workspace, logProgress }: BenchContext): Promise<ReportRow[]> {
  if (!hasBrowser()) return [];
  logProgress(`pages: filling a database with ${CHANNELS} channels`);
  const store = await prepareDatabase(workspace);
  const service = await startServiceProcess(workspace, store);
  return withServers({ service }, async () => {
    const browser = await startBrowser();
    try {
      const rows = [await measureFirstLoad(browser, service.origin)];
      for (const { what, path, selector } of VISITS) {
        logProgress(`pages: ${path}`);
        const visits: Visit[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          const { page, close } = await browser.open(service.origin);
          await page.addInitScript(RECORD_LONG_TASKS);
          await page.goto(`${service.origin}${path}#key=${store.key}`);
          await page.waitForSelector(selector);
          await page.waitForSelector(".loading", { state: "detached" });
          // A task is reported when it has ended.
          await page.waitForTimeout(200);
          visits.push(await page.evaluate<Visit>(READ_VISIT));
          await close();
        }
        rows.push(...createVisitRows(what, visits));
      }
      return rows;
    } finally {
      await browser.close();
    }
  });
}

function createVisitRows(what: string, visits: readonly Visit[]): ReportRow[] {
  const target = lessThan(1000);
  return [
    createValueRow({
      part: PART,
      what: `${what}, first paint, median of ${visits.length}`,
      unit: "ms",
      value: median(visits.map(({ firstPaintMs }) => firstPaintMs)),
      target,
    }),
    createValueRow({
      part: PART,
      what: `${what}, longest task of ${visits.length} visits`,
      unit: "ms",
      value: Math.max(...visits.map(({ longestTaskMs }) => longestTaskMs)),
      target: lessThan(100),
    }),
  ];
}

/** Measures what a first visit loads with the data of the list of channels, compressed. */
async function measureFirstLoad(
  browser: Awaited<ReturnType<typeof startBrowser>>,
  origin: string,
): Promise<ReportRow> {
  const { page, close } = await browser.open(origin);
  let bytes = 0;
  page.on("response", async (response) => {
    const { responseBodySize, responseHeadersSize } = await response.request().sizes();
    bytes += responseBodySize + responseHeadersSize;
  });
  await page.goto(origin, { waitUntil: "networkidle" });
  await close();
  return createValueRow({
    part: PART,
    what: "first load, compressed",
    unit: "kB",
    value: bytes / 1000,
    target: lessThan(100),
  });
}

async function prepareDatabase(workspace: Workspace): Promise<BenchDatabase> {
  const store = await createBenchDatabase(workspace, "pages");
  const end = Date.now() - HOUR_MS;
  await seedChannels(workspace, store, CHANNELS, HISTORIES, end);
  const settings = databaseSettings(store.file);
  const channels = await workspace.run(verbCommand("export", "--kind", "channel"), { settings });
  const channel = findChannel(channels, "Channel1");
  const start = end - SHORT_HOURS * HOUR_MS;
  const lines = Array.from({ length: POINTS }, (_, nth) =>
    JSON.stringify({
      kind: "short",
      id: "busy",
      channel,
      title: "Seven minute soup",
      publishedAt: new Date(start).toISOString(),
      observedAt: new Date(start + (nth + 1) * ((SHORT_HOURS / POINTS) * HOUR_MS)).toISOString(),
      views: Math.floor(1_000_000 * (1 - Math.exp(-nth / 3000))),
      likes: 3 * nth,
    }),
  );
  const file = join(workspace.folder, "pages.ndjson");
  await Bun.write(file, lines.join("\n"));
  await workspace.run(verbCommand("import", file), { settings });
  return store;
}

/** The identifier of a channel in exported lines. */
function findChannel(lines: string, username: string): unknown {
  const line = lines.split("\n").find((text) => text.includes(`"username":"${username}"`));
  if (line === undefined) throw new Error(`${username} is not in the database`);
  return Reflect.get(Object(JSON.parse(line)), "id");
}
