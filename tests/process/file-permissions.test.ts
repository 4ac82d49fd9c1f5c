/** Who may use the files that the service makes. The umask is the usual one: others may read. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmod, chown, mkdir, readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSandbox, ROOT, type Sandbox } from "../support/processes/command-line.ts";

const USUAL_UMASK = ["sh", "-c", 'umask 022 && exec "$@"', "sh"];

/** Another user, and the command that runs another one as that user: only root may. */
const OTHER_USER_ID = 65_534;
const AS_OTHER_USER = [
  "setpriv",
  `--reuid=${OTHER_USER_ID}`,
  `--regid=${OTHER_USER_ID}`,
  "--clear-groups",
];
const hasOtherUser = Bun.which("setpriv") !== null && process.getuid?.() === 0;
if (!hasOtherUser) process.stderr.write("Skipped what another user tries: it takes root\n");

/** What another user needs to run the service. A folder that they cannot enter hides what is in it. */
const NEEDED = [process.execPath, join(ROOT, "server/main.ts"), tmpdir()];
const hidden = hasOtherUser ? NEEDED.filter((path) => !isReadableByOtherUser(path)) : [];
for (const path of hidden)
  process.stderr.write(`Skipped serve as a user who cannot read ${path}\n`);

const DATABASE_FILES = ["metrics.db", "metrics.db-lock", "metrics.db-shm", "metrics.db-wal"];
const SERVED_FILES = [...DATABASE_FILES, "metrics.db-owner", "metrics.db-socket"];

let sandbox: Sandbox;
let folder: string;
let file: string;
beforeEach(async () => {
  sandbox = await openSandbox({ DATABASE_URL: "file:data/metrics.db" });
  // The folder of the place is its user's alone; the one of a database need not be.
  await chmod(sandbox.folder, 0o755);
  folder = join(sandbox.folder, "data");
  file = join(folder, "metrics.db");
});
afterEach(() => sandbox.close());

async function readMode(name: string): Promise<string> {
  return ((await stat(join(folder, name))).mode & 0o777).toString(8);
}

/** The modes of all files in the database's folder. */
async function readModes(): Promise<Record<string, string>> {
  const names = await readdir(folder);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readMode(name)] as const)),
  );
}

const allPrivate = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, "600"]));

describe("serve", () => {
  test("serve creates its folder with mode 0700, and every file in it with 0600", async () => {
    const service = await sandbox.serve(USUAL_UMASK);
    await sandbox.runOrThrow("accounts", "create", "acme");
    await sandbox.runOrThrow("backup", join(folder, "copy.db"));
    expect(await readMode(".")).toBe("700");
    expect(await readModes()).toEqual(allPrivate(...SERVED_FILES, "copy.db"));
    const { log } = await service.stop();
    expect(log).not.toContain("Other users");
  });

  test("serve restricts existing files, and logs the old and new mode of each", async () => {
    const killed = await sandbox.serve(USUAL_UMASK);
    await sandbox.runOrThrow("accounts", "create", "acme");
    await killed.stop("SIGKILL");
    for (const name of DATABASE_FILES) await chmod(join(folder, name), 0o644);
    const service = await sandbox.serve(USUAL_UMASK);
    expect(await readModes()).toEqual(allPrivate(...SERVED_FILES));
    const { log } = await service.stop();
    const lines = log.split("\n").filter((line) => line.includes("Other users"));
    expect(lines.length).toBe(1);
    for (const name of DATABASE_FILES) {
      expect(lines[0]).toContain(`data/${name} had mode 0644, and has 0600 now`);
    }
  });

  test.skipIf(!hasOtherUser)(
    "lets no other user read a file, so none can take a lock",
    async () => {
      const service = await sandbox.serve(USUAL_UMASK);
      await chmod(folder, 0o755);
      for (const name of DATABASE_FILES) {
        const { status, err } = await readAsOtherUser(join(folder, name));
        expect([name, status, err]).toEqual([name, 1, expect.stringContaining("denied")]);
      }
      await service.stop();
    },
  );

  test.skipIf(!hasOtherUser || hidden.length > 0)(
    "serve logs what it cannot restrict, and serves all the same",
    async () => {
      await mkdir(folder);
      await Bun.write(file, "");
      await chown(folder, OTHER_USER_ID, OTHER_USER_ID);
      await chmod(file, 0o666);
      const service = await sandbox.serve(AS_OTHER_USER);
      const { status, log } = await service.stop();
      const told =
        "data/metrics.db has mode 0666: it belongs to user 0, and cannot be changed (EPERM)";
      expect([status, log]).toEqual([0, expect.stringContaining(told)]);
    },
  );
});

function isReadableByOtherUser(path: string): boolean {
  return Bun.spawnSync([...AS_OTHER_USER, "test", "-r", path]).success;
}

/** Has another user read the first byte of a file. */
async function readAsOtherUser(path: string) {
  const child = Bun.spawn([...AS_OTHER_USER, "head", "-c", "1", path], { stderr: "pipe" });
  return { err: await child.stderr.text(), status: await child.exited };
}

describe("import", () => {
  test("creates a database that only its user can use, and restricts an existing one", async () => {
    await sandbox.run(["import", "-"], "{}", USUAL_UMASK);
    expect(await readModes()).toMatchObject(allPrivate("metrics.db", "metrics.db-lock"));
    await chmod(file, 0o666);
    const { status, err } = await sandbox.run(["credits", "verify"], undefined, USUAL_UMASK);
    const told = "data/metrics.db had mode 0666, and has 0600 now";
    expect([status, err]).toEqual([0, expect.stringContaining(told)]);
    expect(await readMode("metrics.db")).toBe("600");
  });
});
