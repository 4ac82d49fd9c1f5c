/** Sessions of administrators, and rotations of own keys, in several processes on one server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { createAccess } from "../support/store/access.ts";

const ADMIN_TOKEN = "the-token-of-the-administrator";

/** An ended session is refused by all processes after this time. */
const ENDED_WITHIN_MS = 1000;

type Service = Awaited<ReturnType<Sandbox["serve"]>>;

describe.skipIf(!hasSqld())("several processes on a server", () => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  let sandbox: Sandbox;
  /** It has another ADMIN_TOKEN. */
  let otherSandbox: Sandbox;
  let services: Service[];
  beforeAll(async () => {
    server = await startSqld();
    const settings = { DATABASE_URL: server.url, COLLECT: "off" };
    sandbox = await openSandbox({ ...settings, ADMIN_TOKEN });
    otherSandbox = await openSandbox({ ...settings, ADMIN_TOKEN: "another-token-of-theirs" });
    services = [await sandbox.serve(), await sandbox.serve(), await otherSandbox.serve()];
  }, 60_000);
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await sandbox.close();
    await otherSandbox.close();
    await server.close();
  }, 60_000);

  const send = (
    service: number,
    path: string,
    headers: Record<string, string>,
    method = "GET",
    body = "",
  ) => fetch(`${services[service]?.url}${path}`, { method, headers, ...(body !== "" && { body }) });

  async function openSession(service: number, token = ADMIN_TOKEN): Promise<string> {
    const headers = { authorization: `Bearer ${token}` };
    return Object(await (await send(service, "/admin/sessions", headers, "POST")).json()).session;
  }

  async function readStatus(service: number, key: string): Promise<number> {
    const response = await send(service, "/api/video/channels", { "x-api-key": key });
    await response.arrayBuffer();
    return response.status;
  }

  test("take a session at once after POST /admin/sessions of any of them, and not for long after its end", async () => {
    for (let nth = 0; nth < 20; nth++) {
      const session = await openSession(nth % 2);
      expect([await readStatus(1, session), await readStatus(0, session)]).toEqual([200, 200]);
      if (nth % 5 > 0) continue;
      await send(0, "/api/session", { "x-api-key": session }, "DELETE");
      await Bun.sleep(ENDED_WITHIN_MS);
      expect([await readStatus(0, session), await readStatus(1, session)]).toEqual([401, 401]);
    }
  }, 60_000);

  test("show in a session what another process imported before the request", async () => {
    const session = await openSession(0);
    for (let subscribers = 1; subscribers <= 10; subscribers++) {
      const observedAt = new Date(Date.now() - 60_000 + subscribers).toISOString();
      const line = JSON.stringify({ kind: "channel", observedAt, id: "UC1", subscribers });
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      expect((await send(1, "/admin/observations", headers, "POST", line)).status).toBe(200);
      const response = await send(0, "/api/video/UC1/details", { "x-api-key": session });
      expect(Object(await response.json()).subscribers).toBe(subscribers);
    }
  }, 60_000);

  test("take a session after a restart, but none of another ADMIN_TOKEN", async () => {
    const session = await openSession(0);
    expect(await readStatus(2, session)).toBe(401);
    await services[1]?.stop();
    services[1] = await sandbox.serve();
    expect(await readStatus(1, session)).toBe(200);
    const token = (await sandbox.runOrThrow("tokens", "create", "ann")).trim();
    const named = await openSession(2, token);
    expect([await readStatus(0, named), await readStatus(2, named)]).toEqual([200, 200]);
    await sandbox.runOrThrow("tokens", "revoke", "ann");
    await Bun.sleep(ENDED_WITHIN_MS);
    expect([await readStatus(0, named), await readStatus(2, named)]).toEqual([401, 401]);
    expect(await readStatus(0, session)).toBe(200);
  }, 60_000);

  test("make one key of POST /api/account/keys/rotate that all get at once", async () => {
    const [key = ""] = await createAccess(server.url, { account: "acme", credits: 100 });
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const responses = await Promise.all(
      [0, 1, 2, 0, 1, 2].map((service) =>
        send(service, "/api/account/keys/rotate", headers, "POST", "{}"),
      ),
    );
    const statuses = responses.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([201, 409, 409, 409, 409, 409]);
    const listed = JSON.parse(await sandbox.runOrThrow("keys", "list", "acme", "--json"));
    expect(listed).toHaveLength(2);
  }, 60_000);
});
