/** The command `doctor` on installations in which nothing is broken. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openSandbox, type Sandbox } from "../../support/processes/command-line.ts";
import {
  diagnose,
  listFindings,
  prepareInstallations,
} from "../../support/processes/installation.ts";

let installations: Awaited<ReturnType<typeof prepareInstallations>>;
let sandbox: Sandbox;
beforeAll(async () => {
  installations = await prepareInstallations();
});
beforeEach(async () => {
  sandbox = await installations.open();
});
afterEach(() => installations.clear());
afterAll(() => installations.close());

/** All files with the times of their changes, but those of the runtime. */
async function listFiles(folder: string) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name[0] !== ".");
  const stats = await Promise.all(names.map((name) => stat(join(folder, name))));
  return names.map((name, index) => `${name} ${stats[index]?.mtimeMs}`).toSorted();
}

describe("doctor finds nothing, and its exit status is 0", () => {
  test("while the service is down; it changes no file", async () => {
    const before = await listFiles(sandbox.folder);
    const result = await sandbox.run(["doctor", "--json", "--integrity"]);
    expect([listFindings(result), result.status]).toEqual([[], 0]);
    expect(result.out).toContain('"integrity": "ok; the ledger is right"');
    expect(await listFiles(sandbox.folder)).toEqual(before);
  });

  test("while the service runs", async () => {
    const service = await sandbox.serve();
    const result = await sandbox.run(["doctor", "--json", "--integrity"]);
    expect([listFindings(result), result.status]).toEqual([[], 0]);
    expect(result.out).toContain('"integrity": "ok; the ledger is right"');
    expect(result.out).toContain(`(serve) at ${service.url} since `);
    await service.stop();
  });

  test("of a service that was killed, whose changes are in its write-ahead log", async () => {
    const service = await sandbox.serve();
    await sandbox.runOrThrow("accounts", "create", "globex");
    await service.stop("SIGKILL");
    const result = await diagnose(sandbox);
    expect([listFindings(result), result.status]).toEqual([[], 0]);
  });

  test("but hints, on a place without a database and without backups", async () => {
    const empty = await openSandbox();
    const result = await diagnose(empty);
    expect(listFindings(result)).toEqual([
      expect.stringMatching(/^hint database: There is no database .*metrics\.db -> serve makes/),
      expect.stringMatching(
        /^hint backups: There is no backup in .*, and none is scheduled -> set/,
      ),
    ]);
    expect(result.status).toBe(0);
    expect(await listFiles(empty.folder)).toEqual([]);
    await empty.close();
  });
});

test("doctor shows where each setting comes from, and no secret", async () => {
  const secrets = {
    ADMIN_TOKEN: "0123456789-of-the-admin",
    DATABASE_AUTH_TOKEN: "of-the-database",
    WEBHOOK_SECRET: `whsec_${"B".repeat(32)}`,
    WEBHOOK_URL: "https://hooks.example/of-the-receiver",
    X_BEARER_TOKEN: "of-the-platform",
  };
  const opened = await installations.open(secrets);
  await opened.write(".env", 'export RETENTION="tweet=90d"\nYOUTUBE_API_KEY=of-the-file\n');
  const { out, status } = await opened.run(["doctor"]);
  const page = out.replaceAll(/ +/g, " ");
  for (const line of [
    "settings PORT 0 (environment)",
    "RETENTION tweet=90d (.env)",
    "YOUTUBE_API_KEY set (.env)",
    "ADMIN_TOKEN set (environment)",
    "WEBHOOK_URL https://hooks.example/… (environment)",
    "default HOST, ",
  ]) {
    expect(page).toContain(line);
  }
  for (const secret of ["of-the", secrets.WEBHOOK_SECRET]) expect(out).not.toContain(secret);
  expect(status).toBe(0);
});
