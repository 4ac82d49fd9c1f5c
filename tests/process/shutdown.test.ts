/** How verbs end: in time, with the status of what they did, and with nothing left behind. */
import { expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { startLongExport } from "../support/processes/long-export.ts";
import { openSandbox } from "../support/processes/command-line.ts";

test("serve finishes what is in flight in 10 seconds, of clients and verbs together", async () => {
  const sandbox = await openSandbox();
  await sandbox.runOrThrow("accounts", "create", "acme");
  const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
  // One piece is read, and no more.
  const { service, exporting } = await startLongExport(sandbox);
  const client = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(service.url).port),
    socket: { data: () => undefined },
  });
  client.write(
    `PATCH /api/creators HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
  );
  await Bun.sleep(100);
  const began = performance.now();
  const { status } = await service.stop();
  const tookMs = performance.now() - began;
  expect(status).toBe(0);
  // Ten seconds are the most that it waits; a slow machine takes its time to end besides.
  expect(tookMs).toBeLessThan(20_000);
  client.end();
  exporting.kill("SIGKILL");
  await exporting.exited;
  await sandbox.close();
}, 60_000);

test("serve stops cleanly from the moment at which it says that it serves", async () => {
  const sandbox = await openSandbox();
  await sandbox.runOrThrow("accounts", "create", "acme");
  for (let round = 0; round < 4; round++) {
    const child = sandbox.spawn(["serve"]);
    await child.stderr.getReader().read();
    child.kill();
    expect(await child.exited).toBe(0);
  }
  await sandbox.close();
}, 60_000);

test("serve exits with 0 when nobody reads its log any more", async () => {
  const sandbox = await openSandbox({ LOG_LEVEL: "debug" });
  const child = sandbox.spawn(["serve"]);
  const reader = child.stderr.getReader();
  const { value } = await reader.read();
  const [url = ""] = /http:\S+/.exec(Buffer.from(value ?? []).toString()) ?? [];
  await reader.cancel();
  for (let sent = 0; sent < 5; sent++) expect((await fetch(`${url}/livez`)).status).toBe(200);
  child.kill();
  expect(await child.exited).toBe(0);
  await sandbox.close();
});

test("openapi leaves no files when its reader stops early", async () => {
  const sandbox = await openSandbox();
  const folder = join(sandbox.folder, "temporary");
  await mkdir(folder);
  const early = await openSandbox({ TMPDIR: folder });
  const { out } = await early.run(["openapi"], undefined, ["sh", "-c", '"$@" | head -c 1', "sh"]);
  expect([out, await readdir(folder)]).toEqual(["{", []]);
  await sandbox.close();
  await early.close();
});

test("a command whose service is killed says that the connection was closed", async () => {
  const sandbox = await openSandbox();
  const { service, exporting, reader } = await startLongExport(sandbox);
  await service.stop("SIGKILL");
  while (!(await reader.read()).done);
  expect(await exporting.exited).toBe(1);
  expect(await exporting.stderr.text()).toBe(
    "The process that owns the database closed the connection before it answered: it ended, or " +
      "its log says why. It may have done what was asked\n",
  );
  await sandbox.close();
}, 60_000);
