/** What a person sees on a terminal. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openSandbox, ROOT, type Sandbox } from "../support/processes/command-line.ts";

/** What a terminal of so many columns shows of what is written to it, from first to last. */
function renderTerminal(written: string, columns: number): string[] {
  const lines: string[] = [""];
  const cursor = { row: 0, column: 0 };
  let saved = { ...cursor };
  let isWrapping = true;
  const writeText = (text: string) => {
    if (cursor.column === columns) Object.assign(cursor, isWrapping ? nextRow() : lastColumn());
    const line = (lines[cursor.row] ?? "").padEnd(cursor.column);
    lines[cursor.row] =
      line.slice(0, cursor.column) + text + line.slice(cursor.column + text.length);
    cursor.column += text.length;
  };
  const nextRow = () => ({ row: cursor.row + 1, column: 0 });
  const lastColumn = () => ({ row: cursor.row, column: columns - 1 });
  const escape = String.fromCharCode(27);
  for (const [token] of written.matchAll(
    new RegExp(`${escape}(?:[78]|\\[[?\\d;]*[A-Za-z])|[^]`, "gu"),
  )) {
    if (token === "\n") cursor.row++;
    else if (token === "\r" || token === "\u001b[1G") cursor.column = 0;
    else if (token === "\u001b7") saved = { ...cursor };
    else if (token === "\u001b8") Object.assign(cursor, saved);
    else if (token === "\u001b[?7l" || token === "\u001b[?7h") isWrapping = token.endsWith("h");
    else if (token === "\u001b[K" || token === "\u001b[0K")
      lines[cursor.row] = (lines[cursor.row] ?? "").slice(0, cursor.column);
    else if (token === "\u001b[2K") lines[cursor.row] = "";
    else if (!token.startsWith("\u001b")) writeText(token);
  }
  return lines.map((line) => line.trimEnd()).filter((line) => line !== "");
}

/** Runs a verb on a terminal of so many columns. */
async function runOnTerminal(
  sandbox: Sandbox & {
    readonly environment?: Readonly<Record<string, string>>;
    readonly wrapper?: readonly string[];
    /** When this is shown, the command is interrupted. */
    readonly until?: RegExp;
  },
  cols: number,
  ...verb: readonly string[]
) {
  const decoder = new TextDecoder();
  let written = "";
  let isInterrupted = false;
  const child = Bun.spawn(
    [...(sandbox.wrapper ?? []), process.execPath, join(ROOT, "server/main.ts"), ...verb],
    {
      cwd: sandbox.folder,
      env: {
        PATH: process.env["PATH"] ?? "",
        DATABASE_URL: `file:${sandbox.file}`,
        TERM: "xterm",
        ...sandbox.environment,
      },
      terminal: {
        cols,
        rows: 40,
        data(_, bytes) {
          written += decoder.decode(bytes, { stream: true });
          if (isInterrupted || sandbox.until === undefined) return;
          isInterrupted = sandbox.until.test(written);
          if (isInterrupted) child.kill("SIGINT");
        },
      },
    },
  );
  const status = await child.exited;
  child.terminal?.close();
  return { status, written, shown: renderTerminal(written, cols) };
}

test("import prints its counts below the rejected lines, not over them", async () => {
  const sandbox = await openSandbox();
  await sandbox.write("a.ndjson", "one\ntwo\n");
  const { status, shown } = await runOnTerminal(sandbox, 120, "import", "a.ndjson");
  expect(status).toBe(1);
  expect(shown).toEqual([
    'a.ndjson:1: The line must be a JSON object, got "one"',
    'a.ndjson:2: The line must be a JSON object, got "two"',
    "file      read  new  changed  unchanged  rejected",
    "a.ndjson     2    0        0          0         2",
    "2 lines were rejected",
  ]);
  await sandbox.close();
});

