/**
 * Clients that do not read their responses: they share the bytes of a body, and the memory for all
 * of them has a bound. SLOW_READERS=500 is the long form.
 */
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../../support/processes/command-line.ts";
import {
  createLongPageLines,
  openSlowClient,
  readPeakMemoryMib,
  type SlowClient,
} from "../../support/network/slow-client.ts";
import { waitUntil } from "../../support/wait.ts";

const CLIENTS = Number(process.env["SLOW_READERS"] ?? 100);
const IS_LONG = CLIENTS > 100;
/** Clients that read the largest page. */
const PAGE_CLIENTS = IS_LONG ? 200 : CLIENTS;
/** Clients that each read a page of their own: more than there is room for. */
const DISTINCT_CLIENTS = IS_LONG ? 100 : 25;
const MEMORY_MAX_MIB = 300;
/** The bound of bodies and of the garbage that rendering long pages leaves. */
const DISTINCT_MAX_MIB = 600;
const LONG_PAGE = "/api/microblog/longwinded/tweets?days=14&limit=100";
const VIEWER_SCRIPT = "/swagger/reference.js";
const DETAILS = "/api/microblog/longwinded/details";
const TIMEOUT_MS = 240_000;

let sandbox: Sandbox;
let key: string;
let service: Awaited<ReturnType<Sandbox["serve"]>>;
let clients: SlowClient[];

beforeAll(async () => {
  sandbox = await openSandbox({ DURABILITY: "process", LOG_LEVEL: "error" });
  await sandbox.runOrThrow("import", await sandbox.write("page.ndjson", createLongPageLines()));
  await sandbox.runOrThrow("accounts", "create", "a", "--credits", "1000000");
  key = (await sandbox.runOrThrow("keys", "create", "a")).trim();
}, TIMEOUT_MS);
afterAll(() => sandbox.close());

beforeEach(async () => {
  clients = [];
  service = await sandbox.serve();
});
afterEach(async () => {
  for (const reader of clients) reader.disconnect();
  await service.stop();
}, TIMEOUT_MS);

/** Opens one slow client for each path. */
async function openClients(paths: readonly string[]): Promise<SlowClient[]> {
  const headers = `X-API-Key: ${key}\r\n`;
  const opened = await Promise.all(paths.map((path) => openSlowClient(service.url, path, headers)));
  clients.push(...opened);
  return opened;
}

const fetchWithKey = (path: string) =>
  fetch(`${service.url}${path}`, { headers: { "x-api-key": key } });

/** The 99th percentile of the durations of fast requests. */
async function measureP99Ms(requests = 2000): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < requests; index++) {
    const started = performance.now();
    const response = await fetchWithKey(DETAILS);
    await response.arrayBuffer();
    times.push(performance.now() - started);
    expect(response.status).toBe(200);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(requests * 0.99)] ?? NaN;
}

const collectStatuses = (all: readonly SlowClient[]) => new Set(all.map(({ status }) => status));

/** Checks the memory; the long form prints the measurement. */
async function expectMemoryBounded(
  what: string,
  p99WithoutMs: number,
  maxMib = MEMORY_MAX_MIB,
): Promise<void> {
  const peakMib = await readPeakMemoryMib(service.child.pid);
  const p99WithMs = IS_LONG ? await measureP99Ms() : 0;
  if (IS_LONG) {
    console.log(
      `${what}: VmHWM ${peakMib.toFixed(0)} MiB; p99 of good requests ` +
        `${p99WithMs.toFixed(2)} ms, without ${p99WithoutMs.toFixed(2)} ms`,
    );
  }
  expect(peakMib).toBeLessThan(maxMib);
}

describe("clients that do not read", () => {
  test(
    "GET /swagger/reference.js: they share the script",
    async () => {
      const without = IS_LONG ? await measureP99Ms() : 0;
      const all = await openClients(Array.from({ length: CLIENTS }, () => VIEWER_SCRIPT));
      expect(collectStatuses(all)).toEqual(new Set([200]));
      await expectMemoryBounded(`${CLIENTS} readers of the script`, without);
      const whole = await (await fetch(service.url + VIEWER_SCRIPT)).arrayBuffer();
      const [head, rest] = splitHead(await all[0]?.readRemaining());
      expect(head).toContain(`Content-Length: ${whole.byteLength}`);
      expect(rest.equals(Buffer.from(whole))).toBe(true);
    },
    TIMEOUT_MS,
  );

  test(
    "200: they share a long page, and each gets all of it",
    async () => {
      const without = IS_LONG ? await measureP99Ms() : 0;
      const all = await openClients(Array.from({ length: PAGE_CLIENTS }, () => LONG_PAGE));
      expect(collectStatuses(all)).toEqual(new Set([200]));
      await expectMemoryBounded(`${PAGE_CLIENTS} readers of a page of 6.5 MB`, without);
      const whole = Buffer.from(await (await fetchWithKey(LONG_PAGE)).arrayBuffer());
      expect(whole.byteLength).toBeGreaterThan(6_000_000);
      for (const reader of all.slice(0, 5)) {
        const [, rest] = splitHead(await reader.readRemaining());
        expect(decodeChunked(rest).equals(whole)).toBe(true);
      }
    },
    TIMEOUT_MS,
  );

  test(
    "503: a long page over the bound, free of charge",
    async () => {
      const without = IS_LONG ? await measureP99Ms() : 0;
      const balanceBefore = await fetchBalance();
      const paths = Array.from(
        { length: DISTINCT_CLIENTS },
        (_, index) => `${LONG_PAGE}&_=${index}`,
      );
      const all = await openClients(paths);
      expect(collectStatuses(all)).toEqual(new Set([200, 503]));
      const refused = all.filter(({ status }) => status === 503);
      for (const { head } of refused) {
        expect(head).toMatch(/^retry-after: 1$/im);
        expect(head).not.toMatch(/^x-credits-cost:/im);
      }
      expect(await fetchBalance()).toBe(balanceBefore - (all.length - refused.length));
      await expectMemoryBounded(
        `${DISTINCT_CLIENTS} readers of a page of their own`,
        without,
        DISTINCT_MAX_MIB,
      );
      // Short responses are sent all the same, long ones once the slow clients are gone.
      expect((await fetchWithKey(DETAILS)).status).toBe(200);
      for (const reader of all) reader.disconnect();
      await waitUntil(async () => (await fetchWithKey(`${LONG_PAGE}&_=again`)).status === 200);
    },
    TIMEOUT_MS,
  );
});

async function fetchBalance(): Promise<number> {
  const response = await fetchWithKey("/api/account");
  return Number(Object(await response.json()).balance);
}

function splitHead(answer: Buffer = Buffer.alloc(0)): [head: string, rest: Buffer] {
  const end = answer.indexOf("\r\n\r\n");
  return [answer.toString("latin1", 0, end), answer.subarray(end + 4)];
}

/** Decodes a chunked body. */
function decodeChunked(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = body.indexOf("\r\n", at);
    const length = Number.parseInt(body.toString("latin1", at, lineEnd), 16);
    if (!(length > 0)) return Buffer.concat(pieces);
    pieces.push(body.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}
