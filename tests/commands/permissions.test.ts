/** Who may use the files that the service makes. The umask is the usual one: others may read. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmod, chown, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openPlace, type Place } from "../support/command.ts";

const USUAL_UMASK = ["sh", "-c", 'umask 022 && exec "$@"', "sh"];

/** Another user, and the command that runs another one as that user: only root may. */
const OTHER = 65_534;
const AS_OTHER = ["setpriv", `--reuid=${OTHER}`, `--regid=${OTHER}`, "--clear-groups"];
const canBeOther = Bun.which("setpriv") !== null && process.getuid?.() === 0;
if (!canBeOther) process.stderr.write("Skipped what another user tries: it takes root\n");

const FILES = ["metrics.db", "metrics.db-lock", "metrics.db-shm", "metrics.db-wal"];
const SERVED = [...FILES, "metrics.db-owner", "metrics.db-socket"];

let place: Place;
let folder: string;
let file: string;
beforeEach(async () => {
  place = await openPlace({ DATABASE_URL: "file:data/metrics.db" });
  // The folder of the place is its user's alone; the one of a database need not be.
  await chmod(place.folder, 0o755);
  folder = join(place.folder, "data");
  file = join(folder, "metrics.db");
});
afterEach(() => place.close());

async function modeOf(name: string): Promise<string> {
  return ((await stat(join(folder, name))).mode & 0o777).toString(8);
}

/** The modes of all files in the database's folder. */
async function modes(): Promise<Record<string, string>> {
  const names = await readdir(folder);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await modeOf(name)] as const)),
  );
}

const allPrivate = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, "600"]));

describe("serve", () => {
  test("makes its folder 0700, and every file in it, a backup too, 0600", async () => {
    const service = await place.serve(USUAL_UMASK);
    await place.must("accounts", "create", "acme");
    await place.must("backup", join(folder, "copy.db"));
    expect(await modeOf(".")).toBe("700");
    expect(await modes()).toEqual(allPrivate(...SERVED, "copy.db"));
    const { log } = await service.stop();
    expect(log).not.toContain("Other users");
  });

  test("restricts the files that it finds, and logs each with its mode before and now", async () => {
    const killed = await place.serve(USUAL_UMASK);
    await place.must("accounts", "create", "acme");
    await killed.stop("SIGKILL");
    for (const name of FILES) await chmod(join(folder, name), 0o644);
    const service = await place.serve(USUAL_UMASK);
    expect(await modes()).toEqual(allPrivate(...SERVED));
    const { log } = await service.stop();
    const lines = log.split("\n").filter((line) => line.includes("Other users"));
    expect(lines.length).toBe(1);
    for (const name of FILES) {
      expect(lines[0]).toContain(`data/${name} had mode 0644, and has 0600 now`);
    }
  });

  test.skipIf(!canBeOther)("lets no other user read a file, so none can take a lock", async () => {
    const service = await place.serve(USUAL_UMASK);
    await chmod(folder, 0o755);
    for (const name of FILES) {
      const { status, err } = await tryReading(join(folder, name));
      expect([name, status, err]).toEqual([name, 1, expect.stringContaining("denied")]);
    }
    await service.stop();
  });

  test.skipIf(!canBeOther)("says what it cannot restrict, and serves all the same", async () => {
    await mkdir(folder);
    await Bun.write(file, "");
    await chown(folder, OTHER, OTHER);
    await chmod(file, 0o666);
    const service = await place.serve(AS_OTHER);
    const { status, log } = await service.stop();
    const told =
      "data/metrics.db has mode 0666: it belongs to user 0, and cannot be changed (EPERM)";
    expect([status, log]).toEqual([0, expect.stringContaining(told)]);
  });
});

/** Has another user read the first byte of a file. */
async function tryReading(path: string) {
  const child = Bun.spawn([...AS_OTHER, "head", "-c", "1", path], { stderr: "pipe" });
  return { err: await child.stderr.text(), status: await child.exited };
}

describe("another verb", () => {
  test("makes a database that only its user can use, and restricts one that it finds", async () => {
    await place.run(["import", "-"], "{}", USUAL_UMASK);
    expect(await modes()).toMatchObject(allPrivate("metrics.db", "metrics.db-lock"));
    await chmod(file, 0o666);
    const { status, err } = await place.run(["credits", "verify"], undefined, USUAL_UMASK);
    const told = "data/metrics.db had mode 0666, and has 0600 now";
    expect([status, err]).toEqual([0, expect.stringContaining(told)]);
    expect(await modeOf("metrics.db")).toBe("600");
  });
});
