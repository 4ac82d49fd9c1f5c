import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readCsvRows } from "../support/csv-rows.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox();
});
afterEach(() => sandbox.close());

const AT = "2026-11-01T00:00:00.000Z";

describe("export --id", () => {
  const lines = [
    { kind: "channel", observedAt: AT, id: "7", subscribers: 1 },
    { kind: "channel", observedAt: AT, id: "-s" },
    { kind: "short", observedAt: AT, id: "s", channel: "7" },
    { kind: "user", observedAt: AT, username: "NASA", followers_count: 2 },
    { kind: "user", observedAt: "2026-11-02T00:00:00.000Z", username: "NASA", tweet_count: 3 },
    { kind: "tweet", observedAt: AT, id: "7", username: "poet" },
  ];
  const print = (...numbers: number[]) =>
    numbers.map((number) => `${JSON.stringify(lines[number])}\n`).join("");

  beforeEach(async () => {
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    await sandbox.runOrThrow("import", await sandbox.write("in.ndjson", text));
  });

  test.each([
    [
      ["--id", "nasa"],
      [3, 4],
    ],
    [
      ["--id", "7"],
      [0, 5],
    ],
    [["--id", "7", "--kind", "tweet"], [5]],
    [
      ["--id", "NASA", "--id=-s", "--id", "nasa"],
      [1, 3, 4],
    ],
    [["--id", "NASA", "--since", "2026-11-02"], [4]],
    [["--id", "7", "--since", "2026-11-02"], []],
  ])("prints only the entities of %j", async (options, expected) => {
    expect(await sandbox.runOrThrow("export", ...options)).toBe(print(...expected));
  });

  test("prints them as CSV", async () => {
    const csv = await sandbox.runOrThrow("export", "--format=csv", "--kind=channel", "--id=7");
    expect(readCsvRows(csv).slice(1)).toEqual([
      ["channel", AT, "7", "", "", "", "", "", "", "", "1", "", ""],
    ]);
  });

  test.each([
    [["--id", "nobody"], '"nobody"'],
    [["--id", "7", "--id", "poet"], '"poet"'],
    [["--id", "7", "--kind", "user"], '"7"'],
    [["--id", "nobody", "--kind", "user", "--format", "csv"], '"nobody"'],
  ])("says what %j did not find, before it prints anything", async (options, id) => {
    const { status, out, err } = await sandbox.runInside(["export", ...options]);
    expect([status, out, err]).toEqual([1, "", `Nothing with the id ${id} was observed\n`]);
  });

  test("refuses an id that no entity can have", async () => {
    const { status, out, err } = await sandbox.run(["export", "--id", ""]);
    expect([status, out]).toEqual([2, ""]);
    expect(err).toBe('id must be 1 to 256 characters without control characters, got ""\n');
  });
});
