/** Starts a real service with its own port and database, and a settable clock. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../server/config.ts";
import { openService } from "../../server/service.ts";
import type { ServiceLogger } from "../../server/log.ts";
import type { ImportResult } from "../../core/stores.ts";
import { createOpenApiValidator } from "./openapi-contract.ts";
import { refreshAllFigures } from "./store/figures.ts";
import { createTestDatabase } from "./processes/test-databases.ts";

/** The check against the OpenAPI document, which all services of a test file share. */
let sharedContract: Promise<ReturnType<typeof createOpenApiValidator>> | undefined;

async function loadContract(address: string) {
  const response = await fetch(`${address}/swagger/json`);
  return createOpenApiValidator(await response.json());
}

/** The initial time of the clock. */
export const NOW = Date.parse("2026-11-20T12:00:00.000Z");

/**
 * Starts a service, by default on a database of the kind that `TEST_DATABASE` names. `send()` and `get()` check each response against the OpenAPI document.
 *
 * @param log Receives the log records. By default they are dropped.
 * @param sourceClient Replaces the timers of the collectors.
 * @param pictureFetch Replaces what pictures may be fetched from.
 */
export async function startTestService(
  settings: Readonly<Record<string, string>> = {},
  log?: ServiceLogger,
  sourceClient?: Parameters<typeof openService>[0]["sourceClient"],
  pictureFetch?: Parameters<typeof openService>[0]["pictureFetch"],
) {
  const folder = await mkdtemp(join(tmpdir(), "service-"));
  const testDatabase =
    settings["DATABASE_URL"] === undefined ? await createTestDatabase(folder) : undefined;
  const clock = { now: NOW };
  const failures: unknown[] = [];
  const service = await openService({
    config: readConfig({
      DURABILITY: "process",
      // The links of test data lead to other machines.
      PICTURES: "off",
      ...testDatabase?.settings,
      SPOOL_FOLDER: join(folder, "spool"),
      BACKUP_FOLDER: join(folder, "backups"),
      ...settings,
    }),
    verb: "test",
    now: () => clock.now,
    sourceClient,
    pictureFetch,
    log: {
      ...log,
      failure(error, requestId) {
        failures.push(error);
        log?.failure(error, requestId);
      },
      backgroundFailure(error, work) {
        failures.push(error);
        log?.backgroundFailure?.(error, work);
      },
    },
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: service.fetch,
  });
  const address = `http://127.0.0.1:${server.port}${service.pathPrefix}`;
  // The document does not depend on the settings, and takes as long to check as a service to open.
  const contract = await (sharedContract ??= loadContract(address));
  const admin = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const request = new Request(`http://localhost/admin/${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: body === undefined ? null : isRawBody(body) ? body : JSON.stringify(body),
    });
    const response = await service.owner.handle(request);
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  const importLines = async (lines: string | Uint8Array<ArrayBuffer>) =>
    (await admin("POST", "observations", lines)) as ImportResult;
  const fieldOf = (value: unknown, name: string): unknown =>
    typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  let accounts = 0;
  const createAccountWithKey = async (credits?: number, options: object = {}) => {
    const account = `account ${++accounts}`;
    await admin("POST", "accounts", {
      name: account,
      ...(credits === undefined ? {} : { credits }),
    });
    const created = await admin("POST", "keys", { account, ...options });
    return { account, key: String(fieldOf(created, "key")) };
  };
  const access = await createAccountWithKey(1_000_000);
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`${address}${path}`, init);
    await contract.check({ method: init.method ?? "GET", path, response });
    return response;
  };
  return {
    /** The folder of the database. A test may put files there. */
    folder,
    address,
    clock,
    failures,
    service,
    key: access.key,
    admin,
    createAccountWithKey,
    send,
    /** Sends a GET with a key; by default one with a million credits. */
    get: (path: string, key = access.key, init: RequestInit = {}) =>
      send(path, { ...init, headers: { "x-api-key": key, ...init.headers } }),
    /** Imports lines of observations. */
    importLines,
    /** Imports observations. */
    observe: (...observations: readonly object[]) =>
      importLines(observations.map((observation) => JSON.stringify(observation)).join("\n")),
    /** Computes the figures of lists, as a service does in the background soon after an import. */
    refreshFigures: () => refreshAllFigures(service.entities),
    /** Reads the sums of an account. */
    async readSums(account: string) {
      const all = await admin("GET", "accounts");
      const matchingRow = Array.isArray(all)
        ? all.find((row) => fieldOf(row, "name") === account)
        : undefined;
      return {
        balance: Number(fieldOf(matchingRow, "balance")),
        debited: Number(fieldOf(matchingRow, "debited")),
        refunded: Number(fieldOf(matchingRow, "refunded")),
      };
    },
    async close(): Promise<void> {
      await server.stop(true);
      await service.close();
      await testDatabase?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function isRawBody(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array;
}

/** A started service. */
export type TestService = Awaited<ReturnType<typeof startTestService>>;
