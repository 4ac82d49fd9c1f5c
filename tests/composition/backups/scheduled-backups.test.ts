/** Backups by schedule on a database file, with a clock that the tests set. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../core/time.ts";
import { readConfig } from "../../../server/config.ts";
import { checkBackup } from "../../../server/composition/backups/check-backup.ts";
import { hashDatabaseUrl } from "../../../server/composition/backups/database-id.ts";
import { formatBackupName } from "../../../server/composition/backups/kept-backups.ts";
import { createBackups } from "../../../server/composition/backups/scheduled-backups.ts";
import { createSoleRoleWork } from "../../../server/composition/role-work.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { withDatabase } from "../../support/store/database.ts";
import { letEventLoopRun, waitUntil } from "../../support/wait.ts";

const NIGHT = Date.parse("2026-11-20T03:00:00Z");
const AT_NIGHT = "0 3 * * *";
const URL_A = "file:/data/a.db";
const URL_B = "file:/data/b.db";

const formatName = (time: number, url = URL_A) => formatBackupName(hashDatabaseUrl(url), time);
const NAME_AT_NIGHT = formatName(NIGHT);

let folder: string;
let failures: string[];
let clock: { now: number };
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "scheduled-")), "backups");
  failures = [];
  clock = { now: NIGHT - HOUR_MS };
});
afterEach(() => rm(join(folder, ".."), { recursive: true, force: true }));

/** Runs scheduled backups; `runs` counts those that succeeded and failed. */
async function withBackups(
  database: Database,
  work: (backups: {
    /** Waits until so many were made, or failed, since the start. */
    expectRuns(runs: { ok: number; failed: number }): Promise<void>;
    readScheduled: ReturnType<typeof createBackups>["readScheduled"];
  }) => Promise<void>,
  { backupFolder = folder, databaseUrl = URL_A } = {},
): Promise<void> {
  const databases = { ledger: database, entities: database };
  const backups = createBackups(
    { ...readConfig({ BACKUP_SCHEDULE: AT_NIGHT }), backupFolder, databaseUrl },
    databases,
    createSoleRoleWork(databases),
    () => clock.now,
    {
      failure: () => undefined,
      backgroundFailure: (error, subject) => void failures.push(`${subject}: ${error}`),
    },
    { sleepMaxMs: 5 },
  );
  const stop = backups.startScheduled();
  try {
    await work({
      readScheduled: backups.readScheduled,
      async expectRuns(runs) {
        const read = () => backups.readScheduled()?.results;
        await waitUntil(() => {
          const { ok = 0, failed = 0 } = read() ?? {};
          return ok + failed >= runs.ok + runs.failed;
        });
        await letEventLoopRun();
        expect(read()).toEqual(runs);
      },
    });
  } finally {
    await stop();
  }
}

const listFolder = async () => (await readdir(folder)).toSorted();

