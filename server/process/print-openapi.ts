/** The command `openapi`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../config.ts";
import type { CommandLineIo } from "../commands/terminal/process-io.ts";
import { openService } from "../service.ts";

/** Prints the document that `/swagger/json` answers, of a service on an empty database. */
export async function printOpenApi({ writeOut }: CommandLineIo): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "creator-metrics-"));
  const config = { ...readConfig({}), databaseUrl: `file:${join(folder, "metrics.db")}` };
  const service = await openService({ config, verb: "openapi" });
  const response = await service.app.handle(new Request("http://localhost/swagger/json"));
  const document = await response.json();
  await service.close();
  // Removed before printing: the process ends as soon as the reader of a pipe stops.
  await rm(folder, { recursive: true });
  await writeOut(`${JSON.stringify(document, null, 2)}\n`);
}
