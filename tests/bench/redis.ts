/** Runs Redis, whose append-only file is synced with every write, for a server that uses it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "../support/wait.ts";
import type { BenchServer, Workspace } from "./workspace.ts";

/** Starts Redis and the server that uses it. @returns `undefined` if Redis is not installed. */
export async function startRedis(
  workspace: Workspace,
  startServer: (socket: string) => Promise<BenchServer>,
): Promise<BenchServer | undefined> {
  if (Bun.which("redis-server") === null) return undefined;
  const socket = join(workspace.folder, "redis.sock");
  const settings = {
    port: "0",
    unixsocket: socket,
    appendonly: "yes",
    appendfsync: "always",
    save: "",
    logfile: join(workspace.folder, "redis.log"),
  };
  const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const redis = workspace.spawn(["redis-server", ...options]);
  await waitUntil(() => existsSync(socket));
  const server = await startServer(socket);
  const stop = async () => {
    await server.stop();
    redis.kill();
    await redis.exited;
  };
  return { ...server, stop };
}
