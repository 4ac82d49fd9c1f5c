/** Scheduled backups of two services that share two databases on a libSQL server. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkBackup } from "../../server/composition/backups/check-backup.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { startServices } from "../support/processes/services.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { waitUntil } from "../support/wait.ts";

/** How long it may take until another process goes on, and its first backup. */
const PASSED_ON_WITHIN_MS = 30_000;

const SERVICES = [0, 1];

describe.skipIf(!hasSqld())("scheduled backups of two services on a libSQL server", () => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  let sandbox: Sandbox;
  let cluster: Awaited<ReturnType<typeof startServices>>;
  let folder: string;
  beforeEach(async () => {
    server = await startSqld({ isSplit: true });
    folder = await mkdtemp(join(tmpdir(), "cluster-backups-"));
    const settings = { ENTITIES_URL: server.entitiesUrl, BACKUP_SCHEDULE: "* * * * * *" };
    sandbox = await openSandbox({ DATABASE_URL: server.url, ...settings });
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "7");
    const user = '{"kind":"user","observedAt":"2026-11-01","username":"a","followers_count":3}';
    await sandbox.runOrThrow("import", await sandbox.write("a.ndjson", user));
    cluster = await startServices(
      server.url,
      SERVICES.map((index) =>
        Object.assign({ BACKUP_FOLDER: join(folder, String(index)) }, settings),
      ),
    );
  }, 60_000);
  afterEach(async () => {
    await cluster.close();
    await sandbox.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  const listBackups = async (index: number) => {
    const names = await readdir(join(folder, String(index))).catch(() => []);
    return names.filter((name) => name.endsWith("Z.db"));
  };

  test("are made by one of them, of both databases, and by the other one when it is gone", async () => {
    let holder = -1;
    await waitUntil(async () => {
      holder = await cluster.findHolder("backup");
      return holder !== -1 && (await listBackups(holder)).length > 0;
    }, PASSED_ON_WITHIN_MS);
    const other = 1 - holder;
    expect(await listBackups(other)).toEqual([]);
    const metrics = await Promise.all(
      cluster.services.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
    );
    expect(metrics[holder]).toMatch(/^creator_metrics_backup_age_seconds \d/m);
    expect(metrics[other]).not.toMatch(/^creator_metrics_backup_age_seconds \d/m);
    await cluster.kill(holder);
    await waitUntil(async () => (await listBackups(other)).length > 0, PASSED_ON_WITHIN_MS);
    const [name = ""] = await listBackups(other);
    const counts = await checkBackup(join(folder, String(other), name));
    expect(counts).toMatchObject({ accounts: 1, granted: 7, user: 1 });
    await cluster.restart(holder);
  }, 120_000);
});
