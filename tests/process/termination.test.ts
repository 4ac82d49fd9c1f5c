/** What tells the service to end: signals, also those that are sent to what started it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import packageFile from "../../package.json";
import { openSandbox, ROOT, type Sandbox } from "../support/processes/command-line.ts";
import { parseStatus } from "../support/network/raw-http.ts";
import { waitUntil } from "../support/wait.ts";

const NPX_BUN = ["npx", "-y", packageFile.packageManager];

let sandbox: Sandbox;
let key: string;
beforeEach(async () => {
  sandbox = await openSandbox();
  await sandbox.runOrThrow("accounts", "create", "acme");
  key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
});
afterEach(() => sandbox.close());

/** The environment of a command that npx runs from its cache. */
const buildEnvironment = () => ({
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "",
  DATABASE_URL: `file:${sandbox.file}`,
  PORT: "0",
  COLLECT: "off",
});

/** Begins a request, whose answer comes once its body is finished. */
async function beginRequest(url: string) {
  const body = '{"creator":"nasa","platform":"microblog"}';
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const answer = new Promise<string>((resolve, reject) => {
    let text = "";
    socket.on("data", (piece) => (text += piece));
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
  });
  socket.write(
    `PATCH /api/creators HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n{`,
  );
  return {
    finish(): Promise<string> {
      socket.write(body.slice(1));
      return answer;
    },
  };
}

describe("SIGTERM to npx", () => {
  test.each([[["run", "start"]], [["server/main.ts", "serve"]]])(
    "finishes the requests in flight and ends the service of npx bun %j",
    async (command) => {
      const child = Bun.spawn([...NPX_BUN, ...command], {
        cwd: ROOT,
        env: buildEnvironment(),
        stdout: "ignore",
        stderr: "pipe",
      });
      const served = Promise.withResolvers<string>();
      const ended = (async () => {
        let log = "";
        for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
          log += piece;
          const [, url] = / at (http:\/\/[\d.:]+)/.exec(log) ?? [];
          if (url !== undefined) served.resolve(url);
        }
        served.reject(new Error(`It did not start: ${log}`));
      })();
      const request = await beginRequest(await served.promise);
      await Bun.sleep(100);
      child.kill();
      await child.exited;
      await Bun.sleep(1000);
      expect(parseStatus(await request.finish())).toBe(201);
      // The service has the other end of the log: it is closed when the last process has ended.
      expect(await Promise.race([ended.then(() => "ended"), Bun.sleep(20_000)])).toBe("ended");
      expect(existsSync(`${sandbox.file}-socket`)).toBe(false);
      expect(JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"))).toHaveLength(1);
    },
    60_000,
  );
});

test("Ctrl-C below npx, which sends SIGINT twice, finishes the requests in flight", async () => {
  let written = "";
  const child = Bun.spawn([...NPX_BUN, "run", "start"], {
    cwd: ROOT,
    env: buildEnvironment(),
    terminal: { data: (_, bytes) => void (written += Buffer.from(bytes).toString()) },
  });
  const url = await waitForValue(() => / at (http:\/\/[\d.:]+)/.exec(written)?.[1]);
  const request = await beginRequest(url);
  await Bun.sleep(100);
  child.terminal?.write("\u0003");
  await Bun.sleep(1000);
  expect(parseStatus(await request.finish())).toBe(201);
  await child.exited;
  await waitForValue(() => !existsSync(`${sandbox.file}-socket`) || undefined);
  child.terminal?.close();
}, 60_000);

test("a second SIGTERM ends serve at once", async () => {
  const service = await sandbox.serve();
  await beginRequest(service.url);
  await Bun.sleep(100);
  service.child.kill();
  await Bun.sleep(1500);
  expect(service.child.exitCode).toBeNull();
  const began = performance.now();
  service.child.kill();
  await service.child.exited;
  expect(service.child.signalCode).toBe("SIGTERM");
  // A drain would go on for 8 seconds more.
  expect(performance.now() - began).toBeLessThan(5000);
}, 60_000);

/** Waits until there is a value. */
async function waitForValue<Value>(readValue: () => Value | undefined): Promise<Value> {
  let value: Value | undefined;
  await waitUntil(() => (value = readValue()) !== undefined, 20_000);
  return value as Value;
}
