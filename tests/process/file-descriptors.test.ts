/** A service that has few file descriptors, as under `ulimit -n 64`. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { retryWithin, waitUntil } from "../support/wait.ts";

/** How many mixed requests are sent. */
const REQUEST_COUNT = Number(process.env["DESCRIPTOR_REQUESTS"] ?? 200);

const DESCRIPTOR_LIMIT = 64;
const CLIENTS = 40;
const TOKEN = "a-token-of-the-admin";

const limitCommand = ["bash", "-c", `ulimit -n ${DESCRIPTOR_LIMIT} && exec "$@"`, "bash"];
const hasProcFd = existsSync("/proc/self/fd") && Bun.which("bash") !== null;
if (!hasProcFd) process.stderr.write("Skipped what counts file descriptors: it takes /proc\n");

let sandbox: Sandbox;
let key: string;
let service: Awaited<ReturnType<Sandbox["serve"]>>;
beforeEach(async () => {
  sandbox = await openSandbox({ ADMIN_TOKEN: TOKEN });
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "100000");
  key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
  service = await sandbox.serve(limitCommand);
});
afterEach(async () => {
  service.child.kill("SIGKILL");
  await sandbox.close();
});

/** Lines that are read in a thread. */
const OBSERVATION_LINES = '{"kind":"user","observedAt":"2026-11-20","username":"a"}\n'.repeat(4000);

const MIXED_REQUESTS: readonly (readonly [path: string, init?: RequestInit])[] = [
  ["/api/video/channels"],
  ["/admin/verification"],
  ["/api/microblog/a/details"],
  ["/metrics"],
  ["/api/video/nobody/details"],
  ["/readyz"],
  ["/api/microblog/a/tweets"],
  ["/swagger/reference.js"],
  ["/api/account"],
  ["/admin/observations", { method: "POST", body: OBSERVATION_LINES }],
  ["/admin/observations"],
  ["/api/creators"],
];

/** Sends a request on a connection of its own; counts what it cost. */
async function sendRequest(path: string, init: RequestInit = {}) {
  const response = await fetch(service.url + path, {
    ...init,
    keepalive: false,
    headers: path.startsWith("/admin")
      ? { authorization: `Bearer ${TOKEN}` }
      : { "x-api-key": key },
  });
  await response.arrayBuffer();
  return { status: response.status, cost: Number(response.headers.get("x-credits-cost") ?? 0) };
}

/** Sends mixed requests by many clients at once; sums what they cost and counts the statuses. */
async function sendMixed(count: number) {
  const statuses = new Map<string, number>();
  let cost = 0;
  let sent = 0;
  const client = async () => {
    while (sent < count) {
      const [path, init] = MIXED_REQUESTS[sent++ % MIXED_REQUESTS.length] ?? ["/livez"];
      const answer = await sendRequest(path, init);
      cost += answer.cost;
      const name = `${answer.status >= 500 ? `${path} ` : ""}${answer.status}`;
      statuses.set(name, (statuses.get(name) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { cost, statuses };
}

/** Opens connections whose requests never end; each that is accepted takes a descriptor. */
async function holdConnections(count: number) {
  const { hostname, port } = new URL(service.url);
  const socket = { open: (opened: Bun.Socket) => void opened.write("GET /livez "), data() {} };
  const held = await Promise.all(
    Array.from({ length: count }, () => Bun.connect({ hostname, port: Number(port), socket })),
  );
  return { release: (released: number) => held.splice(0, released).forEach((one) => one.end()) };
}

async function waitForLog(text: string): Promise<void> {
  await waitUntil(() => service.log().includes(text), 25_000);
}

describe.skipIf(!hasProcFd)(`serve with ${DESCRIPTOR_LIMIT} descriptors`, () => {
  test(
    "goes on when they run out: it answers no 500, and charges what it answered",
    async () => {
      const held = await holdConnections(DESCRIPTOR_LIMIT);
      await waitForLog("File descriptors are out");
      // Some requests are accepted now; the others wait until a descriptor is free.
      held.release(DESCRIPTOR_LIMIT - 15);
      const during = await sendMixed(REQUEST_COUNT);
      expect(service.child.exitCode).toBeNull();
      expect([...during.statuses.keys()].filter((name) => / 5(?!03)/.test(name))).toEqual([]);
      held.release(15);
      await waitForLog("File descriptors are available again");
      const after = await sendMixed(MIXED_REQUESTS.length);
      const refused = [...after.statuses.keys()].filter((name) => !/^(?:200|404)$/.test(name));
      expect(refused).toEqual([]);
      const { status, log } = await service.stop();
      const outages = log.match(/File descriptors are out/g)?.length;
      expect([status, log.match(/File descriptors are available/g)?.length]).toEqual([0, outages]);
      const [account] = JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"));
      expect(account.debited - account.refunded).toBe(during.cost + after.cost);
      await sandbox.runOrThrow("credits", "verify");
    },
    60_000 + REQUEST_COUNT * 100,
  );

  test("GET /admin/verification closes what it opens", async () => {
    await sendRequest("/admin/verification");
    const before = countDescriptors();
    const statuses: number[] = [];
    for (let call = 0; call < DESCRIPTOR_LIMIT * 2; call++) {
      statuses.push((await sendRequest("/admin/verification")).status);
    }
    expect(statuses).toEqual(statuses.map(() => 200));
    await expectNoNewDescriptors(before);
  });

  test("opens all that requests need before the first one", async () => {
    const before = countDescriptors();
    for (const [path, init] of MIXED_REQUESTS) await sendRequest(path, init);
    await expectNoNewDescriptors(before);
  });
});

function countDescriptors(): number {
  return readdirSync(`/proc/${service.child.pid}/fd`).length;
}

/** The connection of an answered request may still be there for a while. */
async function expectNoNewDescriptors(before: number): Promise<void> {
  await retryWithin(10_000, async () => expect(countDescriptors()).toBeLessThanOrEqual(before));
}
