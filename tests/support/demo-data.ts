/** Imports the data of the demo's creators that the examples of the OpenAPI document name. */
import { DAY_MS } from "../../core/time.ts";
import { DEMO_CHANNEL, DEMO_USER } from "../../server/demo/creators.ts";
import { generateObservations } from "../../server/demo/generate.ts";
import type { TestService } from "./service.ts";

/** Imports what the demo has of the creators that the examples name. */
export async function importDemoData(demo: TestService, now: number): Promise<void> {
  demo.clock.now = now;
  const lines: string[] = [];
  let channel = "";
  for (const line of generateObservations({ from: now - 45 * DAY_MS, to: now })) {
    if (line.kind === "channel" && line.username === DEMO_CHANNEL) channel = line.id;
    const isNamed =
      line.kind === "channel" || line.kind === "short"
        ? (line.kind === "short" ? line.channel : line.id) === channel
        : line.username === DEMO_USER;
    if (isNamed) lines.push(JSON.stringify(line));
  }
  await demo.importLines(lines.join("\n"));
  await demo.refreshFigures();
}
