/** The command `import`: stores observations from files or standard input; lists rejected lines. */
import { stat } from "node:fs/promises";
import { Option, type Command } from "commander";
import { ENTITY_KINDS } from "../../core/kinds.ts";
import { createInvalidRequestError } from "../../core/errors.ts";
import { OBSERVATION_FORMATS } from "../csv/observation-rows.ts";
import type { OutcomeCounts } from "../../core/entities.ts";
import { countRejected, createRejectionCollector } from "../../core/rejections.ts";
import {
  CommandError,
  createReadError,
  EXIT_INTERRUPTED,
  sendAdmin,
  withConnection,
  type AdminConnection,
  type CommandContext,
} from "./command.ts";
import { checkInput, isCsv, type InputOptions } from "./input/input-blocks.ts";
import type { InputPart } from "./input/input-parts.ts";
import { createInputReader, type InputReader } from "./input/input-reader.ts";
import { printRows } from "./terminal/output.ts";
import { startProgress } from "./terminal/progress.ts";
import { formatBytes } from "./terminal/style.ts";

const COUNT_NAMES = ["read", "new", "changed", "unchanged", "rejected"] as const;
type LineCounts = { readonly file: string } & Record<(typeof COUNT_NAMES)[number], number>;

export function addImportCommand(program: Command, context: CommandContext): void {
  program
    .command("import")
    .summary("Imports observations from files.")
    .description(
      "Imports observations: JSON objects, one per line, or CSV. A file whose name ends in .csv or " +
        ".csv.gz is CSV: a row with the names of the columns, then rows of one kind. A file whose " +
        "name ends in .gz is decompressed; - is standard input. Importing a file again changes " +
        "nothing. If lines are invalid, prints their numbers and the reasons on standard error, " +
        "imports all other lines, and exits with 1.",
    )
    .argument("<file...>", "the files to import")
    .addOption(new Option("--format <format>", FORMAT_DESCRIPTION).choices(OBSERVATION_FORMATS))
    .addOption(
      new Option("--kind <kind>", "the kind of all rows of CSV without a column kind").choices(
        ENTITY_KINDS,
      ),
    )
    .option("--json", "print the counts as JSON")
    .action((files: string[], options: InputOptions) => importFiles(context, files, options));
}

const FORMAT_DESCRIPTION = "the format of all files, and of standard input (default: ndjson)";

async function importFiles(
  context: CommandContext,
  files: readonly string[],
  options: InputOptions,
): Promise<void> {
  const linesFile = files.find((file) => !isCsv(file, options));
  if (options.kind !== undefined && linesFile !== undefined) {
    throw createInvalidRequestError(`--kind is for CSV, but ${linesFile} has a kind in each line`);
  }
  const sizes = await Promise.all(files.map(readFileSize));
  for (const [index, file] of files.entries()) {
    // A pipe, which has no size, can only be read once.
    if (sizes[index] !== 0) await checkInput(file, options);
  }
  const counts: LineCounts[] = [];
  const reader = createInputReader(options);
  const interruption = new AbortController();
  const onInterrupt = () => {
    // The first Ctrl-C waits until the current block is stored; the second one ends at once.
    if (interruption.signal.aborted) process.exit(EXIT_INTERRUPTED);
    interruption.abort();
  };
  process.on("SIGINT", onInterrupt);
  try {
    // The first lines are read and parsed while the database is opened.
    if (files[0] !== undefined) reader.open(files[0]);
    await withConnection(context, async (_, connection) => {
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      // The size of standard input is not known; then the total is not known either.
      const totalBytes = sizes.includes(0) ? undefined : bytes;
      const progress = startProgress(context, { total: totalBytes, formatAmount: formatBytes });
      const run = { context, connection, progress, reader, signal: interruption.signal };
      try {
        for (const file of files) {
          const fileCounts = createCounts(file);
          counts.push(fileCounts);
          await importFile(run, fileCounts);
        }
      } finally {
        progress.stop();
      }
    });
  } finally {
    process.off("SIGINT", onInterrupt);
    reader.close();
    // Prints the counts after a failure too: the observations stored before it stay.
    const total = sumCounts(counts);
    const { file: _, ...sums } = total;
    const rows = counts.length > 1 ? [...counts, total] : counts;
    if (rows.length > 0) await printRows(context, rows, { value: { files: counts, ...sums } });
  }
  const { rejected } = sumCounts(counts);
  if (rejected > 0)
    throw new CommandError(`${rejected === 1 ? "1 line was" : `${rejected} lines were`} rejected`);
}

