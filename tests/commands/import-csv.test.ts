/** Observations as CSV: export, import, and both one after the other. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { ENTITY_KINDS } from "../../core/kinds.ts";
import { formatInstant } from "../../core/time.ts";
import { parseMessages } from "../support/command-line-io.ts";
import { readCsvRows } from "../support/csv-rows.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox();
});
afterEach(() => sandbox.close());

const AT = "2026-11-01T00:00:00.000Z";

const TEXTS = [
  undefined,
  "",
  " ",
  "=1+1",
  '=HYPERLINK("http://x","y")',
  "+1",
  "-1",
  "@A1",
  "\t=1",
  'a "quoted", text',
  '"',
  "line\nbreak",
  "line\r\nbreak\r",
  "\n",
  "שלום, עולם\u200f",
  "مرحبا بالعالم",
  "👩‍👩‍👧‍👦🍲",
  "\ufeffmark",
  "null",
  "true",
  "12",
  "\u0001\u001b[31m\u2028",
  "x".repeat(65_536),
];
const ID_TEXTS = [
  "=1+1",
  '"',
  "a,b",
  "שלום",
  "👩‍👩‍👧‍👦",
  "1720756077208628457",
  "-s",
  "__proto__",
  "kind",
];
const pick = <Value>(list: readonly Value[], index: number) => list[index % list.length];

/** Observations of all kinds whose fields are any of the texts, null, 0 or left out. */
const LINES = TEXTS.flatMap((text, index) => {
  const id = `${pick(ID_TEXTS, index)} ${index}`;
  const next = pick(TEXTS, index + 5);
  const count = pick([undefined, null, 0, Number.MAX_SAFE_INTEGER], index);
  const observedAt = formatInstant(Date.parse(AT) + index);
  return [
    { kind: "channel", observedAt, id, username: text, displayName: next, subscribers: count },
    { kind: "channel", observedAt: AT, id, description: next, country: text, viewCount: 7 },
    { kind: "channel", observedAt: "2026-10-01", id },
    { kind: "short", observedAt, id, channel: id, title: text, description: next, views: count },
    { kind: "short", observedAt: AT, id, channel: "c", publishedAt: AT, thumbnail: "", shares: 1 },
    { kind: "user", observedAt, username: id, displayName: text, verified: index % 2 === 0 },
    { kind: "user", observedAt: AT, username: id, description: next, tweet_count: count },
    { kind: "tweet", observedAt, id, username: id, text, url: "", likes: count },
    { kind: "tweet", observedAt: AT, id, username: id, created_at: AT, quotes: 0 },
  ];
});

/** The peak of the memory of a process; `undefined` if it ended, or on other systems than Linux. */
function readPeakKib(pid: number): number | undefined {
  try {
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kib === undefined ? undefined : Number(kib);
  } catch {
    return undefined;
  }
}

describe("export --format csv", () => {
  test("imported into an empty database, gives the same export, for every kind", async () => {
    const text = LINES.map((line) => JSON.stringify(line)).join("\n");
    await sandbox.runOrThrow("import", await sandbox.write("in.ndjson", text));
    const exported = await sandbox.runOrThrow("export");
    expect(exported.split("\n").length).toBeGreaterThan(9 * 20);
    const other = await openSandbox();
    try {
      for (const [index, kind] of ENTITY_KINDS.entries()) {
        const csv = await sandbox.runOrThrow("export", "--format", "csv", "--kind", kind);
        const rows = readCsvRows(csv);
        expect(new Set(rows.slice(1).map(([first]) => first))).toEqual(new Set([kind]));
        const isPacked = index % 2 === 1;
        const bytes = isPacked ? Bun.gzipSync(csv) : csv;
        const file = await other.write(`${kind}.csv${isPacked ? ".gz" : ""}`, bytes);
        await other.runOrThrow("import", file);
        const again = await other.runOrThrow("export", "--format", "csv", "--kind", kind);
        expect(again === csv).toBe(true);
      }
      expect((await other.runOrThrow("export")) === exported).toBe(true);
    } finally {
      await other.close();
    }
  }, 60_000);

  test("prints the columns if there is nothing", async () => {
    expect(await sandbox.runOrThrow("export", "--format", "csv", "--kind", "tweet")).toBe(
      "kind,observedAt,id,username,created_at,text,url,likes,retweets,replies,quotes,impressions\r\n",
    );
  });

  test("needs a kind", async () => {
    const { status, out, err } = await sandbox.run(["export", "--format", "csv"]);
    expect([status, out, err]).toEqual([2, "", "A CSV has one kind: format csv needs kind\n"]);
    const unknown = await sandbox.runInside(["export", "--format", "xlsx"]);
    expect([unknown.status, unknown.err]).toEqual([2, expect.stringContaining("ndjson, csv")]);
  });
});