test("import prints the whole report of a rejected line on a narrow terminal", async () => {
  const sandbox = await openSandbox();
  await sandbox.write("a.ndjson", '{"kind":"video"}\n');
  const { shown } = await runOnTerminal(sandbox, 50, "import", "a.ndjson");
  expect(shown.slice(0, 2)).toEqual([
    "a.ndjson:1: kind must be one of channel, short, us",
    'er, tweet, got "video"',
  ]);
  await sandbox.close();
});

test("channels list leaves out what makes the table wider than the terminal", async () => {
  const sandbox = await openSandbox();
  await sandbox.runOrThrow("channels", "track", "@nasa");
  const withKey = { ...sandbox, environment: { YOUTUBE_API_KEY: "not-a-key" } };
  const [wide, narrow, tiny] = [
    await runOnTerminal(withKey, 200, "channels", "list"),
    await runOnTerminal(withKey, 80, "channels", "list"),
    await runOnTerminal(withKey, 18, "channels", "list"),
  ];
  expect(wide.shown[0]).toStartWith("channel  channel id  added at");
  expect(narrow.shown).toEqual([
    "channel  added at",
    expect.stringMatching(/^@nasa {4}\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  ]);
  expect(tiny.shown.slice(0, 2)).toEqual([
    "channel   @nasa",
    expect.stringMatching(/^added at {2}\d{4}-\d\d-$/),
  ]);
  await sandbox.close();
});

test("import, export and backup show their progress on a terminal", async () => {
  const sandbox = await openSandbox();
  const line = '{"kind":"channel","observedAt":"2026-11-20","id":"a"}\n';
  await sandbox.write("a.ndjson", line);
  const bar = /[-=]{30} +\d+ % {2}[\d.]+ (?:bytes|lines|[kM]B)\/s/;
  expect((await runOnTerminal(sandbox, 80, "import", "a.ndjson")).written).toMatch(bar);
  expect((await runOnTerminal(sandbox, 80, "backup", "b.db")).written).toMatch(bar);
  const toFile = ["sh", "-c", 'exec "$@" > out.ndjson', "sh"];
  const exported = await runOnTerminal({ ...sandbox, wrapper: toFile }, 80, "export");
  expect(exported.written).toMatch(bar);
  expect(exported.shown).toEqual([]);
  expect(await Bun.file(join(sandbox.folder, "out.ndjson")).text()).toContain('"id":"a"');
  // The lines would be mixed with the bar.
  expect((await runOnTerminal(sandbox, 80, "export")).written).not.toMatch(bar);
  await sandbox.close();
});

test("import ends at Ctrl-C between two blocks, and says what it stored", async () => {
  const sandbox = await openSandbox();
  const lines = Array.from({ length: 500_000 }, (_, nth) =>
    JSON.stringify({
      kind: "channel",
      observedAt: new Date(1.7e12 + nth * 1000),
      id: `c${nth % 100}`,
    }),
  );
  const file = await sandbox.write("a.ndjson", lines.join("\n"));
  // By then, a block is stored: the next one is read after it.
  const interrupted = { ...sandbox, until: /[3-9]\d %.* left/ };
  const { status, shown } = await runOnTerminal(interrupted, 80, "import", "a.ndjson");
  expect(shown).toEqual([
    expect.stringMatching(/^file +read +new +changed +unchanged +rejected$/),
    expect.stringMatching(/^a\.ndjson +(\d+) +\1 +0 +0 +0$/),
    "Interrupted: what was imported stays; import the same files again to go on",
  ]);
  expect(status).toBe(130);
  const stored = Number(shown[1]?.split(/ +/)[1]);
  expect(stored).toBeWithin(1, lines.length);
  const { unchanged } = JSON.parse(await sandbox.runOrThrow("import", "--json", file));
  expect(unchanged).toBe(stored);
  await sandbox.close();
});

test("hints of the next step appear on a terminal, and not with --json", async () => {
  const sandbox = await openSandbox();
  const account = await runOnTerminal(sandbox, 120, "accounts", "create", "Bob's");
  expect(account.shown.at(-1)).toMatch(/^Make a key for it: bun \S+ keys create 'Bob'\\''s'$/);
  const key = await runOnTerminal(sandbox, 120, "keys", "create", "Bob's");
  expect(key.shown[0]).toStartWith("cm_");
  expect(key.shown.slice(-2)).toEqual([
    'Try it: curl -H "X-API-Key: KEY" http://127.0.0.1:3000/api/account',
    "See the numbers: http://127.0.0.1:3000/#key=KEY",
  ]);
  const environment = { PUBLIC_URL: "https://example.com/creators/" };
  const later = await runOnTerminal({ ...sandbox, environment }, 120, "keys", "create", "Bob's");
  expect(later.shown.at(-1)).toBe("See the numbers: https://example.com/creators/#key=KEY");
  const json = await runOnTerminal(sandbox, 120, "keys", "create", "Bob's", "--json");
  expect(JSON.parse(json.shown.join(""))).toEqual({ id: 3, key: expect.any(String) });
  await sandbox.close();
}, 30_000);

test("serve says on a terminal where its pages are and how to make a key", async () => {
  const sandbox = await openSandbox();
  const environment = { PORT: "0", COLLECT: "off" };
  const { shown } = await runOnTerminal({ ...sandbox, environment, until: /Ctrl-C/ }, 80, "serve");
  const url = / at (http:\S+)$/.exec(shown[0] ?? "")?.[1] ?? "";
  expect(shown.slice(1, 3)).toEqual([`Dashboard: ${url}/`, `API reference: ${url}/swagger`]);
  expect(shown.join("\n")).toMatch(/^ {2}bun \S+ keys create acme$/m);
  await sandbox.close();
});

test("serve --json prints where it serves as JSON on standard output", async () => {
  const sandbox = await openSandbox();
  const child = sandbox.spawn(["serve", "--json"]);
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  expect(JSON.parse(new TextDecoder().decode(value))).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    database: `file:${sandbox.file}`,
    pid: child.pid,
  });
  child.kill();
  expect(await child.exited).toBe(0);
  await sandbox.close();
});

