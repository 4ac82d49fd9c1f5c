/**
 * SIGTERM under load: what was sent before it is answered whole, and what is charged was answered.
 * STOP_ROUNDS=50 is the long form.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import {
  openKeepAliveClient,
  type RequestOutcome,
  type KeepAliveClient,
} from "../support/network/keep-alive-client.ts";
import {
  createLongPageLines,
  openSlowClient,
  type SlowClient,
} from "../support/network/slow-client.ts";

const ROUNDS = Number(process.env["STOP_ROUNDS"] ?? 2);
/** Clients that send one request after the other. */
const BUSY_CLIENTS = 32;
/** Clients whose connections are idle until just before the signal, or just after it. */
const IDLE_CLIENTS = 16;
const SLOW_READERS = 20;
const LONG_PAGE = "/api/microblog/longwinded/tweets?days=14&limit=100";
const DETAILS = "/api/microblog/longwinded/details";
const CHANNELS = "/api/video/channels";
const PAGE_MIN_BYTES = 6_000_000;
/** The drain, and what comes after it. */
const EXIT_MAX_MS = 11_000;
const TIMEOUT_MS = 60_000 * ROUNDS;

let sandbox: Sandbox;
let headers: string;
beforeAll(async () => {
  sandbox = await openSandbox({ DURABILITY: "process", LOG_LEVEL: "error" });
  await sandbox.runOrThrow("import", await sandbox.write("page.ndjson", createLongPageLines()));
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "100000000");
  headers = `X-API-Key: ${(await sandbox.runOrThrow("keys", "create", "acme")).trim()}\r\n`;
}, TIMEOUT_MS);
afterAll(() => sandbox.close());

/** Sends one request on a connection of its own. */
async function sendOnce(
  url: string,
  path: string,
  requestHeaders: string,
): Promise<RequestOutcome> {
  const client = await openKeepAliveClient(url);
  const ended = await client.send(path, requestHeaders);
  client.close();
  return ended;
}

/** Sends requests until the connection ends, and gives how each ended. */
async function keepBusy(
  client: KeepAliveClient,
  index: number,
  outcomes: RequestOutcome[],
): Promise<void> {
  const paths = [CHANNELS, DETAILS, `/api/video/nobody-${index}/details`];
  for (let sent = 0; client.isOpen(); sent++) {
    const end = await client.send(paths[sent % paths.length] ?? "", headers);
    outcomes.push(end);
    if (end.hasConnectionClose) return;
  }
}

/** The body of a slow reader's answer, which comes in chunks. */
async function readChunkedBody(reader: SlowClient): Promise<string> {
  const [, ...rest] = (await reader.readRemaining()).toString("latin1").split("\r\n\r\n");
  let chunked = rest.join("\r\n\r\n");
  let body = "";
  for (;;) {
    const lineEnd = chunked.indexOf("\r\n");
    const size = Number.parseInt(chunked.slice(0, lineEnd), 16);
    const chunk = chunked.slice(lineEnd + 2, lineEnd + 2 + size);
    if (Number.isNaN(size) || chunk.length < size) throw new Error("The answer was cut");
    if (size === 0) return body;
    body += chunk;
    chunked = chunked.slice(lineEnd + 4 + size);
  }
}

/** What the account was charged in all. */
async function readChargedCredits(): Promise<number> {
  const [account] = JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"));
  return account.debited - account.refunded;
}

const countCharged = (ended: readonly RequestOutcome[]) =>
  ended.filter(({ status }) => status === 200 || status === 404).length;

test("serve sends all of a 6.5 MB page to a slow reader after SIGTERM", async () => {
  const service = await sandbox.serve();
  const reader = await openSlowClient(service.url, LONG_PAGE, headers);
  service.child.kill();
  await Bun.sleep(3000);
  const body = await readChunkedBody(reader);
  expect(body.length).toBeGreaterThan(PAGE_MIN_BYTES);
  expect(Object.keys(JSON.parse(body).tweets)).toHaveLength(100);
  expect(await service.child.exited).toBe(0);
}, 60_000);

