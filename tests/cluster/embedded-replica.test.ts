/** Faults of an embedded replica: reads go on, and are of the newest state. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { createEmbeddedReplica } from "../../server/store/database/replica/embedded-replica.ts";
import { createReplica, type Replica } from "../../server/store/database/replica/replica.ts";
import { LAST_SEQUENCE } from "../../server/store/history/change-log.ts";
import { createCommittedChanges } from "../../server/store/history/published-changes.ts";
import { createPublishedReads } from "../../server/store/reads/published-reads.ts";
import { startBlackholeProxy } from "../support/network/blackhole-proxy.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { lockFromOtherProcess } from "../support/store/database.ts";
import { waitUntil } from "../support/wait.ts";

const SYNC_CLIENT = join(import.meta.dir, "../../server/store/database/replica/sync-client.ts");

/** A read that waits for the replica in vain takes 50 ms more, and one that it hangs, 250 ms. */
const READ_WITHIN_MS = 2000;

const RECOVERED_WITHIN_MS = 30_000;

/** Starts the program that writes a replica. */
const PARENT_SCRIPT = `
  const [file, url] = process.argv.slice(1);
  const { openSyncProgram } = await import(${JSON.stringify(SYNC_CLIENT)});
  const opening = openSyncProgram({ file, url, authToken: "" });
  setInterval(() => opening, 1000);`;

let server: Awaited<ReturnType<typeof startSqld>>;
let database: Database;
let folder: string;
let file: string;
let opened: Replica[];
beforeEach(async () => {
  server = await startSqld({ durability: "relaxed" });
  database = await openDatabase({ url: server.url, durability: "process" });
  folder = await mkdtemp(join(tmpdir(), "replica-"));
  file = join(folder, "replica.db");
  opened = [];
});
afterEach(async () => {
  for (const replica of opened) await replica.close();
  await database.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

function openReplica(url = server.url, path = file) {
  const changes = createCommittedChanges(database);
  const failures: (string | undefined)[] = [];
  const source = createEmbeddedReplica({ file: path, url, authToken: "" }, database);
  const replica: Replica = createReplica(source, {
    selectSequence: `SELECT json_quote(${LAST_SEQUENCE})`,
    getNeeded: changes.getLast,
    onAvailabilityChange: (failure) =>
      failures.push(failure === undefined ? undefined : String(failure)),
  });
  opened.push(replica);
  return { changes, replica, failures, reads: createPublishedReads(database, changes, replica) };
}

/** The programs that write replicas for a process. */
function listPrograms(parent: number): number[] {
  const isProgram = (pid: string) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return command.includes("sync-program") && status.includes(`\nPPid:\t${parent}\n`);
    } catch {
      return false; // It has ended.
    }
  };
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter(isProgram).map(Number);
}

let lastName = 0;

/** Writes a user and a change, and reads them at once. @returns What the read shows. */
async function writeAndRead({ changes, reads }: ReturnType<typeof openReplica>) {
  const name = `user${++lastName}`;
  const sql = "INSERT INTO users (id, username) VALUES (?, ?)";
  const change = "INSERT INTO changes (uid, tags) VALUES (?, '[]') RETURNING sequence";
  const [, inserted] = await database.write([
    { sql, args: [name, name] },
    { sql: change, args: [name] },
  ]);
  changes.learn({ sequence: Number(inserted?.rows[0]?.["sequence"]), published: 0 });
  const startedAt = performance.now();
  const select = "SELECT json_quote(username) FROM users WHERE id = ?1";
  const shown = await reads.queryJson<string>(select, [name]);
  return { isFresh: shown === name, ms: performance.now() - startedAt };
}

/** Writes and reads until the replica serves reads again; every read must be fresh. */
async function readUntilServed(given: ReturnType<typeof openReplica>): Promise<number> {
  const { counts } = given.replica;
  const before = counts.replica;
  let slowestMs = 0;
  await waitUntil(async () => {
    const { isFresh, ms } = await writeAndRead(given);
    expect(isFresh).toBe(true);
    slowestMs = Math.max(slowestMs, ms);
    return counts.replica > before;
  }, RECOVERED_WITHIN_MS);
  return slowestMs;
}

