import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { parseMessages } from "../support/command-line-io.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox();
});
afterEach(() => sandbox.close());

const OBSERVED_AT = "2026-11-01T00:00:00Z";
const makeValidLine = (id: string) =>
  JSON.stringify({ kind: "channel", observedAt: OBSERVED_AT, id, subscribers: 1 });
const makeChannelLine = (fields: object) =>
  JSON.stringify({ kind: "channel", observedAt: OBSERVED_AT, id: "x", ...fields });

/** Ten lines that are wrong in ten ways, and what names each. */
const INVALID_LINES: readonly (readonly [line: string | Uint8Array, reason: RegExp])[] = [
  ["{not json", /must be a JSON object/],
  [`"${"x".repeat(1_048_576)}"`, /at most 1048576 bytes/],
  [makeChannelLine({ kind: "video" }), /kind must be one of/],
  [JSON.stringify({ kind: "channel", observedAt: OBSERVED_AT }), /id must be a string/],
  [makeChannelLine({ displayName: 7 }), /displayName must be a string/],
  [makeChannelLine({ observedAt: "2024-02-30" }), /observedAt must be an ISO 8601 date/],
  [makeChannelLine({ observedAt: "2999-01-01" }), /ahead of the clock/],
  [makeChannelLine({ subscribers: -1 }), /subscribers must be a whole number/],
  [makeChannelLine({ id: "a\tb" }), /id must have no control character/],
  [makeChannelLine({ note: "a\u0000b" }), /no NUL/],
];

const ZERO_COUNTS = { read: 0, new: 0, changed: 0, unchanged: 0, rejected: 0 };