test("serve closes the connection of every request that it answers after SIGTERM", async () => {
  const service = await sandbox.serve();
  const { text: first } = await sendOnce(service.url, DETAILS, headers);
  const [, etag = ""] = /^etag: (.*)\r$/im.exec(first) ?? [];
  const requests: [path: string, status: number, headers?: string][] = [
    ["/livez", 200],
    ["/readyz", 503],
    ["/metrics", 200],
    ["/swagger", 200],
    ["/swagger/json", 200],
    ["/swagger/reference.js", 200],
    ["/nothing", 404],
    [DETAILS, 401],
    [DETAILS, 200, headers],
    [DETAILS, 304, `${headers}If-None-Match: ${etag}\r\n`],
    ["/api/video/nobody/details", 404, headers],
    ["/api/creators", 200, headers],
  ];
  const clients = await Promise.all(requests.map(() => openKeepAliveClient(service.url)));
  for (const client of clients)
    expect((await client.send("/livez")).hasConnectionClose).toBe(false);
  service.child.kill();
  // The signal is there before what is sent now.
  await Bun.sleep(50);
  const ended = await Promise.all(
    requests.map(([path, , sent], index) => clients[index]?.send(path, sent)),
  );
  expect(
    ended.map((end, index) => [requests[index]?.[0], end?.status, end?.hasConnectionClose]),
  ).toEqual(requests.map(([path, status]) => [path, status, true]));
  expect(ended[1]?.text).toContain("The service is stopping");
  expect(ended[1]?.text).toMatch(/^retry-after: 1\r$/im);
  expect(await service.child.exited).toBe(0);
  expect(clients.map((client) => client.isOpen())).toEqual(clients.map(() => false));
}, 60_000);

/** One round; gives how many answers were charged. */
async function stopUnderLoad(): Promise<number> {
  const service = await sandbox.serve();
  const readers = await Promise.all(
    Array.from({ length: SLOW_READERS }, () => openSlowClient(service.url, LONG_PAGE, headers)),
  );
  const open = (count: number) =>
    Promise.all(Array.from({ length: count }, () => openKeepAliveClient(service.url)));
  const [busy, idle, late] = await Promise.all([
    open(BUSY_CLIENTS),
    open(IDLE_CLIENTS),
    open(IDLE_CLIENTS),
  ]);
  const outcomes: RequestOutcome[] = [];
  for (const client of [...idle, ...late]) outcomes.push(await client.send(CHANNELS, headers));
  const busyWork = busy.map((client, index) => keepBusy(client, index, outcomes));
  await Bun.sleep(200 + Math.random() * 100);
  const before = idle.map((client) => client.send(CHANNELS, headers));
  service.child.kill();
  const signalledAt = performance.now();
  await Bun.sleep(100);
  const after = late.map((client) => client.send(CHANNELS, headers));
  const others = await Promise.all([...before, ...after]);
  expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
  await Promise.all(busyWork);
  const bodies = await Promise.all(readers.map(readChunkedBody));
  expect(bodies.every((body) => body.length > PAGE_MIN_BYTES)).toBe(true);
  expect(await service.child.exited).toBe(0);
  expect(performance.now() - signalledAt).toBeLessThan(EXIT_MAX_MS);
  outcomes.push(...others);
  // Busy clients stop with an answer that says so; none is reset before.
  expect(outcomes.filter(({ status }) => status !== 200 && status !== 404)).toEqual([]);
  for (const client of [...busy, ...idle, ...late]) client.close();
  return countCharged(outcomes) + readers.length;
}

test(
  `${ROUNDS} times SIGTERM under ${BUSY_CLIENTS} clients and ${SLOW_READERS} slow readers: no request is reset, no answer cut, and charged is what was answered`,
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const charged = await readChargedCredits();
      const answered = await stopUnderLoad();
      expect((await readChargedCredits()) - charged).toBe(answered);
    }
    await sandbox.runOrThrow("credits", "verify");
  },
  TIMEOUT_MS,
);
