/** Scheduled backups of a service under load: each is restored, and shows one instant. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, linkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { startLoopingClients } from "../support/network/looping-clients.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { waitUntil } from "../support/wait.ts";

/** Without a number of minutes, a backup every second, and three of them. */
const MINUTES = Number(process.env["BACKUP_MINUTES"] ?? 0);
const BACKUPS = MINUTES || 3;
const SCHEDULE = MINUTES > 0 ? "* * * * *" : "* * * * * *";
const WITHIN_MS = 60_000 * (MINUTES + 2);

const TOKEN = "a-token-for-the-tests";
const CLIENTS = 8;
const CREDITS = 1_000_000;

let sandbox: Sandbox;
let backups: string;
beforeEach(async () => {
  sandbox = await openSandbox({
    BACKUP_SCHEDULE: SCHEDULE,
    BACKUP_FOLDER: "backups",
    ADMIN_TOKEN: TOKEN,
  });
  backups = join(sandbox.folder, "backups");
});
afterEach(() => sandbox.close());

/** Keeps a link to each new backup, because most of one day are deleted. */
async function linkBackups(folder: string): Promise<string[]> {
  for (const name of existsSync(backups) ? await readdir(backups) : []) {
    if (!name.endsWith("Z.db") || existsSync(join(folder, name))) continue;
    try {
      linkSync(join(backups, name), join(folder, name));
    } catch {
      // It was deleted meanwhile.
    }
  }
  return (await readdir(folder)).filter((name) => name.startsWith("scheduled-")).toSorted();
}

test(
  `each of ${BACKUPS} scheduled backups under load is one instant, and can be restored`,
  async () => {
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", String(CREDITS));
    const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
    await sandbox.runOrThrow("accounts", "create", "paying");
    const service = await sandbox.serve();
    const stopReads = startLoopingClients({
      clients: CLIENTS,
      pauseMs: 5,
      createRequest: () => ({ url: `${service.url}/api/video/channels`, key }),
      onSample: ({ status }) => expect(status).toBe(200),
    });
    const post = async (path: string, body: string) => {
      const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const response = await fetch(`${service.url}/admin/${path}`, {
        method: "POST",
        headers,
        body,
      });
      expect([response.ok, response.ok ? "" : await response.text()]).toEqual([true, ""]);
    };
    const stopWrites = startWrites(post);
    let names: string[] = [];
    await waitUntil(async () => {
      names = await linkBackups(sandbox.folder);
      return names.length >= BACKUPS;
    }, WITHIN_MS);
    const written = await stopWrites();
    await stopReads();
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/^creator_metrics_backups_total\{result="failed"\} 0$/m);
    expect(
      Number(/^creator_metrics_backups_total\{result="ok"\} (\d+)$/m.exec(metrics)?.[1]),
    ).toBeGreaterThan(2);
    expect(metrics).toMatch(/^creator_metrics_backup_age_seconds \d/m);
    expect(metrics).toMatch(/^creator_metrics_backup_failing 0$/m);
    expect(metrics).toMatch(
      /^creator_metrics_backup_duration_seconds 0?\.\d|^creator_metrics_backup_duration_seconds \d/m,
    );
    expect(metrics).toMatch(/^creator_metrics_backup_size_bytes \d{6}/m);
    await service.stop();
    for (const name of names) await expectOneInstant(join(sandbox.folder, name), written);
  },
  WITHIN_MS * 2,
);

test("a service that stops leaves no failure of a backup in the making, and the next start tidies up", async () => {
  const listBackups = async () => (existsSync(backups) ? await readdir(backups) : []);
  const service = await sandbox.serve();
  await waitUntil(async () => (await listBackups()).some((name) => name.includes(".part")));
  const { status, log } = await service.stop();
  expect([status, log]).toEqual([0, expect.not.stringContaining("A scheduled backup")]);
  const next = await sandbox.serve();
  await waitUntil(async () => {
    const names = await listBackups();
    return names.length > 0 && names.every((name) => name.endsWith("Z.db"));
  });
  expect((await next.stop()).log).not.toContain("A scheduled backup");
});

/** Imports a user, then grants a credit, again and again. @returns Stops, and tells how often. */
function startWrites(post: (path: string, body: string) => Promise<void>) {
  const stopping = new AbortController();
  let count = 0;
  const writing = (async () => {
    while (!stopping.signal.aborted) {
      const observedAt = "2026-11-01T00:00:00Z";
      await post(
        "observations",
        JSON.stringify({ kind: "user", observedAt, username: `u${count}`, followers_count: count }),
      );
      await post("grants", JSON.stringify({ account: "paying", amount: 1 }));
      count++;
      await Bun.sleep(5);
    }
  })();
  return async () => {
    stopping.abort();
    await writing;
    return count;
  };
}

/** Restores a backup: its ledger is right, and each user but the last one had its grant. */
async function expectOneInstant(backup: string, written: number): Promise<void> {
  const restored = await openSandbox();
  const { status, out, err } = await restored.runInside(["restore", backup, "--json"]);
  expect([status, err]).toEqual([0, ""]);
  expect((await restored.runInside(["credits", "verify"])).status).toBe(0);
  const { users, credits_granted: granted } = JSON.parse(out).restored;
  const grants = granted - CREDITS;
  expect([users, users - 1]).toContain(grants);
  expect(users).toBeLessThanOrEqual(written + 1);
  const kinds = JSON.parse(await restored.runOrThrow("status", "--json")).kinds;
  expect(kinds).toContainEqual(expect.objectContaining({ kind: "user", entities: users }));
  await restored.close();
}
