/** The audit of a change during which the process is killed. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startSilentServer } from "../support/network/silent-server.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { waitUntil } from "../support/wait.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";

let bluesky: Awaited<ReturnType<typeof startSilentServer>>;
let sandbox: Sandbox;
beforeAll(async () => {
  bluesky = await startSilentServer();
  sandbox = await openSandbox({ ADMIN_TOKEN, BLUESKY_API_URL: bluesky.url });
});
afterAll(async () => {
  await sandbox.close();
  await bluesky.close();
});

test("kill -9 during a change leaves its entry, whose outcome is not known", async () => {
  const service = await sandbox.serve();
  await sandbox.runOrThrow("creators", "add", "nasa.gov");
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const send = (path: string, method = "GET") =>
    fetch(`${service.url}/admin/${path}`, { method, headers });
  const collecting = send("collect", "POST").catch(() => "broken off");
  const entry = { actor: "ADMIN_TOKEN", action: "collect", outcome: null };
  const readEntries = async () => Object(await (await send("audit?limit=1")).json()).entries;
  await waitUntil(async () => (await readEntries())[0].action === "collect");
  expect(await readEntries()).toMatchObject([entry]);
  await service.stop("SIGKILL");
  expect(await collecting).toBe("broken off");
  const listed = JSON.parse(await sandbox.runOrThrow("audit", "--action", "collect", "--json"));
  expect(listed).toMatchObject([entry]);
  expect(await sandbox.runOrThrow("audit")).toMatch(/collect .* not known$/m);
  // The next one has an outcome again.
  await sandbox.runOrThrow("creators", "remove", "nasa.gov");
  expect(await sandbox.runOrThrow("audit", "--limit", "1")).toMatch(/creators remove .* done$/m);
}, 30_000);
