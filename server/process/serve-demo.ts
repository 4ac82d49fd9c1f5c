/** The command `demo`: runs the service on generated data. */
import { MINUTE_MS } from "../../core/time.ts";
import { readConfig } from "../config.ts";
import { prepareDemo } from "../demo/prepare.ts";
import type { CommandLineIo } from "../ports/process.ts";
import { readNewestObservedAt } from "../store/observations/export.ts";
import { acquireOwnership, closeOnFailure } from "./database-owner.ts";
import { watchFileDescriptors } from "./file-descriptors.ts";
import { listen } from "./http-server.ts";
import { startLogger } from "./logger.ts";

/** Runs the service on generated data until SIGTERM or SIGINT, and prints an API key for it. */
export async function serveDemo({ environment, writeOut, writeErr }: CommandLineIo): Promise<void> {
  const config = readConfig({
    ...environment,
    DATABASE_URL: environment["DATABASE_URL"] || "file:./data/demo.db",
    LOG_LEVEL: environment["LOG_LEVEL"] || "warning",
  });
  const log = await startLogger(config.logLevel);
  const ownership = await acquireOwnership({ config, verb: "demo", log });
  writeErr("Generating 45 days of data, or the data since the last start…\n");
  const [demo, { url, terminated, stop }] = await closeOnFailure(ownership, async () => [
    await prepareDemo(ownership, await readNewestObservedAt(ownership.service.database), Date.now),
    await listen(ownership, config, { isAnyPortAllowed: !environment["PORT"] }),
  ]);
  watchFileDescriptors(log);
  await writeOut(demo.formatGreeting(url));
  const updateTimer = setInterval(
    () => void demo.update().catch((error) => log.backgroundFailure?.(error, "Generating data")),
    MINUTE_MS,
  );
  await terminated;
  await stop(async () => clearInterval(updateTimer));
  log.flush();
}
