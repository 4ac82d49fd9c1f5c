/** Runs a command on many names, from arguments, a file or standard input, one after the other. */
import { readFile } from "node:fs/promises";
import { createInvalidRequestError } from "../../../core/errors.ts";
import { describeError } from "../../system-errors.ts";
import { withConnection, type AdminClient } from "../admin-client.ts";
import { CommandError, createReadError, type CommandContext } from "../command.ts";
import { formatJson } from "../terminal/output.ts";

const NAMES_MAX = 100_000;

type NameResult = Readonly<Record<string, string | null>>;

/**
 * Runs a command on names; `-` stands for the lines of standard input. A name that fails does not
 * stop the others.
 *
 * @throws {CommandError} At the end, if a name failed; if there is only one, its own error.
 */
export async function runOnNames(
  context: CommandContext,
  names: readonly string[],
  { file }: { readonly file?: string },
  work: (client: AdminClient, name: string) => Promise<{ result: NameResult; sentence: string }>,
): Promise<void> {
  const all = await readNames(names, file);
  const results: NameResult[] = [];
  let failureCount = 0;
  const report = (result: NameResult, sentence: string) => {
    results.push(result);
    if (!context.isJson) context.writeErr(`${sentence}\n`);
  };
  await withConnection(context, async (client) => {
    for (const name of all) {
      try {
        const { result, sentence } = await work(client, name);
        report({ name, ...result }, sentence);
      } catch (error) {
        if (all.length === 1) throw error;
        failureCount++;
        report({ name, error: describeError(error) }, describeError(error));
      }
    }
  });
  if (context.isJson) await context.writeOut(formatJson(results));
  if (failureCount > 0) throw new CommandError(`${failureCount} of ${all.length} names failed`);
}

async function readNames(names: readonly string[], file?: string): Promise<string[]> {
  const unique = new Set([
    ...names.filter((name) => name !== "-"),
    ...(file === undefined ? [] : parseNames(await readText(file))),
    ...(names.includes("-") ? parseNames(await Bun.stdin.text()) : []),
  ]);
  if (unique.size === 0) {
    throw createInvalidRequestError(
      "Give one name or more: as arguments, in the lines of --file FILE, or with - on standard input",
    );
  }
  if (unique.size > NAMES_MAX) {
    throw createInvalidRequestError(`There may be at most ${NAMES_MAX} names, got ${unique.size}`);
  }
  return [...unique];
}

const readText = (file: string) =>
  readFile(file, "utf8").catch((error: unknown) => {
    throw createReadError(file, error);
  });

/** Parses a list of names: one in each line. Blank lines are ignored, as is a byte-order mark. */
export function parseNames(text: string): string[] {
  // trim() removes a byte-order mark too.
  const names = text.split("\n").map((line) => line.trim());
  return names.filter((name) => name !== "");
}