describe("import of CSV", () => {
  test("takes standard input with --format csv, some columns in any order, and --kind", async () => {
    const csv = `\uFEFFusername,followers_count,"observedAt"\nNASA,7,2026-11-01\n"ESA","",2026-11-01\r\n`;
    const args = ["import", "--json", "--format", "csv", "--kind", "user", "-"];
    const { status, out } = await sandbox.run(args, csv);
    expect([status, JSON.parse(out)]).toMatchObject([0, { read: 2, new: 2, rejected: 0 }]);
    expect(await sandbox.runOrThrow("export")).toBe(
      `{"kind":"user","observedAt":"${AT}","username":"ESA"}\n` +
        `{"kind":"user","observedAt":"${AT}","username":"NASA","followers_count":7}\n`,
    );
  });

  test("rejects a wrong cell with the line of its row, and imports all others", async () => {
    const file = await sandbox.write(
      "users.csv",
      Buffer.concat([
        Buffer.from(
          "kind,observedAt,username,displayName,followers_count\r\n" +
            `user,${AT},a,"two\r\nlines",1\r\n` +
            `user,${AT},b,,1.2E+11\r\n` +
            ",,,,\r\n\r\n" +
            `user,2026-02-30,"c",x,1\r\n` +
            `user,${AT},d,x\r\n` +
            `tweet,${AT},e,x,1\r\n` +
            `user,${AT},f,"x"y,1\r\n` +
            `user,${AT},g,`,
        ),
        Buffer.of(0xff),
        Buffer.from(`,1\r\nuser,${AT},h,"\n\n\n",2\r\nuser,${AT},,,2\r\nuser,${AT},i,"open,1\r\n`),
      ]),
    );
    const { status, out, err } = await sandbox.runInside(["import", "--json", file]);
    expect([status, JSON.parse(out)]).toMatchObject([1, { read: 10, new: 2, rejected: 8 }]);
    expect(parseMessages(err).map((text) => text.replace(`${file}:`, ""))).toEqual([
      '4: followers_count must be a whole number from 0 to 9007199254740991, got "1.2E+11"',
      expect.stringMatching(/^7: observedAt must be an ISO 8601 date .*, got "2026-02-30"$/),
      "8: A row must have as many cells as the header, 5, got 4",
      '9: kind must be user as in the whole file, got "tweet"',
      '10: After the quotes around a cell, a comma or the end of the row must follow, got "y"',
      "11: The row must be valid UTF-8",
      "16: username must be a string, got undefined",
      "17: The quotes around a cell must be closed",
      "8 lines were rejected",
    ]);
    expect((await sandbox.runOrThrow("export")).match(/"username":"\w"/g)).toEqual([
      '"username":"a"',
      '"username":"h"',
    ]);
  });

  test.each([
    ["username,observedAt,Followers\na,2026-11-01,1\n", 'Unknown column "Followers": the columns'],
    ["username;observedAt\na;2026-11-01\n", 'Unknown column "username;observedAt"'],
    ["username,followers_count\na,1\n", "Missing column observedAt: the columns"],
    ["username,observedAt,username\na,b,c\n", "A column must be there once"],
    ['username,"observedAt\na,2026-11-01', "The quotes around a cell must be closed"],
    ["", "There is no row with the columns"],
    ["\n\r\n ,\n", 'Unknown column " "'],
  ])("says of %j what is wrong, before anything is stored", async (csv, message) => {
    const good = await sandbox.write("good.csv", `kind,observedAt,username\nuser,${AT},a\n`);
    const wrong = await sandbox.write("wrong.csv", csv);
    const args = ["import", "--kind", "user", ...(csv === "" ? [] : [good]), wrong];
    const { status, err } = await sandbox.runInside(args);
    expect([status, err]).toEqual([1, expect.stringContaining(`Cannot read ${wrong}: ${message}`)]);
    expect(await sandbox.runOrThrow("export")).toBe("");
  });

  // The rules are those of files. Each command is a process here, and takes its time.
  test.each([
    ["username,observedAt,Followers\na,2026-11-01,1\n", 'Unknown column "Followers": the columns'],
    ["", "There is no row with the columns"],
  ])("says of %j on standard input what is wrong", async (csv, message) => {
    const piped = await sandbox.run(["import", "--format", "csv", "--kind", "user", "-"], csv);
    expect([piped.status, piped.err]).toEqual([1, expect.stringContaining(message)]);
    expect(await sandbox.runOrThrow("export")).toBe("");
  });

  test("says that the kind is missing or unknown, before anything is stored", async () => {
    for (const [csv, message] of [
      [`username,observedAt\na,${AT}\n`, "Without a column kind, the kind must be given"],
      [`kind,username,observedAt\nvideo,a,${AT}\n`, "kind must be one of channel, short"],
      [`kind,username,observedAt\nshort,a,${AT}\n`, 'Unknown column "username": the columns of'],
    ] as const) {
      const { status, err } = await sandbox.runInside([
        "import",
        await sandbox.write("x.csv", csv),
      ]);
      expect([status, err]).toEqual([1, expect.stringContaining(message)]);
    }
    expect(await sandbox.runOrThrow("export")).toBe("");
  });

  test("needs no --kind for lines", async () => {
    const file = await sandbox.write("a.ndjson", "");
    const { status, err } = await sandbox.runInside(["import", "--kind", "user", file]);
    expect([status, err]).toEqual([2, `--kind is for CSV, but ${file} has a kind in each line\n`]);
  });

  test("reads a row without an end, and quotes that never close, in constant memory", async () => {
    const header = `kind,observedAt,username,displayName\nuser,${AT},a,\n`;
    for (const [name, rest, expected] of [
      ["row.csv", `${"x".repeat(200_000_000)}\nuser,${AT},b,\n`, { read: 3, new: 2, rejected: 1 }],
      ["open.csv", `user,${AT},c,"${"x,y\n".repeat(50_000_000)}`, { read: 2, rejected: 1 }],
    ] as const) {
      const child = sandbox.spawn(["import", "--json", await sandbox.write(name, header + rest)]);
      let peakKib = 0;
      const timer = setInterval(() => (peakKib = readPeakKib(child.pid) ?? peakKib), 20);
      const [out, err, status] = await Promise.all([
        child.stdout.text(),
        child.stderr.text(),
        child.exited,
      ]);
      clearInterval(timer);
      expect(peakKib / 1024).toBeLessThan(300);
      expect([status, JSON.parse(out)]).toMatchObject([1, expected]);
      expect(err).toContain(`${name}:3: A row has at most 1048576 bytes: is a quote missing?`);
    }
  }, 60_000);

  test("stores blocks of a long file with the right line numbers", async () => {
    const rows = Array.from({ length: 60_000 }, (_, index) =>
      index % 20_000 === 19_999
        ? `user,${AT},u${index},"a\nb",wrong\n`
        : `user,${AT},u${index},"${"text ".repeat(30)}",${index}\n`,
    );
    const header = "kind,observedAt,username,displayName,followers_count\n";
    const file = await sandbox.write("long.csv", header + rows.join(""));
    const { out, err } = await sandbox.runInside(["import", "--json", file]);
    expect(JSON.parse(out)).toMatchObject({ read: 60_000, new: 59_997, rejected: 3 });
    const lines = Array.from(err.matchAll(/csv:(\d+): followers_count/g), ([, line]) => line);
    expect(lines.map(Number)).toEqual([20_001, 40_002, 60_003]);
  }, 60_000);
});
