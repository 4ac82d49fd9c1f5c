/** Verbs whose database file is owned by a process that is suspended, or slow. */
import { expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { connectToOwner } from "../../server/process/owner-files.ts";
import { startLongExport } from "../support/processes/long-export.ts";
import { openSandbox } from "../support/processes/command-line.ts";

/** The deadline of 10 seconds, and the time that a busy machine takes to start many processes. */
const VERB_MAX_MS = 40_000;

test("a command of each kind and a second serve exit while the owner is suspended, and name its process", async () => {
  const sandbox = await openSandbox();
  await sandbox.runOrThrow("accounts", "create", "acme");
  const lines = await sandbox.write("lines.ndjson", "");
  const service = await sandbox.serve();
  expect(Number(await Bun.file(`${sandbox.file}-owner`).text())).toBe(service.child.pid);
  expect((await stat(`${sandbox.file}-owner`)).mode & 0o777).toBe(0o600);
  service.child.kill("SIGSTOP");
  const verbs = [
    ["serve"],
    ["import", lines],
    ["export"],
    ["accounts", "create", "other"],
    ["keys", "revoke", "1"],
    ["credits", "grant", "acme", "10"],
    ["channels", "track", "@nasa"],
    ["retention", "apply"],
    ["collect", "--once"],
    ["backup", join(sandbox.folder, "copy.db")],
  ];
  const began = performance.now();
  const ran = await Promise.all(verbs.map((verb) => sandbox.run(verb)));
  expect(performance.now() - began).toBeLessThan(VERB_MAX_MS);
  const { pid } = service.child;
  const sentence =
    `Process ${pid} owns ${sandbox.file} and did not answer for 10 seconds. Resume it with ` +
    `"kill -CONT ${pid}" if it is suspended, or end it with "kill -KILL ${pid}", then try again\n`;
  expect(ran.map(({ status, err }) => [status, err])).toEqual(verbs.map(() => [1, sentence]));
  service.child.kill("SIGCONT");
  // None of them had asked for anything yet.
  const [account, ...others] = JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"));
  expect([account.granted, others]).toEqual([0, []]);
  expect((await service.stop()).status).toBe(0);
  expect(await Bun.file(`${sandbox.file}-owner`).exists()).toBe(false);
  await sandbox.close();
}, 90_000);

test("export exits when the owner is suspended in the middle of it, and says what may follow", async () => {
  const sandbox = await openSandbox();
  const { service, exporting, reader } = await startLongExport(sandbox);
  service.child.kill("SIGSTOP");
  const began = performance.now();
  while (!(await reader.read()).done);
  expect(await exporting.exited).toBe(1);
  expect(performance.now() - began).toBeLessThan(VERB_MAX_MS);
  const err = await exporting.stderr.text();
  expect(err).toStartWith(`Process ${service.child.pid} owns ${sandbox.file} and did not answer`);
  expect(err).toEndWith("What was asked of it may be done once it goes on\n");
  await service.stop("SIGKILL");
  await sandbox.close();
}, 90_000);

test("connectToOwner() waits longer than the deadline for a slow owner that answers probes", async () => {
  const sandbox = await openSandbox();
  // Bun takes an idle timeout for sockets too, its types don't.
  const neverIdle: object = { idleTimeout: 0 };
  const socket = Bun.serve({
    unix: `${sandbox.file}-socket`,
    ...neverIdle,
    async fetch({ url }) {
      if (url.endsWith("/admin/owner")) return Response.json({ pid: process.pid });
      await Bun.sleep(11_500);
      return new Response("done");
    },
  });
  const connection = connectToOwner(sandbox.file);
  expect(await (await connection.fetcher("http://localhost/slow")).text()).toBe("done");
  await connection.close();
  await socket.stop(true);
  await sandbox.close();
}, 30_000);
