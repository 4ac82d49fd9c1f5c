import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { readConfig } from "../../server/config.ts";
import { connectToDatabase } from "../../server/process/database-owner.ts";
import { openSandbox, ROOT, type Sandbox } from "../support/processes/command-line.ts";
import { runInProcess } from "../support/command-line-io.ts";
import { sendRaw, parseStatus } from "../support/network/raw-http.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox();
});
afterEach(() => sandbox.close());

describe("serve", () => {
  test("owns its file: a second serve exits and names the owner, other commands go through it", async () => {
    const service = await sandbox.serve();
    const second = await sandbox.run(["serve"]);
    expect(second.status).toBe(1);
    expect(second.err).toContain(`process ${service.child.pid} at ${service.url} since 20`);
    expect((await stat(`${sandbox.file}-socket`)).mode & 0o777).toBe(0o600);
    await sandbox.runOrThrow("accounts", "create", "through the owner");
    expect(await sandbox.runOrThrow("accounts", "list")).toContain("through the owner");
    await service.stop();
    expect(await sandbox.runOrThrow("accounts", "list")).toContain("through the owner");
  });

  test("keeps balances, keys and creators across a restart", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "5");
    const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const first = await sandbox.serve();
    await fetch(`${first.url}/api/video/channels`, { headers });
    const body = JSON.stringify({ creator: "nasa", platform: "microblog" });
    await fetch(`${first.url}/api/creators`, { method: "PATCH", headers, body });
    expect((await first.stop()).status).toBe(0);
    const second = await sandbox.serve();
    const read = await fetch(`${second.url}/api/video/channels`, { headers });
    expect(read.headers.get("x-credits-remaining")).toBe("3");
    const list = await fetch(`${second.url}/api/creators`, { headers });
    expect(await list.json()).toMatchObject({ creators: [{ creator: "nasa" }] });
    await second.stop();
  });

  test("finishes the requests in flight on SIGTERM", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "500");
    const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
    const service = await sandbox.serve();
    const headers = { "x-api-key": key, connection: "close" };
    const answers = Array.from({ length: 100 }, () =>
      fetch(`${service.url}/api/video/channels`, { headers }).then(
        ({ status }) => status,
        () => 0,
      ),
    );
    await answers[0];
    const { status } = await service.stop();
    const served = (await Promise.all(answers)).filter((answer) => answer === 200).length;
    expect(status).toBe(0);
    const [account] = JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"));
    expect(account.debited).toBe(served);
    await sandbox.runOrThrow("credits", "verify");
  });

  test("checks path and key before the size of a body of any length", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme");
    const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
    const service = await sandbox.serve();
    const send = async (path: string, headers: string) => {
      const head = `PATCH ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
      const length = "Content-Length: 99000000000\r\n\r\n{";
      const [top, body = ""] = (await sendRaw(service.url, head + headers + length)).split(
        "\r\n\r\n",
      );
      expect(top).toMatch(/^x-request-id: \S+$/im);
      return [parseStatus(top ?? ""), JSON.parse(body).error];
    };
    const known = `X-API-Key: ${key}\r\n`;
    expect(await send("/api/nothing", known)).toEqual([404, "Not Found"]);
    expect(await send("/api/creators", "")).toEqual([401, "Missing API Key"]);
    expect(await send("/livez", "")).toEqual([405, "Method Not Allowed"]);
    expect(await send("/api/creators", known)).toEqual([413, "Payload Too Large"]);
    await service.stop();
  });

  test("logs the cause of a failure, and answers without it", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "5");
    const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
    const service = await sandbox.serve();
    const database = new Database(sandbox.file);
    // The service may write while it starts.
    database.run("PRAGMA busy_timeout = 5000");
    database.run("ALTER TABLE channels RENAME TO hidden");
    database.close();
    const headers = { "x-api-key": key, "x-request-id": "lost-one" };
    const failed = await fetch(`${service.url}/api/video/channels`, { headers });
    expect([failed.status, await failed.text()]).toEqual([500, '{"error":"Internal Error"}']);
    const { log } = await service.stop();
    const line = log.split("\n").find((one) => one.includes("lost-one")) ?? "";
    expect(JSON.parse(line)).toMatchObject({ level: "ERROR" });
    expect(line).toContain("no such table: channels");
  });

  test("exits with 2 and names every wrong setting with what is allowed", async () => {
    const wrong = await openSandbox({ PORT: "70000", DURABILITY: "maybe", ADMIN_TOKEN: "short" });
    const { status, err } = await wrong.run(["serve"]);
    expect(status).toBe(2);
    expect(err).toContain('PORT must be a whole number from 0 to 65535, got "70000"');
    expect(err).toContain('DURABILITY must be power or process, got "maybe"');
    expect(err).toContain("ADMIN_TOKEN must be");
    expect(err).not.toContain("short");
    await wrong.close();
  });
});

describe("DATABASE_URL", () => {
  test.each(["file:a?b.db", "file:a#b.db", "file://host/a.db", "file:%zz.db", "file:a%00.db"])(
    "%s is refused before a file is created",
    async (url) => {
      const listFiles = async () => (await readdir(".")).toSorted();
      const before = await listFiles();
      const { status, err } = await runInProcess(["accounts", "list"], { DATABASE_URL: url });
      expect([status, err]).toEqual([2, expect.stringContaining("DATABASE_URL must be file:PATH")]);
      expect(await listFiles()).toEqual(before);
    },
  );

  test("with escaped characters names the same file for every command", async () => {
    const folder = await openSandbox({ DATABASE_URL: "file:a%20%3F%23%25.db" });
    await folder.runOrThrow("accounts", "create", "acme");
    expect(await folder.runOrThrow("accounts", "list", "--json")).toContain('"acme"');
    expect(await readdir(folder.folder)).toContain("a ?#%.db");
    await folder.close();
  });

  test("that names a link has the same owner as the file", async () => {
    const service = await sandbox.serve();
    await symlink(sandbox.file, join(sandbox.folder, "link.db"));
    const linked = await openSandbox({ DATABASE_URL: `file:${join(sandbox.folder, "link.db")}` });
    const second = await linked.run(["serve"]);
    expect([second.status, second.err]).toEqual([
      1,
      expect.stringContaining(`process ${service.child.pid} at ${service.url}`),
    ]);
    await linked.runOrThrow("accounts", "list");
    await service.stop();
    await linked.close();
  });
});

describe("a command that owns the file", () => {
  test("cuts off no command that connects while it ends: each of many is done once", async () => {
    for (const round of ["a", "b"]) {
      const names = Array.from({ length: 6 }, (_, index) => `${round}${index}`);
      const ran = await Promise.all(names.map((name) => sandbox.run(["accounts", "create", name])));
      expect(ran.map(({ status, err }) => [status, err])).toEqual(names.map(() => [0, ""]));
    }
    expect(JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"))).toHaveLength(12);
  }, 60_000);

  test("stays the owner until the commands that use it are done", async () => {
    const line = (hour: number) => {
      const observedAt = new Date(Date.UTC(2020, 0, 1, hour)).toISOString();
      return JSON.stringify({ kind: "user", observedAt, username: "a", followers_count: hour });
    };
    const lines = Array.from({ length: 30_000 }, (_, hour) => line(hour));
    await sandbox.runOrThrow("import", await sandbox.write("many.ndjson", lines.join("\n")));
    const config = readConfig({ DATABASE_URL: `file:${sandbox.file}` });
    const owner = await connectToDatabase({ config, verb: "a short one" });
    const exporting = sandbox.spawn(["export"]);
    const reader = exporting.stdout.getReader();
    const { value: first } = await reader.read();
    let isClosed = false;
    const closing = owner.close().then(() => (isClosed = true));
    expect(JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"))).toEqual([]);
    expect(isClosed).toBe(false);
    let read = Buffer.from(first ?? []).toString();
    const decoder = new TextDecoder();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      read += decoder.decode(next.value, { stream: true });
    }
    expect([await exporting.exited, read.trimEnd().split("\n").length]).toEqual([0, lines.length]);
    await closing;
  });
});

test.each([
  ["0.0.0.0", /^http:\/\/127\.0\.0\.1:\d+$/],
  ["::", /^http:\/\/\[::1\]:\d+$/],
])("serve prints a link that a browser can open with HOST=%s", async (host, link) => {
  const open = await openSandbox({ HOST: host });
  const child = open.spawn(["serve", "--json"]);
  const { value } = await child.stdout.getReader().read();
  const { url } = JSON.parse(Buffer.from(value ?? []).toString());
  expect(url).toMatch(link);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  child.kill();
  expect(await child.exited).toBe(0);
  await open.close();
});

describe("standard output that cannot be written", () => {
  test("exits with 1 and a message", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme");
    const main = join(ROOT, "server/main.ts");
    const child = Bun.spawn(["sh", "-c", `${process.execPath} ${main} accounts list > /dev/full`], {
      env: { PATH: process.env["PATH"] ?? "", DATABASE_URL: `file:${sandbox.file}` },
      stderr: "pipe",
    });
    const [err, status] = await Promise.all([child.stderr.text(), child.exited]);
    expect([status, err]).toEqual([
      1,
      expect.stringMatching(/^Cannot write to standard output: .*\n$/),
    ]);
  });
});

describe("a port that is in use", () => {
  test.each(["serve", "demo"])(
    "%s exits with 1 and a message, and releases the database",
    async (verb) => {
      const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
      const env = { PORT: String(other.port), DATABASE_URL: `file:${sandbox.file}` };
      const late = await openSandbox(env);
      const { status, err } = await late.run([verb]);
      await other.stop(true);
      const sentence =
        `Port ${env.PORT} of 127.0.0.1 is in use; end what listens there, or set PORT to another ` +
        "one\n";
      expect(status).toBe(1);
      expect(err).toEndWith(sentence);
      expect(err).not.toContain("    at ");
      expect(JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"))).toBeArray();
      await late.close();
    },
  );
});

test("--version prints the version of the package, that it is no build, and that of SQLite", async () => {
  const { version } = await Bun.file(join(ROOT, "package.json")).json();
  const out = await sandbox.runOrThrow("--version");
  expect(out).toMatch(
    new RegExp(`^${RegExp.escape(version)}\nfrom sources\nSQLite 3\\.\\d+\\.\\d+\n$`),
  );
});