describe("startScheduled()", () => {
  test("makes a backup at once if there is none, then one at each time", async () => {
    await withDatabase(async (database, file) => {
      const ledger = createLedgerStore(database);
      await ledger.createAccount("acme", clock.now, 7);
      await withBackups(database, async ({ expectRuns, readScheduled }) => {
        await expectRuns({ ok: 1, failed: 0 });
        clock.now = NIGHT - 1;
        await Bun.sleep(30);
        await expectRuns({ ok: 1, failed: 0 });
        clock.now = NIGHT;
        await expectRuns({ ok: 2, failed: 0 });
        clock.now = NIGHT + DAY_MS;
        await expectRuns({ ok: 3, failed: 0 });
        expect(readScheduled()).toMatchObject({
          newestAt: NIGHT + DAY_MS,
          last: { at: NIGHT + DAY_MS, bytes: Bun.file(file).size },
        });
      });
      // Of the first day, the newest is kept.
      const newest = formatName(NIGHT + DAY_MS);
      expect(await listFolder()).toEqual([NAME_AT_NIGHT, newest]);
      const counts = await checkBackup(join(folder, newest));
      expect(counts).toMatchObject({ accounts: 1, granted: 7, debited: 0 });
      expect(failures).toEqual([]);
    });
  });

  test.each([
    ["a missed one at its start", NIGHT - 1000, 1],
    ["none at its start if none was missed", NIGHT + 1000, 0],
    ["one at its start if the only one is of a clock that was ahead", NIGHT + 9 * DAY_MS, 1],
    ["one at a time that another one has, of a clock that was ahead", NIGHT + DAY_MS, 1],
  ])("makes %s", async (_, lastAt, made) => {
    await mkdir(folder);
    await writeFile(join(folder, formatName(lastAt)), "");
    clock.now = NIGHT + 2 * HOUR_MS;
    await withDatabase((database) =>
      withBackups(database, async ({ expectRuns }) => {
        if (made === 0) await Bun.sleep(50);
        await expectRuns({ ok: made, failed: 0 });
        clock.now = NIGHT + DAY_MS;
        await expectRuns({ ok: made + 1, failed: 0 });
      }),
    );
  });

  test("makes a missed one at its start beside one of a clock that was ahead", async () => {
    await mkdir(folder);
    const times = [NIGHT - DAY_MS, NIGHT + 9 * DAY_MS];
    for (const time of times) await writeFile(join(folder, formatName(time)), "");
    clock.now = NIGHT + HOUR_MS;
    await withDatabase((database) =>
      withBackups(database, async ({ expectRuns, readScheduled }) => {
        await expectRuns({ ok: 1, failed: 0 });
        expect(readScheduled()?.newestAt).toBe(clock.now);
      }),
    );
    expect(await listFolder()).toEqual(
      [...times, clock.now].map((time) => formatName(time)).toSorted(),
    );
  });

  test("keeps a new one although there are many of a clock that was ahead", async () => {
    await mkdir(folder);
    const ahead = Array.from({ length: 400 }, (_, day) => formatName(NIGHT + (day + 40) * DAY_MS));
    for (const name of ahead) await writeFile(join(folder, name), "");
    await withDatabase((database) =>
      withBackups(database, ({ expectRuns }) => expectRuns({ ok: 1, failed: 0 })),
    );
    expect(await listFolder()).toEqual([formatName(clock.now), ...ahead].toSorted());
  });

  test("leaves alone the backups of another database in the same folder", async () => {
    await mkdir(folder);
    const others = [NIGHT - 2 * HOUR_MS, NIGHT - 3 * HOUR_MS].map((time) =>
      formatName(time, URL_B),
    );
    others.push(`${formatName(NIGHT, URL_B)}.part`);
    for (const name of others) await writeFile(join(folder, name), "");
    await withDatabase((database) =>
      withBackups(database, ({ expectRuns }) => expectRuns({ ok: 1, failed: 0 })),
    );
    expect(await listFolder()).toEqual([...others, formatName(clock.now)].toSorted());
    await withDatabase((database) =>
      withBackups(
        database,
        async ({ readScheduled }) => {
          await waitUntil(() => readScheduled()?.newestAt !== undefined);
          expect(readScheduled()).toMatchObject({ newestAt: NIGHT - 2 * HOUR_MS, last: undefined });
        },
        { databaseUrl: URL_B },
      ),
    );
  });

  test("goes on in time after its clock was set back", async () => {
    await withDatabase((database) =>
      withBackups(database, async ({ expectRuns, readScheduled }) => {
        const firstAt = clock.now;
        await expectRuns({ ok: 1, failed: 0 });
        clock.now += 30 * DAY_MS;
        await expectRuns({ ok: 2, failed: 0 });
        clock.now = NIGHT - MINUTE_MS;
        expect(readScheduled()?.newestAt).toBeUndefined();
        await waitUntil(() => readScheduled()?.newestAt === firstAt);
        clock.now = NIGHT;
        await expectRuns({ ok: 3, failed: 0 });
      }),
    );
  });

  test("deletes no file that it did not make, and what its own cut-off backups left", async () => {
    const own = formatName(Date.parse("2026-01-02T03:00:00Z"));
    await mkdir(join(folder, `${own}.part-replica`), { recursive: true });
    const others = ["before-upgrade.db", "metrics-2026-01-01T030000Z.db", "other.db.part"];
    others.push(`${own}.part1.rar`, "scheduled-2026-01-02T020000Z.db");
    const old = [formatName(Date.parse("2026-01-02T01:00:00Z")), `${own}.part`];
    for (const name of [...others, own, ...old]) await writeFile(join(folder, name), "");
    await withDatabase((database) =>
      withBackups(database, ({ expectRuns }) => expectRuns({ ok: 1, failed: 0 })),
    );
    // The other one of that day is older.
    expect(await listFolder()).toEqual([...others, own, formatName(clock.now)].toSorted());
  });
});

describe("a scheduled backup that fails", () => {
  test("is logged, leaves the earlier ones, and is tried again at the next time", async () => {
    await withDatabase((database) =>
      withBackups(database, async ({ expectRuns, readScheduled }) => {
        await expectRuns({ ok: 1, failed: 0 });
        const [first = ""] = await listFolder();
        // A folder in the way of its name, as nobody can write there.
        await mkdir(join(folder, NAME_AT_NIGHT));
        clock.now = NIGHT;
        await expectRuns({ ok: 1, failed: 1 });
        expect(readScheduled()).toMatchObject({
          newestAt: NIGHT - HOUR_MS,
          last: { failure: expect.stringContaining("already exists") },
        });
        clock.now = NIGHT + DAY_MS;
        await expectRuns({ ok: 2, failed: 1 });
        expect(await listFolder()).toContain(first);
        expect(failures).toEqual([expect.stringMatching(/^A scheduled backup: .*already exists/)]);
      }),
    );
  });

  test("has no file if the ledger of the copy is wrong", async () => {
    await withDatabase(async (database) => {
      await createLedgerStore(database).createAccount("acme", clock.now, 7);
      await database.write([
        { sql: "UPDATE accounts SET granted = granted + 1, balance = balance + 1", args: [] },
      ]);
      await withBackups(database, ({ expectRuns }) => expectRuns({ ok: 0, failed: 1 }));
    });
    expect(await listFolder()).toEqual([]);
    expect(failures).toEqual([
      expect.stringMatching(/^A scheduled backup: .*Its ledger is wrong: acme: the journal/),
    ]);
  });

  test("has no file if the copy is of an earlier instant than its beginning", async () => {
    const stale = join(folder, "../stale.db");
    await withDatabase(async (database) => {
      const ledger = createLedgerStore(database);
      await ledger.createAccount("acme", clock.now, 7);
      await database.copyTo(stale);
      await ledger.createAccount("globex", clock.now, 7);
      const lagging = { ...database, copyTo: (file: string) => copyFile(stale, file) };
      await withBackups(lagging, ({ expectRuns }) => expectRuns({ ok: 0, failed: 1 }));
    });
    expect(await listFolder()).toEqual([]);
    expect(failures).toEqual([
      expect.stringContaining("another count (accounts) than the database: 1 instead of 2 to 2"),
    ]);
  });

  test("says what is wrong with its folder", async () => {
    const file = join(folder, "../file");
    await writeFile(file, "");
    await withDatabase((database) =>
      withBackups(database, ({ expectRuns }) => expectRuns({ ok: 0, failed: 1 }), {
        backupFolder: join(file, "a"),
      }),
    );
    expect(failures).toEqual([expect.stringMatching(/^A scheduled backup: .*ENOTDIR/)]);
  });
});
