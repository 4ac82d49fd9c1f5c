/** The command `restore`: what it checks, what it keeps, and what is left when it is killed. */
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chown, copyFile, lstat, readdir, rename, rm, stat, symlink } from "node:fs/promises";
import { devNull } from "node:os";
import { join } from "node:path";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { waitUntil } from "../support/wait.ts";

/** What each test has a copy of: a backup, and the database with one more grant. */
let prepared: Sandbox;
beforeAll(async () => {
  prepared = await openSandbox();
  await prepared.runOrThrow("accounts", "create", "acme", "--credits", "50");
  await prepared.runOrThrow("import", await prepared.write("a.ndjson", USER));
  await prepared.runOrThrow("backup", join(prepared.folder, "backup.db"));
  await prepared.runOrThrow("credits", "grant", "acme", "7");
});
afterAll(() => prepared.close());

let sandbox: Sandbox;
let backup: string;
beforeEach(async () => {
  sandbox = await openSandbox();
  backup = join(sandbox.folder, "backup.db");
  for (const name of ["metrics.db", "backup.db", "a.ndjson"]) {
    await copyFile(join(prepared.folder, name), join(sandbox.folder, name));
  }
});
afterEach(() => sandbox.close());

const USER = '{"kind":"user","observedAt":"2026-11-01","username":"a","followers_count":3}';

const OTHER_USER_ID = 65_534;

const KEPT_NAME = /^metrics\.db\.replaced-\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z$/;

const readBalance = async (): Promise<number> =>
  JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"))[0]?.balance;

/** The files in the folder that begin with the name of the database. */
const listFiles = async () =>
  (await readdir(sandbox.folder)).filter((name) => /^metrics\.db(?!-lock)/.test(name)).toSorted();

const restore = (...words: readonly string[]) => sandbox.runInside(["restore", ...words]);

/** A change of the backup by another program. */
function changeBackup(...statements: readonly string[]): void {
  const database = new Database(backup);
  for (const statement of statements) database.run(statement);
  database.close();
}

