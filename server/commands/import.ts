/** The command `import`: stores observations from files. */
import { stat } from "node:fs/promises";
import { SingleBar } from "cli-progress";
import { Command } from "commander";
import type { AdminConnection } from "../ports/process.ts";
import type { ImportResult } from "../ports/reads.ts";
import { describeError } from "../system-errors.ts";
import { sendAdmin, withConnection } from "./admin-client.ts";
import { CommandError, type CommandContext } from "./command.ts";
import { openInput, readBlocks, type FileBlock } from "./line-blocks.ts";
import { printRows, type OutputOptions } from "./output.ts";

/**
 * The sizes of blocks, roughly: what one transaction stores. A large block is faster, because it
 * writes each entity once for many observations. A small one keeps the requests of a service
 * waiting for a shorter time, and takes less memory: 290 MiB with 8 MiB, 280 with 6, which takes
 * 1.1 times the time.
 */
const IN_PROCESS_BLOCK_BYTES = 8 * 1_048_576;
const SERVICE_BLOCK_BYTES = 1_048_576 / 4;

const COUNT_NAMES = ["read", "new", "changed", "unchanged", "rejected"] as const;
type LineCounts = Record<(typeof COUNT_NAMES)[number], number>;
type FileCounts = LineCounts & { readonly file: string };

export function createImportCommand(context: CommandContext): Command {
  return new Command("import")
    .summary("Imports observations from files.")
    .description(
      "Imports observations: JSON objects, one per line. A file whose name ends in .gz is " +
        "decompressed; - is standard input. Importing a file again changes nothing. If lines are " +
        "invalid, prints their numbers and the reasons on standard error, imports all other lines, " +
        "and exits with 1.",
    )
    .argument("<file...>", "the files to import")
    .option("--json", "print the counts as JSON")
    .action((files: string[], options: OutputOptions) => importFiles(context, files, options));
}

async function importFiles(
  context: CommandContext,
  files: readonly string[],
  options: OutputOptions,
): Promise<void> {
  const sizes = await Promise.all(files.map(readFileSize));
  const counts: FileCounts[] = [];
  try {
    await withConnection(context, async (connection) => {
      const progress = createProgress(sizes.reduce((sum, size) => sum + size, 0));
      try {
        for (const file of files) {
          const fileCounts = createCounts(file);
          counts.push(fileCounts);
          await importFile(context, connection, fileCounts, progress);
        }
      } finally {
        progress.stop();
      }
    });
  } finally {
    // After a failure too: what was stored before it stays.
    if (counts.length > 0) await printCounts(context, options, counts);
  }
  const { rejected } = sumCounts(counts);
  if (rejected > 0)
    throw new CommandError(`${rejected === 1 ? "1 line was" : `${rejected} lines were`} rejected`);
}

function createCounts(file: string): FileCounts {
  return { file, read: 0, new: 0, changed: 0, unchanged: 0, rejected: 0 };
}

function addCounts(total: LineCounts, added: LineCounts): void {
  for (const name of COUNT_NAMES) total[name] += added[name];
}

function sumCounts(counts: readonly FileCounts[]): FileCounts {
  const total = createCounts("all");
  for (const fileCounts of counts) addCounts(total, fileCounts);
  return total;
}

async function printCounts(
  context: CommandContext,
  options: OutputOptions,
  counts: readonly FileCounts[],
): Promise<void> {
  const total = sumCounts(counts);
  const { file: _, ...sums } = total;
  const rows = counts.length > 1 ? [...counts, total] : counts;
  await printRows(context, options, ["file", ...COUNT_NAMES], rows, { files: counts, ...sums });
}

async function readFileSize(file: string): Promise<number> {
  if (file === "-") return 0;
  try {
    const found = await stat(file);
    if (found.isFile() || found.isFIFO()) return found.size;
  } catch (error) {
    throw new CommandError(`Cannot read ${file}: ${describeError(error)}`);
  }
  throw new CommandError(`Cannot read ${file}: it is not a file`);
}

