/** The command `doctor` on installations that are really broken, each in one way. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chmod, chown, copyFile, link, mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { HOUR_MS } from "../../../core/time.ts";
import { hashDatabaseUrl } from "../../../server/composition/backups/database-id.ts";
import { formatBackupName } from "../../../server/composition/backups/kept-backups.ts";
import { startSilentServer } from "../../support/network/silent-server.ts";
import { createClockSettings } from "../../support/processes/clock-preload.ts";
import {
  openSandbox,
  type CommandResult,
  type Sandbox,
} from "../../support/processes/command-line.ts";
import {
  changeDatabase,
  diagnose,
  listFindings,
  prepareInstallations,
  writeBackup,
} from "../../support/processes/installation.ts";
import {
  buildReadOnlyCommand,
  buildSmallDiskCommand,
  hasMountNamespaces,
} from "../../support/processes/small-disk.ts";
import { hasSqld, startSqld } from "../../support/processes/sqld.ts";
import { waitUntil } from "../../support/wait.ts";

const OTHER_USER_ID = 65_534;
const IS_ROOT = process.getuid?.() === 0;
if (!IS_ROOT) process.stderr.write("Skipped what belongs to another user: it takes root\n");
const CAN_MOUNT = hasMountNamespaces();

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

/** Expects one problem, nothing else, and the exit status 1. */
function expectProblem(result: CommandResult, expected: RegExp): void {
  expect(listFindings(result)).toEqual([expect.stringMatching(expected)]);
  expect(result.status).toBe(1);
  expect(result.err).toContain("1 problem found");
}