describe.skipIf(!hasSqld())("createEmbeddedReplica()", () => {
  test("serves what was written before, also after it was closed and opened again", async () => {
    const first = openReplica();
    expect(await readUntilServed(first)).toBeLessThan(READ_WITHIN_MS);
    await first.replica.close();
    const second = openReplica();
    await readUntilServed(second);
    expect(second.failures).toEqual([]);
  });

  test("reads the primary while the copy is far behind", async () => {
    const blobs =
      "INSERT INTO audit (uid, at, actor, origin, action, details) VALUES (?, 0, '', '', '', hex(randomblob(1000000)))";
    for (let blob = 0; blob < 20; blob++) {
      await database.write([{ sql: blobs, args: [`blob${blob}`] }]);
    }
    const replica = openReplica();
    const { isFresh, ms } = await writeAndRead(replica);
    expect([isFresh, replica.replica.counts]).toEqual([true, { replica: 0, primary: 1 }]);
    expect(ms).toBeLessThan(READ_WITHIN_MS);
    expect(await readUntilServed(replica)).toBeLessThan(READ_WITHIN_MS);
  }, 60_000);

  test("makes the file anew if it was deleted", async () => {
    const replica = openReplica();
    await readUntilServed(replica);
    for (const suffix of ["", "-wal", "-shm"]) await rm(file + suffix);
    expect((await writeAndRead(replica)).isFresh).toBe(true);
    expect(await readUntilServed(replica)).toBeLessThan(READ_WITHIN_MS);
    expect(replica.failures.filter(Boolean)).toEqual(["Error: The file was removed or replaced"]);
  });

  test.each(["before it starts", "while it is open"])(
    "makes the file anew if it is damaged %s",
    async (when) => {
      const first = openReplica();
      await readUntilServed(first);
      const damage = async () => {
        await truncate(`${file}-wal`, 0);
        await writeFile(file, "x".repeat(8192));
      };
      if (when === "while it is open") {
        await damage();
        expect(await readUntilServed(first)).toBeLessThan(READ_WITHIN_MS);
      } else {
        await first.replica.close();
        await damage();
        expect(await readUntilServed(openReplica())).toBeLessThan(READ_WITHIN_MS);
      }
    },
    60_000,
  );

  test("reads the primary while another program locks the file", async () => {
    const replica = openReplica();
    await readUntilServed(replica);
    const lock = await lockFromOtherProcess(file);
    for (let read = 0; read < 5; read++) {
      expect((await writeAndRead(replica)).isFresh).toBe(true);
    }
    await lock.release();
    await readUntilServed(replica);
  });

  test("reads the primary while another process has the file, and says so", async () => {
    const first = openReplica();
    await readUntilServed(first);
    const second = openReplica();
    expect((await writeAndRead(second)).isFresh).toBe(true);
    await waitUntil(() => second.failures.length > 0);
    expect(second.failures[0]).toContain("is in use by another process");
    await first.replica.close();
    await readUntilServed(second);
  });

  test("starts the program that writes the file again if it ended", async () => {
    const replica = openReplica();
    await readUntilServed(replica);
    for (const pid of listPrograms(process.pid)) process.kill(pid, "SIGKILL");
    await readUntilServed(replica);
  });

  test("the program ends with its parent, also while the server does not answer", async () => {
    server.pause();
    const command = [process.execPath, "-e", PARENT_SCRIPT, file, server.url];
    const parent = Bun.spawn(command, { stdio: ["ignore", "ignore", "inherit"] });
    let pid = 0;
    await waitUntil(() => {
      [pid = 0] = listPrograms(parent.pid);
      return pid > 0;
    });
    const isRunning = () => existsSync(`/proc/${pid}`);
    await Bun.sleep(500); // It has connected, and waits for a response.
    expect(isRunning()).toBe(true);
    parent.kill("SIGKILL");
    await waitUntil(() => !isRunning());
    server.resume();
  }, 60_000);

  test("the program ends with the replica, also while the server does not answer", async () => {
    server.pause();
    const { replica } = openReplica();
    replica.start();
    await waitUntil(() => listPrograms(process.pid).length > 0);
    await replica.close();
    await waitUntil(() => listPrograms(process.pid).length === 0, 2000);
    server.resume();
  });

  test("goes on after its connection was cut without a sign", async () => {
    const proxy = await startBlackholeProxy(server.url);
    const replica = openReplica(proxy.url);
    await readUntilServed(replica);
    proxy.blackhole();
    const first = await writeAndRead(replica);
    const second = await writeAndRead(replica);
    expect([first.isFresh, second.isFresh]).toEqual([true, true]);
    expect(Math.max(first.ms, second.ms)).toBeLessThan(READ_WITHIN_MS);
    expect(await readUntilServed(replica)).toBeLessThan(READ_WITHIN_MS);
    expect(replica.failures).toHaveLength(2);
    proxy.close();
  }, 60_000);

  test("serves reads of what it has while the server is away, and goes on when it is back", async () => {
    const replica = openReplica();
    await readUntilServed(replica);
    await server.kill();
    const count = await replica.reads.queryJson<number>(
      "SELECT json_quote(count(*)) FROM users",
      [],
    );
    expect(count).toBeGreaterThan(0);
    await server.restart();
    await waitUntil(() =>
      database.check().then(
        () => true,
        () => false,
      ),
    );
    await readUntilServed(replica);
  }, 60_000);
});