test("serve --json with PUBLIC_URL and a secret in a file prints both addresses, and not the secret", async () => {
  const sandbox = await openSandbox({
    PUBLIC_URL: "https://example.com/creators",
    ADMIN_TOKEN_FILE: "token.txt",
  });
  await sandbox.write("token.txt", "a-token-of-an-administrator\n");
  const child = sandbox.spawn(["serve", "--json"]);
  const { value } = await child.stdout.getReader().read();
  const printed = JSON.parse(new TextDecoder().decode(value));
  expect(printed).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/creators$/),
    public_url: "https://example.com/creators",
    database: `file:${sandbox.file}`,
    pid: child.pid,
  });
  const headers = { authorization: "Bearer a-token-of-an-administrator" };
  expect((await fetch(`${printed.url}/admin/accounts`, { headers })).status).toBe(200);
  const { err } = await sandbox.run(["serve"]);
  expect(err).toContain(`process ${child.pid} at https://example.com/creators since`);
  child.kill();
  expect(await child.exited).toBe(0);
  await sandbox.close();
});

test("accounts list has colours on a terminal only, and none with NO_COLOR", async () => {
  const sandbox = await openSandbox();
  const escape = String.fromCharCode(27);
  await sandbox.runOrThrow("accounts", "create", "acme");
  expect((await runOnTerminal(sandbox, 80, "accounts", "list")).written).toContain(escape);
  const environment = { NO_COLOR: "1" };
  const plain = await runOnTerminal({ ...sandbox, environment }, 80, "accounts", "list");
  expect(plain.written).not.toContain(escape);
  expect((await sandbox.run(["accounts", "list"])).out).not.toContain(escape);
  await sandbox.close();
});