describe("doctor names what is broken and what to do, and its exit status is 1", () => {
  test("a wrong setting, without the value of a secret", async () => {
    const opened = await installations.open({ PORT: "99999", ADMIN_TOKEN: "secret" });
    const result = await diagnose(opened);
    expect(listFindings(result)).toEqual([
      expect.stringMatching(
        /^problem settings: PORT must be a whole number .*, got "99999" -> set it to what is allowed/,
      ),
      expect.stringMatching(/^problem settings: ADMIN_TOKEN must be .*, got something else -> /),
    ]);
    expect([result.status, result.out.includes('secret"')]).toEqual([1, false]);
  });

  test("a database that other users can read", async () => {
    await chmod(sandbox.file, 0o644);
    expectProblem(
      await diagnose(sandbox),
      /^problem permissions: Other users may use (\S+metrics\.db) \(mode 0644\) -> chmod 600 \1$/,
    );
    expect((await stat(sandbox.file)).mode & 0o777).toBe(0o644);
  });

  test.skipIf(!IS_ROOT)("a file of another user", async () => {
    await sandbox.write("metrics.db-lock", "");
    await chmod(`${sandbox.file}-lock`, 0o600);
    const { folder, file } = sandbox;
    for (const path of [folder, join(folder, "backups"), file]) {
      await chown(path, OTHER_USER_ID, OTHER_USER_ID);
    }
    expectProblem(
      await diagnose(sandbox),
      /^problem permissions: The service runs as user 65534, .*: \S+-lock \(user 0\) -> as root: chown 65534 \S+-lock$/,
    );
  });

  test.skipIf(!CAN_MOUNT)("a folder that cannot be written", async () => {
    await mkdir(join(sandbox.folder, "spool"));
    expectProblem(
      await diagnose(sandbox, buildReadOnlyCommand(join(sandbox.folder, "spool"))),
      /^problem permissions: The folder \S+\/spool of SPOOL_FOLDER cannot be written -> give it to the user/,
    );
  });

  test.skipIf(!CAN_MOUNT)("a full disk", async () => {
    const disk = join(sandbox.folder, "disk");
    await mkdir(disk);
    const opened = await installations.open({ DATABASE_URL: `file:${disk}/metrics.db` });
    const fill = ["sh", "-c", 'dd if=/dev/zero of="$0/full" bs=1k 2>/dev/null; exec "$@"', disk];
    expectProblem(
      await diagnose(opened, [...buildSmallDiskCommand(disk, sandbox.file), ...fill]),
      /^problem disk: The disk of \S+\/disk has only 0 bytes left -> free some space/,
    );
  });

  test("few file descriptors", async () => {
    expectProblem(
      await diagnose(sandbox, ["sh", "-c", 'ulimit -n 256; exec "$@"', "sh"]),
      /^problem limits: A process may have 256 file descriptors, .* -> raise the limit: LimitNOFILE/,
    );
  });

  test("a clock that is an hour behind", async () => {
    const opened = await installations.open(createClockSettings(-HOUR_MS));
    // By that clock, the backup of now is of a time to come.
    await writeBackup(opened, Date.now() - 2 * HOUR_MS);
    expectProblem(
      await diagnose(opened),
      /^problem clock: The newest entry .* is (?:59|60) minutes ahead of the clock, .* -> set the clock/,
    );
  });

  test("tables of a newer version", async () => {
    changeDatabase(
      sandbox,
      "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('a', 9999999999999)",
    );
    expectProblem(
      await diagnose(sandbox),
      /^problem database: A newer version of this service made the tables of this database; start that/,
    );
  });

  test.each([
    ["has no header", (bytes: Uint8Array) => bytes.fill(7, 0, 100)],
    ["has pages of zeros", (bytes: Uint8Array) => bytes.fill(0, 4096)],
  ])("a corrupted file, which %s", async (_, damage) => {
    const bytes = await Bun.file(sandbox.file).bytes();
    damage(bytes);
    await Bun.write(sandbox.file, bytes);
    expectProblem(
      await diagnose(sandbox),
      /^problem database: (?:file is not a database|database disk image is malformed) -> restore a backup/,
    );
  });

  test("a wrong ledger, with --integrity, while the service runs and afterwards", async () => {
    changeDatabase(sandbox, "UPDATE accounts SET granted = granted + 1, balance = balance + 1");
    const expected =
      /^problem database: The ledger is wrong: acme: the journal sums to 50 .* -> find out/;
    const service = await sandbox.serve();
    expectProblem(await sandbox.run(["doctor", "--integrity", "--json"]), expected);
    await service.stop();
    expectProblem(await sandbox.run(["doctor", "--integrity", "--json"]), expected);
    expect((await diagnose(sandbox)).status).toBe(0);
  });

  test("no backup for days", async () => {
    for (const name of await readdir(join(sandbox.folder, "backups"))) {
      await Bun.file(join(sandbox.folder, "backups", name)).delete();
    }
    expectProblem(
      await diagnose(sandbox),
      /^problem backups: There is no scheduled backup of this database in \S+\/backups -> let/,
    );
    // One of a clock that was ahead, and one of another database.
    await writeBackup(sandbox, Date.now() + 72 * HOUR_MS);
    await writeBackup(sandbox, Date.now() - HOUR_MS, "file:/elsewhere/a.db");
    expectProblem(
      await diagnose(sandbox),
      /^problem backups: There is no scheduled backup of this/,
    );
    await writeBackup(sandbox, Date.now() - 72 * HOUR_MS);
    expectProblem(
      await diagnose(sandbox),
      /^problem backups: The newest scheduled backup in .* is 3 days old; one was due at \S+ -> let/,
    );
  });

  test("no backup, but the database itself and other files in its folder, without a schedule", async () => {
    const opened = await openSandbox({ BACKUP_FOLDER: ".", SPOOL_FOLDER: "spool" });
    await copyFile(sandbox.file, opened.file);
    await link(opened.file, join(opened.folder, "linked.db"));
    await opened.write("text.db", "no database");
    const other = formatBackupName(hashDatabaseUrl("file:/elsewhere/a.db"), Date.now());
    await copyFile(sandbox.file, join(opened.folder, other));
    const ahead = join(opened.folder, "ahead.db");
    await copyFile(sandbox.file, ahead);
    const later = Date.now() / 1000 + 86_400;
    await utimes(ahead, later, later);
    const hint = /^hint backups: There is no backup in .*, and none is scheduled -> set/;
    expect(listFindings(await diagnose(opened))).toEqual([expect.stringMatching(hint)]);
    await copyFile(sandbox.file, join(opened.folder, "by-hand.db"));
    expect(listFindings(await diagnose(opened))).toEqual([]);
    await opened.close();
  });

  test("a backup that failed", async () => {
    const opened = await installations.open({
      BACKUP_FOLDER: "file",
      BACKUP_SCHEDULE: "* * * * * *",
    });
    await opened.write("file", "");
    const service = await opened.serve();
    await waitUntil(() => service.log().includes("A scheduled backup"));
    expect(listFindings(await diagnose(opened))).toContainEqual(
      expect.stringMatching(/^problem backups: The last scheduled backup failed: .* -> remove the/),
    );
    await service.stop();
  });

  test("notices that cannot be delivered", async () => {
    changeDatabase(
      sandbox,
      `INSERT INTO notices (id, account, balance, threshold, granted, at, failure)
      VALUES ('msg_1', 1, 9, 10, 10, 0, 'it answered with status 500')`,
    );
    const receiver = {
      WEBHOOK_URL: "http://127.0.0.1:9/a",
      WEBHOOK_SECRET: `whsec_${"A".repeat(32)}`,
    };
    const opened = await installations.open(receiver);
    await copyFile(sandbox.file, opened.file);
    expectProblem(
      await diagnose(opened),
      /^problem notices: 1 notice about low .* delivered: it answered with status 500 -> repair/,
    );
  });

  test("a stopped source, while the service runs and afterwards", async () => {
    using platform = Bun.serve({
      port: 0,
      fetch: () => Response.json({ title: "Unauthorized", status: 401 }, { status: 401 }),
    });
    const opened = await installations.open({
      COLLECT: "on",
      X_BEARER_TOKEN: "refused-token",
      X_API_URL: platform.url.href,
    });
    await opened.runOrThrow("creators", "add", "somebody");
    const service = await opened.serve();
    await waitUntil(() => service.log().includes("stopped"));
    const expected = /^problem sources: x is stopped since \S+: .* -> remove the cause/;
    expectProblem(await diagnose(opened), expected);
    await service.stop();
    expectProblem(await diagnose(opened), expected);
  });

  test("a service whose socket is lost", async () => {
    const service = await sandbox.serve();
    await rm(`${sandbox.file}-socket`);
    expectProblem(
      await diagnose(sandbox),
      /^problem service: Process \d+ seems to own \S+, and nothing answers at its socket -> if/,
    );
    await service.stop();
  });

  test("a libSQL server that accepts connections and never answers", async () => {
    const silent = await startSilentServer();
    const opened = await installations.open({ DATABASE_URL: silent.url });
    const result = await diagnose(opened);
    await silent.close();
    expect(listFindings(result).join("\n")).toMatch(
      /^problem database: The database server \S+ cannot be read: .* -> start it/m,
    );
    expect(result.status).toBe(1);
  });

  test.skipIf(!hasSqld())("an open libSQL server that does not sync its commits", async () => {
    const server = await startSqld({ durability: "relaxed" });
    const settings = { DATABASE_URL: server.url, DURABILITY: "process" };
    const opened = await installations.open(settings);
    await opened.runOrThrow("accounts", "create", "acme");
    const strict = await installations.open({ ...settings, DURABILITY: "power" });
    const result = await diagnose(strict);
    expect(listFindings(result)).toEqual([
      expect.stringMatching(
        /^problem database: The database server \S+ answers without a token: .* -> start it with --auth/,
      ),
      expect.stringMatching(
        /^problem database: The libSQL server does not sync commits .* -> set the durability_mode/,
      ),
    ]);
    expect(result.status).toBe(1);
    await server.kill();
    const away = await diagnose(strict);
    expectProblem(
      away,
      /^problem database: The database server \S+ cannot be read: .* -> start it/,
    );
    await server.close();
  });
});
