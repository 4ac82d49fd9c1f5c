/** Options of commands that are instants take times ago. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { formatInstant, HOUR_MS } from "../../core/time.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
  const lines = [3, 20, 200].map((hours) =>
    JSON.stringify({
      kind: "user",
      observedAt: formatInstant(Date.now() - hours * HOUR_MS),
      username: "nasa",
      followers_count: hours,
    }),
  );
  await sandbox.runOrThrow("import", await sandbox.write("in.ndjson", lines.join("\n")));
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "5");
});
afterAll(() => sandbox.close());

test.each([
  ["-90m", []],
  ["-12h", [3]],
  ["-7d", [20, 3]],
  ["-4w", [200, 20, 3]],
  ["0000-01-01", [200, 20, 3]],
])("export --since %s", async (since, expected) => {
  for (const argv of [["--since", since], [`--since=${since}`]]) {
    const lines = (await sandbox.runOrThrow("export", ...argv)).split("\n").filter(Boolean);
    const counts = lines.map(
      (line) => (JSON.parse(line) as { followers_count: number }).followers_count,
    );
    expect(counts).toEqual(expected);
  }
});

test.each([
  [["--since", "-7d"], 1],
  [["--since", "-0d"], 1],
  [["--since", "-7d", "--until", "-1d"], 0],
  [["--until", "-0m"], 1],
])("credits statement %j extends times ago to whole hours", async (argv, grants) => {
  const lines = await sandbox.runOrThrow("credits", "statement", "acme", "--json", ...argv);
  expect(lines.split("\n").filter((line) => line.includes('"grant"'))).toHaveLength(grants);
});

test.each([
  [["export", "--since", "-7y"], "since", "-7y"],
  [["export", "--since", "-999999w"], "since", "-999999w"],
  [["credits", "statement", "acme", "--until", "yesterday"], "until", "yesterday"],
  [["history", "nasa", "--to", "7d"], "to", "7d"],
])("%j says what an instant is", async (argv, name, value) => {
  const { status, out, err } = await sandbox.runInside(argv);
  expect([status, out]).toEqual([2, ""]);
  expect(err).toBe(
    `${name} must be an ISO 8601 date (2026-11-20) or date-time (2026-11-20T08:15:30.123Z) that ` +
      `exists, or a time ago (-90m, -12h, -7d, -4w), got "${value}"\n`,
  );
});
