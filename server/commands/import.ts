/** The command `import`: stores observations from files. */
import { stat } from "node:fs/promises";
import { Option, type Command } from "commander";
import { ENTITY_KINDS } from "../../core/kinds.ts";
import { createInvalidRequestError } from "../../core/errors.ts";
import { OBSERVATION_FORMATS } from "../csv/observation-rows.ts";
import { countRejected, createRejectionCollector } from "../../core/rejections.ts";
import type { ImportResult } from "../../core/stores.ts";
import { sendAdmin, withConnection } from "./admin-client.ts";
import {
  CommandError,
  createReadError,
  EXIT_INTERRUPTED,
  INTERRUPTED,
  type CommandContext,
  type AdminConnection,
} from "./command.ts";
import { checkInput, isCsv, readInput, type InputOptions } from "./input/input-blocks.ts";
import type { InputBlock } from "./input/line-blocks.ts";
import { printRows } from "./terminal/output.ts";
import { startProgress, type Progress } from "./terminal/progress.ts";
import { formatBytes } from "./terminal/style.ts";

/**
 * The size of a block, roughly. A large one is faster, because it writes each entity once for many
 * observations. A small one takes less memory: 290 MiB with 8 MiB, 280 with 6, which takes 1.1 times
 * the time.
 */
const BLOCK_BYTES = 8 * 1_048_576;

/** Reading CSV leaves more garbage in each block: with 8 MiB, an import takes 350 MiB, with 4, 250. */
const CSV_BLOCK_BYTES = 4 * 1_048_576;

const COUNT_NAMES = ["read", "new", "changed", "unchanged", "rejected"] as const;
type LineCounts = Record<(typeof COUNT_NAMES)[number], number>;
type FileCounts = LineCounts & { readonly file: string };

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
  const counts: FileCounts[] = [];
  const total = createCounts("all");
  const interruption = new AbortController();
  const onInterrupt = () => {
    // Only the first Ctrl-C waits for the block that is being stored.
    if (interruption.signal.aborted) process.exit(EXIT_INTERRUPTED);
    interruption.abort();
  };
  process.on("SIGINT", onInterrupt);
  try {
    await withConnection(context, async (_, connection) => {
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      // The size of standard input is not known, and then neither is that of all files.
      const totalBytes = sizes.includes(0) ? undefined : bytes;
      const progress = startProgress(context, { total: totalBytes, formatAmount: formatBytes });
      const run = { context, connection, progress, options, signal: interruption.signal };
      try {
        for (const file of files) {
          const fileCounts = createCounts(file);
          counts.push(fileCounts);
          await importFile(run, file, (added) => {
            for (const sums of [fileCounts, total]) addCounts(sums, added);
          });
        }
      } finally {
        progress.stop();
      }
    });
  } finally {
    process.off("SIGINT", onInterrupt);
    // After a failure too: the observations stored before it stay.
    const { file: _, ...sums } = total;
    const rows = counts.length > 1 ? [...counts, total] : counts;
    if (rows.length > 0) await printRows(context, rows, { value: { files: counts, ...sums } });
  }
  const { rejected } = total;
  if (rejected > 0)
    throw new CommandError(`${rejected === 1 ? "1 line was" : `${rejected} lines were`} rejected`);
}

function createCounts(file: string): FileCounts {
  return { file, read: 0, new: 0, changed: 0, unchanged: 0, rejected: 0 };
}

function addCounts(sums: LineCounts, added: LineCounts): void {
  for (const name of COUNT_NAMES) sums[name] += added[name];
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

/** Imports a file. @param onCounts Receives the counts of each stored block. */
async function importFile(
  run: {
    readonly context: CommandContext;
    readonly connection: AdminConnection;
    readonly progress: Progress;
    readonly options: InputOptions;
    /** Ends the import between two blocks. */
    readonly signal: AbortSignal;
  },
  file: string,
  onCounts: (counts: LineCounts) => void,
): Promise<void> {
  const { context, connection, progress, options, signal } = run;
  const rejections = createRejectionCollector();
  const print = (text: string) => progress.writeMessage(() => context.writeErr(`${file}${text}\n`));
  const onStored: OnBlockStored = (stored, block) => {
    const listed = stored.rejected
      .map(({ line, reason }) => ({ line: block.findFileLine(line), reason }))
      .concat(block.rejections.rejected)
      .toSorted((a, b) => a.line - b.line);
    const causes = stored.causes.concat(block.rejections.causes);
    const { length } = rejections.report().rejected;
    rejections.addReport({ rejected: listed, causes }, (line) => line);
    for (const { line, reason } of rejections.report().rejected.slice(length)) {
      print(`:${line}: ${reason}`);
    }
    const read = stored.read + countRejected(block.rejections);
    onCounts({ ...stored, read, rejected: countRejected({ causes }) });
  };
  const blockBytes = isCsv(file, options) ? CSV_BLOCK_BYTES : BLOCK_BYTES;
  const blocks = untilAborted(readInput(file, options, blockBytes, progress.add), signal);
  try {
    await sendPipelined(connection, blocks, onStored);
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

/** @throws {CommandError} In place of the next block, once the import is interrupted. */
async function* untilAborted(blocks: AsyncIterable<InputBlock>, signal: AbortSignal) {
  for await (const block of blocks) {
    if (signal.aborted) {
      const message = "Interrupted: what was imported stays; import the same files again to go on";
      throw new CommandError(message, { code: INTERRUPTED });
    }
    yield block;
  }
}

type OnBlockStored = (result: ImportResult, block: Omit<InputBlock, "bytes">) => void;

/** Sends blocks; reads and parses one while another is stored. */
async function sendPipelined(
  connection: AdminConnection,
  blocks: AsyncIterable<InputBlock>,
  onStored: OnBlockStored,
): Promise<void> {
  /** Resolves to the function that reports the block, once it is stored. */
  let last: Promise<() => void> | undefined;
  try {
    for await (const { bytes: body, ...block } of blocks) {
      const store = async () => {
        const response = await sendAdmin(connection, "observations", { method: "POST", body });
        const result: ImportResult = JSON.parse(await response.text());
        return () => onStored(result, block);
      };
      const previous = last;
      last = store();
      last.catch(() => undefined); // It is awaited later.
      (await previous)?.();
      // Without this, the process takes 410 MiB at its peak instead of 290.
      Bun.gc(true);
    }
    (await last)?.();
  } catch (error) {
    // The last block is stored and counted before the database is closed.
    const [result] = await Promise.allSettled([last]);
    if (result.status === "fulfilled") result.value?.();
    throw error;
  }
}