describe("import", () => {
  test("stores the good lines, reports ten broken ones with number and reason, and exits with 1", async () => {
    const lines = INVALID_LINES.flatMap(([line], index) => [makeValidLine(`good ${index}`), line]);
    const file = await sandbox.write("mixed.ndjson", lines.join("\n"));
    const { status, out, err } = await sandbox.run(["import", "--json", file]);
    expect(status).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ read: 20, new: 10, rejected: 10 });
    const named = parseMessages(err).filter((line) => line.startsWith(file));
    expect(named.length).toBe(10);
    INVALID_LINES.forEach(([, reason], index) => {
      expect(named[index]).toStartWith(`${file}:${2 * index + 2}: `);
      expect(named[index]).toMatch(reason);
    });
    expect((await sandbox.runOrThrow("export")).trim().split("\n").length).toBe(10);
  });

  test("lists the first 1,000 rejected lines, and counts all by cause", async () => {
    const lines = Array.from({ length: 1500 }, (_, nth) =>
      makeChannelLine({ subscribers: -nth - 1 }),
    );
    const file = await sandbox.write("bad.ndjson", `${lines.join("\n")}\n{}\n`);
    const { status, out, err } = await sandbox.run(["import", "--json", file]);
    expect([status, JSON.parse(out)]).toMatchObject([1, { read: 1501, new: 0, rejected: 1501 }]);
    const messages = parseMessages(err);
    expect(messages.filter((line) => line.startsWith(`${file}:`))).toHaveLength(1003);
    expect(messages).toContain(`${file}: 1501 lines were rejected; only the first 1000 are listed`);
    expect(messages).toContain(
      `${file}: 1500 lines: subscribers must be a whole number from 0 to 9007199254740991`,
    );
    expect(messages).toContain(`${file}: 1 lines: kind must be one of channel, short, user, tweet`);
  });

  test("lists the rejected lines of many blocks in their order, whatever the order of the entities", async () => {
    const description = "x".repeat(400);
    const lines = Array.from({ length: 40_000 }, (_, nth) => {
      const subscribers = nth % 100 === 99 ? -1 : nth;
      const observedAt = new Date(Date.parse(OBSERVED_AT) + nth).toISOString();
      return makeChannelLine({ id: `channel ${nth % 300}`, observedAt, subscribers, description });
    });
    const file = await sandbox.write("by-time.ndjson", lines.join("\n"));
    const { out, err } = await sandbox.runInside(["import", "--json", file]);
    expect(JSON.parse(out)).toMatchObject({ read: 40_000, new: 39_600, rejected: 400 });
    const numbers = Array.from(err.matchAll(/by-time\.ndjson:(\d+): /g), ([, line]) =>
      Number(line),
    );
    expect(numbers).toEqual(Array.from({ length: 400 }, (_, nth) => nth * 100 + 100));
  });

  test("rejects only the line that is not UTF-8", async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${makeValidLine("a")}\n{"kind":"channel","id":"`),
      Buffer.of(0xff, 0xfe),
      Buffer.from(`"}\n${makeValidLine("b")}`),
    ]);
    const { status, out, err } = await sandbox.runInside([
      "import",
      "--json",
      await sandbox.write("latin.ndjson", bytes),
    ]);
    expect([status, err]).toEqual([1, expect.stringContaining(":2: The line must be valid UTF-8")]);
    expect(JSON.parse(out)).toMatchObject({ read: 3, new: 2, rejected: 1 });
  });

  test("ignores a byte-order mark, blank lines and carriage returns, and needs no last line end", async () => {
    const text = `\uFEFF${makeValidLine("a")}\r\n\r\n  \n${makeValidLine("b")}`;
    const printed = await sandbox.runOrThrow(
      "import",
      "--json",
      await sandbox.write("dos.ndjson", text),
    );
    expect(JSON.parse(printed)).toMatchObject({ read: 2, new: 2, rejected: 0 });
  });

  test("changes nothing when repeated, and counts additions to a known instant as changed", async () => {
    const file = await sandbox.write(
      "some.ndjson",
      [makeValidLine("a"), makeValidLine("b"), makeValidLine("a")].join("\n"),
    );
    const first = JSON.parse(await sandbox.runOrThrow("import", "--json", file));
    expect(first).toMatchObject({ ...ZERO_COUNTS, read: 3, new: 2, unchanged: 1 });
    const again = JSON.parse(await sandbox.runOrThrow("import", "--json", file));
    expect(again).toMatchObject({ ...ZERO_COUNTS, read: 3, unchanged: 3 });
    const more = await sandbox.write("more.ndjson", makeChannelLine({ id: "a", displayName: "A" }));
    expect(JSON.parse(await sandbox.runOrThrow("import", "--json", more))).toMatchObject({
      changed: 1,
    });
  });

  test("decompresses .gz, reads standard input, and prints a table", async () => {
    const file = await sandbox.write("a.ndjson.gz", Bun.gzipSync(`${makeValidLine("a")}\n`));
    const { status, out } = await sandbox.run(["import", file, "-"], `${makeValidLine("b")}\n`);
    expect(status).toBe(0);
    expect(out.split("\n").map((line) => line.split(/\s+/).slice(-6).join(" "))).toEqual([
      "file read new changed unchanged rejected",
      expect.stringMatching(/ 1 1 0 0 0$/),
      "- 1 1 0 0 0",
      "all 2 2 0 0 0",
      "",
    ]);
  });

  test("says which file cannot be read, before it stores any", async () => {
    const file = await sandbox.write("a.ndjson", makeValidLine("a"));
    const { status, err } = await sandbox.runInside(["import", file, "missing.ndjson"]);
    expect([status, err]).toEqual([1, expect.stringContaining("Cannot read missing.ndjson")]);
    expect(await sandbox.runOrThrow("export")).toBe("");
    const broken = await sandbox.write("broken.ndjson.gz", "not packed");
    const packed = await sandbox.runInside(["import", broken]);
    expect([packed.status, packed.err]).toEqual([
      1,
      expect.stringContaining(`Cannot read ${broken}`),
    ]);
  });

  test("stores the blocks before the point at which a file breaks off", async () => {
    // Of one letter each: more than a block of lines, which are packed and parsed in no time.
    const lines = Array.from({ length: 160 }, (_, nth) =>
      makeChannelLine({
        id: `c${nth}`,
        description: String.fromCharCode(97 + (nth % 26)).repeat(60_000),
      }),
    );
    const packed = Bun.gzipSync(`${lines.join("\n")}\n`);
    const file = await sandbox.write("cut.ndjson.gz", packed.subarray(0, packed.length * 0.95));
    const { status, out, err } = await sandbox.runInside(["import", "--json", file]);
    expect([status, err]).toEqual([1, expect.stringContaining(`Cannot read ${file}`)]);
    // Nothing is written once the database is closed, which empties its log.
    expect((await stat(`${sandbox.file}-wal`)).size).toBe(0);
    const stored = (await sandbox.runOrThrow("export")).trim().split("\n").length;
    expect(stored).toBeGreaterThan(lines.length / 2);
    expect(JSON.parse(out)).toMatchObject({ read: stored, new: stored });
    const whole = await sandbox.write("whole.ndjson", lines.join("\n"));
    expect(JSON.parse(await sandbox.runOrThrow("import", "--json", whole))).toMatchObject({
      read: lines.length,
      new: lines.length - stored,
      unchanged: stored,
    });
  });

  test.each([
    ["is of characters of three bytes", `{"note":"${"語".repeat(1_200_000)}"}`],
    // A reader that kept a byte more than the limit of it would keep a line within the limit.
    ["is behind a byte-order mark", `\uFEFF{"note":"${"x".repeat(2 * 1_048_576 - 12)}"}`],
  ])("a line that is too long is rejected as that where it %s", async (_, line) => {
    const file = await sandbox.write("long.ndjson", `${line}\n${makeValidLine("a")}\n`);
    const { out, err } = await sandbox.runInside(["import", "--json", file]);
    expect(JSON.parse(out)).toMatchObject({ read: 2, new: 1, rejected: 1 });
    expect(err).toContain(`${file}:1: A line has at most 1048576 bytes`);
  });

  test("reads a line without an end in constant memory", async () => {
    const file = await sandbox.write(
      "endless.ndjson",
      `${"x".repeat(64_000_000)}\n${makeValidLine("a")}\n`,
    );
    const child = sandbox.spawn(["import", "--json", file]);
    const [out, status] = await Promise.all([child.stdout.text(), child.exited]);
    expect([status, JSON.parse(out)]).toMatchObject([1, { read: 2, new: 1, rejected: 1 }]);
  });
});