function createCounts(file: string): LineCounts {
  return { file, read: 0, new: 0, changed: 0, unchanged: 0, rejected: 0 };
}

function addCounts(sums: LineCounts, added: Omit<LineCounts, "file">): void {
  for (const name of COUNT_NAMES) sums[name] += added[name];
}

function sumCounts(counts: readonly LineCounts[]): LineCounts {
  const total = createCounts("all");
  for (const added of counts) addCounts(total, added);
  return total;
}

async function readFileSize(file: string): Promise<number> {
  if (file === "-") return 0;
  try {
    const found = await stat(file);
    if (found.isFile() || found.isFIFO()) return found.size;
  } catch (error) {
    throw createReadError(file, error);
  }
  throw new CommandError(`Cannot read ${file}: it is not a file`);
}

/** Imports a file. @param counts The counts of the file; each stored block is added to them. */
async function importFile(
  run: {
    readonly context: CommandContext;
    readonly connection: AdminConnection;
    readonly progress: ReturnType<typeof startProgress>;
    readonly reader: InputReader;
    readonly signal: AbortSignal;
  },
  counts: LineCounts,
): Promise<void> {
  const { context, connection, progress, reader, signal } = run;
  const { file } = counts;
  const rejections = createRejectionCollector();
  const print = (text: string) => progress.writeMessage(() => context.writeErr(`${file}${text}\n`));
  const parts = untilAborted(reader.readParts(file), signal);
  try {
    for await (const { outcomes, part } of storePipelined(connection, parts)) {
      const { length } = rejections.report().rejected;
      rejections.addReport(part.rejections, (line) => line);
      for (const { line, reason } of rejections.report().rejected.slice(length)) {
        print(`:${line}: ${reason}`);
      }
      addCounts(counts, { ...outcomes, read: part.read, rejected: countRejected(part.rejections) });
      progress.add(part.inputBytes);
    }
  } finally {
    const report = rejections.report();
    const count = countRejected(report);
    const { length } = report.rejected;
    if (count > length) {
      print(`: ${count} lines were rejected; only the first ${length} are listed`);
      for (const { cause, lines } of report.causes) print(`: ${lines} lines: ${cause}`);
    }
  }
}

/** @throws {CommandError} In place of the next part, once the import is interrupted. */
async function* untilAborted(parts: AsyncIterable<InputPart>, signal: AbortSignal) {
  for await (const part of parts) {
    if (signal.aborted) {
      const message = "Interrupted: what was imported stays; import the same files again to go on";
      throw new CommandError(message, { code: "SIGINT", exitStatus: EXIT_INTERRUPTED });
    }
    yield part;
  }
}

/** If garbage is not collected after so many bytes, an import takes 40 MiB more. */
const GC_SENT_BYTES = 10 * 1_048_576;

/** Stores parts, and yields the result of each; the next one is sent while one is stored. */
async function* storePipelined(connection: AdminConnection, parts: AsyncIterable<InputPart>) {
  const store = async ({ message: body, ...part }: InputPart) => {
    const response = await sendAdmin(connection, "observation-batches", { method: "POST", body });
    // Frees the bytes at once: garbage collections are rare here.
    body.buffer.transfer(0);
    const outcomes: OutcomeCounts = JSON.parse(await response.text());
    return { outcomes, part };
  };
  let last: ReturnType<typeof store> | undefined;
  let sentBytes = 0;
  try {
    for await (const part of parts) {
      const previous = last;
      sentBytes += part.message.byteLength;
      last = store(part);
      last.catch(() => undefined); // It is awaited later.
      if (previous !== undefined) yield await previous;
      if (sentBytes < GC_SENT_BYTES) continue;
      sentBytes = 0;
      Bun.gc(true);
    }
    if (last !== undefined) yield await last;
  } catch (error) {
    // The last part is stored and counted before the database is closed.
    const [result] = await Promise.allSettled([last]);
    if (result.status === "fulfilled" && result.value !== undefined) yield result.value;
    throw error;
  }
}
