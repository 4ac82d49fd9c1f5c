/** A real Varnish with its default rules in front of a service, where it is installed. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "../wait.ts";

const VARNISHD_PATH = "/usr/sbin/varnishd";

/** How long Varnish may take to start: it compiles its rules. */
const START_TIMEOUT_MS = 60_000;

/** Whether there is a Varnish; says so where there is none. */
export function hasVarnish(): boolean {
  if (existsSync(VARNISHD_PATH)) return true;
  process.stderr.write(`Skipped what needs a shared cache: there is no ${VARNISHD_PATH}\n`);
  return false;
}

/** Starts a Varnish before the service at an address. */
export async function startVarnish(backend: string) {
  const folder = await mkdtemp(join(tmpdir(), "varnish-"));
  const port = findFreePort();
  const addressArguments = ["-n", folder, "-a", `127.0.0.1:${port}`, "-b", new URL(backend).host];
  const limits = ["-j", "none", "-T", "none", "-s", "malloc,64m", "-l", "16m"];
  const child = Bun.spawn([VARNISHD_PATH, "-F", ...addressArguments, ...limits], {
    stdout: "ignore",
    stderr: "pipe",
  });
  const close = async () => {
    child.kill();
    await child.exited;
    await rm(folder, { recursive: true, force: true });
  };
  const address = `http://127.0.0.1:${port}`;
  await waitUntil(
    async () => child.exitCode !== null || (await isUp(address)),
    START_TIMEOUT_MS,
  ).catch(() => undefined);
  if (await isUp(address)) return { address, close };
  await close();
  throw new Error(`Varnish did not start: ${await child.stderr.text()}`);
}

/** Whether an address answers with what its backend says. */
async function isUp(address: string): Promise<boolean> {
  const response = await fetch(`${address}/livez`).catch(() => undefined);
  return response?.ok === true;
}

function findFreePort(): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port = 0 } = server;
  void server.stop(true);
  return port;
}
