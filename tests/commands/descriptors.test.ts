/** A service that has few file descriptors, as under `ulimit -n 64`. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { openPlace, type Place } from "../support/command.ts";
import { retryWithin } from "../support/retry.ts";

/** How many mixed requests are sent. */
const REQUESTS = Number(process.env["DESCRIPTOR_REQUESTS"] ?? 200);

const LIMIT = 64;
const CLIENTS = 40;
const TOKEN = "a-token-of-the-admin";

const underLimit = ["bash", "-c", `ulimit -n ${LIMIT} && exec "$@"`, "bash"];
const hasDescriptors = existsSync("/proc/self/fd") && Bun.which("bash") !== null;
if (!hasDescriptors) process.stderr.write("Skipped what counts file descriptors: it takes /proc\n");

let place: Place;
let key: string;
let service: Awaited<ReturnType<Place["serve"]>>;
beforeEach(async () => {
  place = await openPlace({ ADMIN_TOKEN: TOKEN });
  await place.must("accounts", "create", "acme", "--credits", "100000");
  key = (await place.must("keys", "create", "acme")).trim();
  service = await place.serve(underLimit);
});
afterEach(async () => {
  service.child.kill("SIGKILL");
  await place.close();
});

/** Lines that are read in a thread. */
const LINES = '{"kind":"user","observedAt":"2026-11-20","username":"a"}\n'.repeat(4000);

const ASKED: readonly (readonly [path: string, init?: RequestInit])[] = [
  ["/api/video/channels"],
  ["/admin/verification"],
  ["/api/microblog/a/details"],
  ["/metrics"],
  ["/api/video/nobody/details"],
  ["/readyz"],
  ["/api/microblog/a/tweets"],
  ["/swagger/reference.js"],
  ["/api/account"],
  ["/admin/observations", { method: "POST", body: LINES }],
  ["/admin/observations"],
  ["/api/creators"],
];

/** Sends a request on a connection of its own; counts what it cost. */
async function send(path: string, init: RequestInit = {}) {
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
      const [path, init] = ASKED[sent++ % ASKED.length] ?? ["/livez"];
      const answer = await send(path, init);
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

async function untilLogged(text: string): Promise<void> {
  for (const deadline = Date.now() + 25_000; !service.log().includes(text);) {
    if (Date.now() > deadline) throw new Error(`Not logged: ${text}\n${service.log()}`);
    await Bun.sleep(50);
  }
}

describe.skipIf(!hasDescriptors)(`serve with ${LIMIT} descriptors`, () => {
  test(
    "goes on while they are out, answers no 500, and charges what it answered",
    async () => {
      const held = await holdConnections(LIMIT);
      await untilLogged("File descriptors are out");
      // Some requests are accepted now; the others wait until a descriptor is free.
      held.release(LIMIT - 15);
      const during = await sendMixed(REQUESTS);
      expect(service.child.exitCode).toBeNull();
      expect([...during.statuses.keys()].filter((name) => / 5(?!03)/.test(name))).toEqual([]);
      held.release(15);
      await untilLogged("File descriptors are available again");
      const after = await sendMixed(ASKED.length);
      const refused = [...after.statuses.keys()].filter((name) => !/^(?:200|404)$/.test(name));
      expect(refused).toEqual([]);
      const { status, log } = await service.stop();
      const outages = log.match(/File descriptors are out/g)?.length;
      expect([status, log.match(/File descriptors are available/g)?.length]).toEqual([0, outages]);
      const [account] = JSON.parse(await place.must("accounts", "list", "--json"));
      expect(account.debited - account.refunded).toBe(during.cost + after.cost);
      await place.must("credits", "verify");
    },
    60_000 + REQUESTS * 100,
  );

  test("GET /admin/verification opens nothing that it does not close", async () => {
    await send("/admin/verification");
    const before = openDescriptors();
    const statuses: number[] = [];
    for (let call = 0; call < LIMIT * 2; call++) {
      statuses.push((await send("/admin/verification")).status);
    }
    expect(statuses).toEqual(statuses.map(() => 200));
    await expectNoneBesides(before);
  });

  test("opens all that requests need before the first one", async () => {
    const before = openDescriptors();
    for (const [path, init] of ASKED) await send(path, init);
    await expectNoneBesides(before);
  });
});

function openDescriptors(): number {
  return readdirSync(`/proc/${service.child.pid}/fd`).length;
}

/** The connection of an answered request may still be there for a while. */
async function expectNoneBesides(before: number): Promise<void> {
  await retryWithin(10_000, async () => expect(openDescriptors()).toBeLessThanOrEqual(before));
}
