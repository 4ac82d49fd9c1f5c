import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { createAccess } from "../support/store/access.ts";

/** A revoked key is refused by all processes after this time. */
const REVOKED_WITHIN_MS = 1000;

const CLIENTS = 4;

describe.skipIf(!hasSqld())("a key that another process revokes or replaces", () => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  let sandbox: Sandbox;
  let services: Awaited<ReturnType<Sandbox["serve"]>>[];
  beforeAll(async () => {
    server = await startSqld();
    sandbox = await openSandbox({ DATABASE_URL: server.url });
    services = [await sandbox.serve(), await sandbox.serve()];
  }, 60_000);
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await sandbox.close();
    await server.close();
  }, 60_000);

  async function read(service: number, key: string): Promise<number> {
    const response = await fetch(`${services[service]?.url}/api/video/channels`, {
      headers: { "x-api-key": key },
    });
    await response.arrayBuffer();
    return response.status;
  }

  const findKeyId = async (account: string, key: string) =>
    JSON.parse(await sandbox.runOrThrow("keys", "list", account, "--json")).find(
      (listed: { begins_with: string }) => key.startsWith(listed.begins_with),
    ).id;

  test.each(["revoke", "rotate"])(
    "GET /api/video/channels refuses it within a second after `keys %s`, in a busy and in an idle process",
    async (verb) => {
      const keys = await createAccess(server.url, { account: verb, credits: 100_000, keys: 2 });
      const [changed = "", kept = ""] = keys;
      expect([await read(0, changed), await read(1, changed)]).toEqual([200, 200]);
      const id = String(await findKeyId(verb, changed));
      const clientsEnd = new AbortController();
      let lastAcceptedAt = 0;
      const keptStatuses = new Set<number>();
      const runClient = async () => {
        while (!clientsEnd.signal.aborted) {
          const sentAt = performance.now();
          if ((await read(0, changed)) === 200) lastAcceptedAt = Math.max(lastAcceptedAt, sentAt);
          keptStatuses.add(await read(0, kept));
        }
      };
      const clients = Array.from({ length: CLIENTS }, runClient);
      await sandbox.runOrThrow("keys", verb, id, ...(verb === "rotate" ? ["--overlap", "0"] : []));
      const changedAt = performance.now();
      expect(lastAcceptedAt).toBeGreaterThan(0);
      await Bun.sleep(REVOKED_WITHIN_MS);
      // The first request of the idle process since then.
      expect(await read(1, changed)).toBe(401);
      expect(await read(0, changed)).toBe(401);
      clientsEnd.abort();
      await Promise.all(clients);
      expect(lastAcceptedAt - changedAt).toBeLessThan(REVOKED_WITHIN_MS);
      expect(keptStatuses).toEqual(new Set([200]));
      expect(await read(1, kept)).toBe(200);
    },
    60_000,
  );
});
