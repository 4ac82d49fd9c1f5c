/** Starts an export that takes a while. */
import type { Sandbox } from "./command-line.ts";

/**
 * Starts a service and an export from it, of more data than a pipe holds: it goes on until the reader
 * has read the rest.
 */
export async function startLongExport(sandbox: Sandbox) {
  const lines = Array.from({ length: 50_000 }, (_, index) =>
    JSON.stringify({ kind: "user", observedAt: "2026-01-01", username: `user ${index}` }),
  );
  await sandbox.runOrThrow("import", await sandbox.write("many.ndjson", lines.join("\n")));
  const service = await sandbox.serve();
  const exporting = sandbox.spawn(["export"]);
  const reader = exporting.stdout.getReader();
  await reader.read();
  return { service, exporting, reader };
}
