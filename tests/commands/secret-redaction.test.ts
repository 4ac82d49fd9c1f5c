/** What the command line tells of a libSQL server, and what it keeps to itself. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { generateKeyPairSync } from "node:crypto";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

describe.skipIf(!hasSqld())("a libSQL server", () => {
  test("whose URL has a password and a token is served without showing them", async () => {
    const server = await startSqld();
    const address = server.url.replace("http://", "libsql://user:secret-1@");
    const sandbox = await openSandbox({ DATABASE_URL: `${address}?tls=0&authToken=secret-2` });
    const service = await sandbox.serve();
    const { status, log } = await service.stop();
    expect([status, log]).toEqual([0, expect.stringContaining("Serving libsql://…@127.0.0.1:")]);
    expect(log).not.toContain("secret");
    await sandbox.close();
    await server.close();
  }, 30_000);

  test("that refuses the token makes a command exit with 1 and a message", async () => {
    const sandbox = await openSandbox();
    const { publicKey } = generateKeyPairSync("ed25519");
    const pem = publicKey.export({ type: "spki", format: "pem" });
    const file = await sandbox.write("public.pem", pem);
    const server = await startSqld({ extraArguments: ["--auth-jwt-key-file", file] });
    const wrong = await openSandbox({
      DATABASE_URL: server.url,
      DATABASE_AUTH_TOKEN: "wrong-token",
    });
    const { status, err } = await wrong.run(["accounts", "list"]);
    expect([status, err]).toEqual([
      1,
      "Authentication failed: The JWT is invalid; " +
        "set DATABASE_AUTH_TOKEN to a token of the libSQL server\n",
    ]);
    await server.close();
    for (const one of [sandbox, wrong]) await one.close();
  }, 30_000);
});

describe("a database server with an unknown name", () => {
  test("makes a command exit with 1 and a message", async () => {
    const sandbox = await openSandbox({ DATABASE_URL: "http://nowhere.invalid" });
    const { status, err } = await sandbox.run(["accounts", "list"]);
    expect([status, err]).toEqual([
      1,
      expect.stringMatching(
        /^Waited for the database server http:\/\/nowhere\.invalid in vain: [^\n]+\n$/,
      ),
    ]);
    await sandbox.close();
  }, 30_000);
});

test("a message about a wrong DATABASE_URL shows no password and no token", async () => {
  const sandbox = await openSandbox({
    DATABASE_URL: "lipsql://user:secret-1@host?authToken=secret-2",
  });
  const { status, err } = await sandbox.run(["serve"]);
  expect([status, err]).toEqual([2, expect.stringContaining('got "lipsql://…@host?authToken=…"')]);
  await sandbox.close();
});

test("a message names a lock that cannot be opened", async () => {
  const sandbox = await openSandbox();
  await sandbox.write(join("metrics.db-lock", "a"), "");
  const { status, err } = await sandbox.run(["accounts", "list"]);
  expect([status, err]).toEqual([
    1,
    expect.stringContaining(`${sandbox.file}-lock cannot be opened; `),
  ]);
  await sandbox.close();
});