describe("export", () => {
  test("prints the same lines after an import into an empty database", async () => {
    const lines = [
      { kind: "short", observedAt: "2026-11-01", channel: "c", id: "-s", title: "old", views: 1 },
      { kind: "short", observedAt: "2026-11-02", channel: "c", id: "-s", title: "new\n🍲" },
      {
        kind: "short",
        observedAt: "2026-11-03",
        channel: "d",
        id: "-s",
        publishedAt: "2026-10-01",
      },
      { kind: "channel", observedAt: "2026-11-01", id: "d", username: "Dee" },
      { kind: "user", observedAt: "2026-11-01", username: "NASA", verified: true },
      { kind: "user", observedAt: "2026-11-02", username: "nasa", followers_count: 2 },
      { kind: "tweet", observedAt: "2026-11-02", username: "poet", id: "1346889436626259967" },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    await sandbox.runOrThrow("import", await sandbox.write("in.ndjson", text));
    const exported = await sandbox.runOrThrow("export");
    const other = await openSandbox();
    await other.runOrThrow("import", await other.write("out.ndjson", exported));
    expect(await other.runOrThrow("export")).toBe(exported);
    expect(exported).toContain('"title":"new\\n🍲"');
    expect(await other.runOrThrow("export", "--kind", "user", "--since", "2026-11-02")).toBe(
      '{"kind":"user","observedAt":"2026-11-02T00:00:00.000Z","username":"nasa","followers_count":2}\n',
    );
    await other.close();
  });
});
