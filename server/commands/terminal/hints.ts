/** Hints of the next step, for a person at a terminal. */
import type { CommandLineIo } from "./process-io.ts";

/** Writes hints to standard error, if that is a terminal. */
export function writeHint(
  { errTerminal, writeErr }: CommandLineIo,
  hints: readonly string[],
): void {
  if (errTerminal === undefined) return;
  for (const hint of hints) writeErr(`${hint}\n`, "dim");
}

/**
 * Quotes an argument for a shell, if it needs that.
 *
 * @example
 * quote("acme"); // "acme"
 * quote("Bob's"); // "'Bob'\\''s'"
 */
export function quote(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}
