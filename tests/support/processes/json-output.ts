/** Reads what a service with `--json` prints once it serves. */

/**
 * Reads the first JSON object that a process prints.
 *
 * @throws {Error} With what the process wrote to standard error, if it ends before.
 */
export async function readJsonOutput(
  child: Bun.Subprocess<"ignore", "pipe", "pipe">,
): Promise<Readonly<Record<string, string>>> {
  const decoder = new TextDecoder();
  let printed = "";
  for await (const piece of child.stdout) {
    printed += decoder.decode(piece, { stream: true });
    if (printed.endsWith("}\n")) return JSON.parse(printed);
  }
  throw new Error(`The process ended before it served: ${await child.stderr.text()}`);
}
