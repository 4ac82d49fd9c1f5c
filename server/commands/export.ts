/** `export`: all observations as lines that `import` takes. */
import { Command, Option } from "commander";
import { systemCodeOf } from "../../core/errors.ts";
import { KIND_NAMES } from "../../core/kinds.ts";
import { refusal, withAdmin, type Surroundings } from "./client.ts";

/** Makes the verb. */
export function exportCommand(surroundings: Surroundings): Command {
  return new Command("export")
    .summary("Writes out observations.")
    .description(
      "Writes observations to standard output, one a line. Imported into an empty database, " +
        "they give the same answers.",
    )
    .addOption(new Option("--kind <kind>", "only this kind").choices(KIND_NAMES))
    .option("--since <instant>", "only what was observed since, such as 2026-11-20")
    .action(async (options: { kind?: string; since?: string }) => {
      const query = new URLSearchParams(Object.entries(options));
      await withAdmin(surroundings, "export", async (_, { fetcher }) => {
        const response = await fetcher(`http://localhost/admin/observations?${query}`);
        if (!response.ok || response.body === null) {
          throw refusal(await response.text());
        }
        await pipe(response.body);
      });
    });
}

/** Writes no faster than the reader reads, and ends quietly when the reader does. */
async function pipe(body: ReadableStream<Uint8Array>): Promise<void> {
  for await (const piece of body) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    process.stdout.write(piece, (error) => (error == null ? resolve() : reject(error)));
    try {
      await promise;
    } catch (error) {
      if (systemCodeOf(error) === "EPIPE") return;
      throw error;
    }
  }
}
