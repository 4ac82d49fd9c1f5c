/** Runs a Worker in workerd. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { TOOLS } from "./tools.ts";

const createConfig = (
  modules: readonly string[],
) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [
      ${modules.map((name) => `(name = "${name}", esModule = embed "${name}"),`).join("\n      ")}
    ],
    compatibilityDate = "2026-11-17",
  ))],
  sockets = [(name = "http", address = "unix:workerd.sock", http = (), service = "main")],
);
`;

/**
 * Starts a Worker, and sends it a request.
 *
 * @param modules Files of the folder; the first is the Worker.
 * @returns The body of the response.
 * @throws {Error} If the Worker does not start, or responds with an error.
 */
export async function fetchFromWorker(
  folder: string,
  modules: readonly string[],
  request: RequestInit = {},
): Promise<string> {
  await Bun.write(join(folder, "workerd.capnp"), createConfig(modules));
  const socket = join(folder, "workerd.sock");
  const child = Bun.spawn([join(TOOLS, ".bin/workerd"), "serve", "workerd.capnp"], {
    cwd: folder,
    stdout: "ignore",
    stderr: "pipe",
  });
  try {
    const started = AbortSignal.timeout(30_000);
    while (!existsSync(socket)) {
      if (child.exitCode !== null) throw new Error(await child.stderr.text());
      started.throwIfAborted();
      await Bun.sleep(20);
    }
    const response = await fetch("http://localhost/", { ...request, unix: socket });
    const text = await response.text();
    if (!response.ok) throw new Error(`workerd: ${response.status} ${text}`);
    return text;
  } finally {
    child.kill();
    await child.exited;
  }
}
