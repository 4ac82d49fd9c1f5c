import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

const POLICY = { RETENTION: "channel=40d/day, user=50d" };

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox(POLICY);
});
afterEach(() => sandbox.close());

/** Takes in four observations of a channel and a user each: two of a day long ago, two of today. */
async function importObservations(target: Sandbox = sandbox): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const lines = [today - 60 * DAY_MS, today - 60 * DAY_MS + 1, today - 1, today].flatMap(
    (at, index) => {
      const observedAt = new Date(at).toISOString();
      return [
        { kind: "channel", observedAt, id: "c", subscribers: index },
        { kind: "user", observedAt, username: "u", followers_count: index },
      ];
    },
  );
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  await target.runOrThrow("import", await target.write("lines.ndjson", text));
}

const EXPECTED_TABLE = [
  "kind     rule     entities  before  removed  after",
  "channel  40d/day         1       4        1      3",
  "short    all             0       0        0      0",
  "user     50d             1       4        2      2",
  "tweet    all             0       0        0      0",
  "",
].join("\n");

describe("retention apply", () => {
  test("counts with --dry-run and removes nothing; without it, removes and prints the result", async () => {
    await importObservations();
    for (let time = 0; time < 2; time++) {
      expect(await sandbox.run(["retention", "apply", "--dry-run"])).toEqual({
        status: 0,
        out: EXPECTED_TABLE,
        err: "Dry run: nothing was deleted\n",
      });
    }
    expect(await sandbox.runInside(["retention", "apply"])).toEqual({
      status: 0,
      out: EXPECTED_TABLE,
      err: "Verified in each step: before = removed + after, and no newest state changed\n",
    });
    const found = JSON.parse(await sandbox.runOrThrow("retention", "apply", "--json"));
    expect(found).toMatchObject({ is_dry_run: false, faults: [] });
    expect(found.kinds[2]).toEqual({
      kind: "user",
      rule: "50d",
      entities: 1,
      before: 2,
      removed: 0,
      after: 2,
    });
    const exported = await sandbox.runOrThrow("export");
    expect(exported.trim().split("\n").length).toBe(5);
  });

  test("works through a running service, with the setting of the service", async () => {
    await importObservations();
    const service = await sandbox.serve();
    expect(await sandbox.runOrThrow("retention", "apply")).toBe(EXPECTED_TABLE);
    expect((await service.stop()).status).toBe(0);
  });

  test("keeps all observations without the setting", async () => {
    const other = await openSandbox();
    await importObservations(other);
    const { status, out, err } = await other.runInside(["retention", "apply"]);
    expect([status, err]).toEqual([0, "RETENTION is not set: all observations are kept\n"]);
    expect(out).toContain("channel  all          1       4        0      4\n");
    await other.close();
  });

  test("exits with 1 when a check fails", async () => {
    await importObservations();
    // What the database does behind our back: a newest state changes as a history is thinned.
    const { Database } = await import("bun:sqlite");
    const database = new Database(sandbox.file);
    database.run(
      "CREATE TRIGGER broken AFTER DELETE ON user_histories BEGIN " +
        "UPDATE users SET followers_count = 7; END",
    );
    database.close();
    const { status, out, err } = await sandbox.run(["retention", "apply"]);
    expect([status, err]).toEqual([1, "The verification of retention failed\n"]);
    expect(out).toContain("\nkind  problem\nuser  a step changed a newest state\n");
  });

  test("names a wrong setting with what is allowed", async () => {
    const wrong = await openSandbox({ RETENTION: "channel=30d" });
    expect(await wrong.runInside(["retention", "apply"])).toEqual({
      status: 2,
      out: "",
      err:
        "RETENTION must be KIND=90d, KIND=90d/day or KIND=90d/day/365d, separated by commas, " +
        "each kind (channel, short, user, tweet) once, days from 40 to 36500, the second more than " +
        'the first, got "channel=30d"\n',
    });
    await wrong.close();
  });
});