describe("restore", () => {
  test("replaces the database, keeps the old one beside it, and prints the counts of both", async () => {
    const before = await Bun.file(sandbox.file).bytes();
    const { status, out, err } = await restore(backup, "--json");
    expect([status, err]).toEqual([0, ""]);
    const counts = { accounts: 1, credits_spent: 0, channels: 0, shorts: 0, users: 1, tweets: 0 };
    const shared = { ...counts, newest_observation: "2026-11-01T00:00:00.000Z" };
    const { kept, ...report } = JSON.parse(out);
    expect(report).toEqual({
      file: sandbox.file,
      replaced: { ...shared, credits_granted: 57, credits_left: 57 },
      restored: { ...shared, credits_granted: 50, credits_left: 50 },
    });
    expect(kept.slice(sandbox.folder.length + 1)).toMatch(KEPT_NAME);
    expect(await Bun.file(kept).bytes()).toEqual(before);
    expect((await stat(sandbox.file)).mode & 0o777).toBe(0o600);
    expect(await readBalance()).toBe(50);
    expect(await Bun.file(backup).exists()).toBe(true);
    // What it keeps is restored as a backup is.
    expect((await restore(kept)).status).toBe(0);
    expect(await readBalance()).toBe(57);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "run by root, leaves the database to the user of the service",
    async () => {
      await chown(sandbox.file, OTHER_USER_ID, OTHER_USER_ID);
      expect((await restore(backup)).status).toBe(0);
      for (const file of [sandbox.file, `${sandbox.file}-lock`]) {
        expect((await stat(file)).uid).toBe(OTHER_USER_ID);
      }
    },
  );

  test("prints the counts as a table, and where the old database is", async () => {
    const { out, err } = await restore(backup);
    expect(out.split("\n").map((line) => line.replaceAll(/ {2,}/g, "  "))).toEqual([
      "  replaced  restored",
      "accounts  1  1",
      "credits granted  57  50",
      "credits spent  0  0",
      "credits left  57  50",
      "channels  0  0",
      "shorts  0  0",
      "users  1  1",
      "tweets  0  0",
      "newest observation  2026-11-01T00:00:00.000Z  2026-11-01T00:00:00.000Z",
      "",
    ]);
    expect(err).toMatch(
      /^.*metrics\.db is restored; the old one is .*metrics\.db\.replaced-.*Z\n$/,
    );
  });

  test("restores into an empty place", async () => {
    const empty = await openSandbox({ DATABASE_URL: "file:data/new/metrics.db" });
    const { status, out } = await empty.run(["restore", backup, "--json"]);
    expect([status, JSON.parse(out)]).toEqual([
      0,
      expect.objectContaining({ replaced: null, kept: null }),
    ]);
    const { out: accounts } = await empty.run(["accounts", "list", "--json"]);
    expect(JSON.parse(accounts)).toMatchObject([{ balance: 50 }]);
    await empty.close();
  });

  test("takes the changes in the log of a killed service into the file that it keeps", async () => {
    const service = await sandbox.serve();
    await sandbox.runOrThrow("credits", "grant", "acme", "100");
    await service.stop("SIGKILL");
    expect((await stat(`${sandbox.file}-wal`)).size).toBeGreaterThan(0);
    const { out } = await restore(backup, "--json");
    const { kept, replaced } = JSON.parse(out);
    expect(replaced).toMatchObject({ credits_left: 157 });
    expect([await readBalance(), (await restore(kept)).status]).toEqual([50, 0]);
    expect(await readBalance()).toBe(157);
  });

  test("restores a file with its log, as it keeps that of a damaged database", async () => {
    const service = await sandbox.serve();
    await sandbox.runOrThrow("credits", "grant", "acme", "100");
    await service.stop("SIGKILL");
    const copy = join(sandbox.folder, "copy.db");
    for (const suffix of ["", "-wal"]) await copyFile(sandbox.file + suffix, copy + suffix);
    await restore(backup);
    expect((await restore(copy)).status).toBe(0);
    expect(await readBalance()).toBe(157);
  });

  test.each([
    ["pages of zeros behind its header", (bytes: Uint8Array) => bytes.fill(0, 4096)],
    ["no header", (bytes: Uint8Array) => bytes.fill(7, 0, 100)],
  ])("replaces a database with %s, and keeps it to the byte", async (_, damage) => {
    const damaged = await Bun.file(sandbox.file).bytes();
    damage(damaged);
    await Bun.write(sandbox.file, damaged);
    const { status, out, err } = await restore(backup, "--json");
    expect([status, err]).toEqual([0, ""]);
    const { replaced, kept } = JSON.parse(out);
    expect(replaced).toBeNull();
    expect(await Bun.file(kept).bytes()).toEqual(damaged);
    expect(await readBalance()).toBe(50);
  });
});

describe("restore changes nothing, and says why", () => {
  const FOLDER = /^(Cannot read )?\S*place-[^/]+\//;

  async function expectRefusal(message: string | RegExp, file = backup): Promise<void> {
    const before = await listFiles();
    const { status, out, err } = await restore(file);
    expect([status, out]).toEqual([1, ""]);
    expect(err.replace(FOLDER, "$1")).toMatch(message);
    expect(await listFiles()).toEqual(before);
    expect(await readBalance()).toBe(57);
  }

  test("if there is no such file, or it is no database", async () => {
    await expectRefusal(
      "Cannot read nothing.db: there is no such file",
      join(sandbox.folder, "nothing.db"),
    );
    await expectRefusal("it is a folder", sandbox.folder);
    await expectRefusal("a.ndjson is not a database; name a backup", `${sandbox.folder}/a.ndjson`);
    await expectRefusal("metrics.db is the database itself; name a backup", sandbox.file);
  });

  test("if it is where the copy would be, or no file, and deletes nothing", async () => {
    const left = `${sandbox.file}.restore-scratch`;
    await copyFile(backup, left);
    await expectRefusal("move it elsewhere", left);
    expect(await Bun.file(left).bytes()).toEqual(await Bun.file(backup).bytes());
    await rm(left);
    await expectRefusal("null is no file; name a backup", devNull);
  });

  test("if the database is a link that leads nowhere", async () => {
    await rename(sandbox.file, `${sandbox.folder}/elsewhere`);
    await symlink(`${sandbox.folder}/volume.db`, sandbox.file);
    const { status, err } = await restore(backup);
    expect([status, err]).toEqual([1, expect.stringContaining("mount its volume, or remove it")]);
    expect((await lstat(sandbox.file)).isSymbolicLink()).toBe(true);
    await rename(`${sandbox.folder}/elsewhere`, sandbox.file);
  });

  test("if the backup is damaged", async () => {
    const bytes = await Bun.file(backup).bytes();
    await Bun.write(backup, bytes.fill(0xff, bytes.length - 8192));
    await expectRefusal(/^backup\.db is not restored, and nothing was changed: .*; name another/);
  });

  test("if its ledger is wrong", async () => {
    changeBackup("UPDATE accounts SET granted = granted + 1, balance = balance + 1");
    await expectRefusal(/nothing was changed: Its ledger is wrong: acme: the journal sums to/);
  });

  test("if its tables are newer, of another program, or missing", async () => {
    changeBackup("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('a', 9999999999999)");
    await expectRefusal("A newer version of this service made the tables");
    await rm(backup);
    changeBackup("CREATE TABLE other (value)");
    await expectRefusal("Another program made this database");
    changeBackup("DROP TABLE other");
    await expectRefusal("It is empty: it has no tables of this service");
  });

  test("while a service owns the database", async () => {
    const service = await sandbox.serve();
    await expectRefusal(
      /metrics\.db is served by process \d+ at .*; stop it, then restore again\n$/,
    );
    await service.stop();
  });

  test("for a libSQL server, with what to do instead", async () => {
    const other = await openSandbox({ DATABASE_URL: "http://127.0.0.1:9" });
    expect(await other.runInside(["restore", backup])).toMatchObject({
      status: 2,
      err: expect.stringContaining('as "Back up and restore a server" in server/LIBSQL.md says'),
    });
    await other.close();
  });
});

const RENAME = "rename,renameat,renameat2";
const COPY = "metrics.db.restore-scratch/metrics.db";

/** Where a restore is killed: a system call, and the file that it is about, if that matters. */
const CRASH_POINTS = [
  ["fsync", COPY],
  ["link,linkat", ""],
  ["fsync", "."],
  [RENAME, COPY],
] as const;

const STRACE = ["strace", "-f", "-qq", "-o", "/dev/null"];

/** Longer than the test takes: the process is killed meanwhile. */
const DELAY_US = 60_000_000;

describe.skipIf(Bun.which("strace") === null)("restore that is killed", () => {
  beforeEach(async () => {
    const service = await sandbox.serve();
    await sandbox.runOrThrow("credits", "grant", "acme", "1");
    await service.stop("SIGKILL");
  });

  async function expectWhole(balance: number): Promise<void> {
    expect((await sandbox.runInside(["credits", "verify"])).status).toBe(0);
    expect(await readBalance()).toBe(balance);
  }

  test("leaves the old database whole before it renames, and the next one tidies up", async () => {
    for (const [calls, name] of CRASH_POINTS) {
      const path = name === "" ? [] : ["-P", join(sandbox.folder, name)];
      const kill = [...STRACE, ...path, "-e", `inject=${calls}:signal=KILL`];
      const { status, out } = await sandbox.run(["restore", backup], undefined, kill);
      expect([calls, name, status, out]).toEqual([calls, name, 137, ""]);
      await expectWhole(58);
    }
    expect(await restore(backup)).toMatchObject({ status: 0 });
    const left = (await listFiles()).filter((name) => !KEPT_NAME.test(name));
    expect(left.filter((name) => name.includes("restore"))).toEqual([]);
  });

  test("leaves the new database whole after it renamed", async () => {
    const { ino } = await stat(sandbox.file);
    const copy = join(sandbox.folder, COPY);
    const delay = [...STRACE, "-P", copy, "-e", `inject=${RENAME}:delay_exit=${DELAY_US}`];
    const child = sandbox.spawn(["restore", backup], undefined, delay);
    await waitUntil(async () => (await stat(sandbox.file)).ino !== ino, 30_000);
    process.kill(Number(await Bun.file(`${sandbox.file}-owner`).text()), "SIGKILL");
    child.kill("SIGKILL");
    await child.exited;
    await expectWhole(50);
  });
});
