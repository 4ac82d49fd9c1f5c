/** A real Varnish cache with its default rules in front of a service. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../network/free-port.ts";
import { waitUntil } from "../wait.ts";

const VARNISHD_PATH = "/usr/sbin/varnishd";

/** Varnish compiles its rules when it starts. */
const START_TIMEOUT_MS = 60_000;

/** Whether Varnish is installed. Prints a note if it is not. */
export function hasVarnish(): boolean {
  if (existsSync(VARNISHD_PATH)) return true;
  process.stderr.write(`Skipped the tests with a shared cache: ${VARNISHD_PATH} does not exist\n`);
  return false;
}

/** Starts Varnish in front of the service at an address. */
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

/** Whether the backend can be reached through an address. */
async function isUp(address: string): Promise<boolean> {
  const response = await fetch(`${address}/livez`).catch(() => undefined);
  return response?.ok === true;
}