async function importFile(
  { writeErr }: CommandContext,
  connection: AdminConnection,
  counts: FileCounts,
  progress: Progress,
): Promise<void> {
  const { file } = counts;
  const onStored: OnBlockStored = ({ rejected, ...stored }, firstLine) => {
    for (const { line, reason } of rejected) {
      progress.writeMessage(() => writeErr(`${file}:${firstLine + line - 1}: ${reason}\n`));
    }
    addCounts(counts, { ...stored, rejected: rejected.length });
  };
  const blocks = readFileBlocks(file, connection, progress);
  if (connection.isInProcess) await sendPipelined(connection, blocks, onStored);
  else await sendThrottled(connection, blocks, onStored);
}

/** Receives the result of a block, and the number of its first line. */
type OnBlockStored = (result: ImportResult, firstLine: number) => void;

/** Sends blocks to the database of this process; reads and parses one while another is stored. */
async function sendPipelined(
  connection: AdminConnection,
  blocks: AsyncIterable<FileBlock>,
  onStored: OnBlockStored,
): Promise<void> {
  /** Resolves to the function that reports the block, once it is stored. */
  let last: Promise<() => void> | undefined;
  try {
    for await (const { bytes, firstLine } of blocks) {
      const previous = last;
      last = sendBlock(connection, bytes).then((result) => () => onStored(result, firstLine));
      last.catch(() => undefined); // It is awaited later.
      const reportPrevious = await previous;
      reportPrevious?.();
      // Without this, the process takes 410 MiB at its peak instead of 290.
      Bun.gc(true);
    }
    const reportLast = await last;
    reportLast?.();
  } catch (error) {
    // The last block is stored and counted before the database is closed.
    const [result] = await Promise.allSettled([last]);
    if (result.status === "fulfilled") result.value?.();
    throw error;
  }
}

/**
 * Sends blocks to a service, one after the other. While one is stored, no request can be charged,
 * so the import pauses after each for as long as that took: the requests get half of the time.
 */
async function sendThrottled(
  connection: AdminConnection,
  blocks: AsyncIterable<FileBlock>,
  onStored: OnBlockStored,
): Promise<void> {
  for await (const { bytes, firstLine } of blocks) {
    const startedAt = performance.now();
    onStored(await sendBlock(connection, bytes), firstLine);
    await Bun.sleep(performance.now() - startedAt);
  }
}

async function sendBlock(
  connection: AdminConnection,
  body: Uint8Array<ArrayBuffer>,
): Promise<ImportResult> {
  const response = await sendAdmin(connection, "observations", { method: "POST", body });
  return JSON.parse(await response.text());
}

/** Reads the blocks of a file. @throws {CommandError} Naming the file. */
async function* readFileBlocks(
  file: string,
  { isInProcess }: AdminConnection,
  progress: Progress,
): AsyncGenerator<FileBlock> {
  try {
    const input = openInput(file, progress.add);
    yield* readBlocks(input, isInProcess ? IN_PROCESS_BLOCK_BYTES : SERVICE_BLOCK_BYTES);
  } catch (error) {
    throw new CommandError(`Cannot read ${file}: ${describeError(error)}`);
  }
}

/** A progress bar on a terminal, nothing elsewhere. */
interface Progress {
  add(bytes: number): void;
  /** Writes a message in place of the bar, which appears below it with the next bytes. */
  writeMessage(write: () => void): void;
  stop(): void;
}

function createProgress(totalBytes: number): Progress {
  const nothing = () => undefined;
  if (!process.stderr.isTTY || totalBytes === 0)
    return { add: nothing, writeMessage: (write) => write(), stop: nothing };
  const bar = new SingleBar({
    stream: process.stderr,
    format: "{bar} {percentage} %  {eta_formatted} left",
    clearOnComplete: true,
    hideCursor: true,
    linewrap: true, // Otherwise the terminal cuts long messages.
  });
  bar.start(totalBytes, 0);
  return {
    add: (bytes) => bar.increment(bytes),
    writeMessage(write) {
      process.stderr.write("\r\u001b[K");
      write();
      // The bar returns to the saved position when it stops: that must be below the message.
      process.stderr.write("\u001b7");
    },
    stop: () => bar.stop(),
  };
}
