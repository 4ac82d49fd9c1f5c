/** `import`: observations from files into the database. */
import { SingleBar } from "cli-progress";
import { Command } from "commander";
import { stat } from "node:fs/promises";
import {
  CommandError,
  toCommandError,
  readErrorMessage,
  withAdminClient,
  type CommandContext,
} from "./admin-client.ts";
import type { AdminConnection } from "../ports/process.ts";
import { openInput, readAhead, readBlocks, type FileBlock } from "./line-blocks.ts";
import { formatJson, formatTable } from "./output.ts";

/**
 * Bytes of a block, about: what one transaction takes in. A large one writes each entity once for
 * many observations of it; a small one does not keep the requests of a service waiting.
 */
const IN_PROCESS_BLOCK_BYTES = 8 * 1_048_576;
const SERVICE_BLOCK_BYTES = 1_048_576 / 4;

/** What became of a file's lines. */
type LineCounts = Record<"read" | "new" | "changed" | "unchanged" | "rejected", number>;

type FileCounts = LineCounts & { file: string };

/** Makes the verb. */
export function createImportCommand(context: CommandContext): Command {
  return new Command("import")
    .summary("Takes in observations from files.")
    .description(
      "Takes in observations: NDJSON, one a line; .gz is unpacked, - is standard input. " +
        "Taking in a file again changes nothing. A wrong line is named with its number and the " +
        "reason on standard error, the others are taken in, and the exit status is 1.",
    )
    .argument("<file...>", "the files")
    .option("--json", "print the counts as JSON")
    .action(async (files: string[], { json }: { json?: true }) => {
      const sizes = await Promise.all(files.map(readFileSize));
      const counts: FileCounts[] = [];
      try {
        await withAdminClient(context, "import", async (_, connection) => {
          const progress = createProgress(sizes.reduce((sum, size) => sum + size, 0));
          try {
            for (const file of files) {
              const fileCounts = { file, read: 0, new: 0, changed: 0, unchanged: 0, rejected: 0 };
              counts.push(fileCounts);
              await importFile(context, connection, fileCounts, progress);
            }
          } finally {
            progress.stop();
          }
        });
      } finally {
        // Also of what was taken in before something failed.
        if (counts.length > 0)
          await context.writeOut(
            json === true ? formatCountsAsJson(counts) : formatCountsAsTable(counts),
          );
      }
      const { rejected } = sumCounts(counts);
      if (rejected > 0) {
        throw new CommandError(
          `${rejected === 1 ? "1 line was" : `${rejected} lines were`} rejected`,
        );
      }
    });
}

function formatCountsAsJson(counts: readonly FileCounts[]): string {
  const { file: _, ...total } = sumCounts(counts);
  return formatJson({ files: counts, ...total });
}

function formatCountsAsTable(counts: readonly FileCounts[]): string {
  return formatTable(
    ["file", "read", "new", "changed", "unchanged", "rejected"],
    counts.length > 1 ? [...counts, sumCounts(counts)] : counts,
  );
}

async function readFileSize(file: string): Promise<number> {
  if (file === "-") return 0;
  try {
    const found = await stat(file);
    if (found.isFile() || found.isFIFO()) return found.size;
  } catch (error) {
    throw new CommandError(`Cannot read ${file}: ${readErrorMessage(error)}`);
  }
  throw new CommandError(`Cannot read ${file}: it is no file`);
}

async function importFile(
  { writeErr }: CommandContext,
  connection: AdminConnection,
  counts: FileCounts,
  progress: Progress,
): Promise<void> {
  const { file } = counts;
  const add: OnBlockStored = ({ rejected, ...taken }, firstLine) => {
    for (const { line, reason } of rejected) {
      progress.writeMessage(() => writeErr(`${file}:${firstLine + line - 1}: ${reason}\n`));
    }
    counts.read += taken.read;
    counts.new += taken.new;
    counts.changed += taken.changed;
    counts.unchanged += taken.unchanged;
    counts.rejected += rejected.length;
  };
  const blocks = readFileBlocks(file, connection, progress);
  await (connection.isInProcess ? sendPipelined : sendThrottled)(connection, blocks, add);
}

/** Told what became of a block. */
type OnBlockStored = (taken: ImportResult, firstLine: number) => void;

/** Sends blocks to the database of this process: while one is written the next one is read. */
async function sendPipelined(
  connection: AdminConnection,
  blocks: AsyncIterable<FileBlock>,
  add: OnBlockStored,
) {
  let last: Promise<() => void> | undefined;
  try {
    for await (const { bytes, firstLine } of blocks) {
      const before = last;
      last = sendBlock(connection, bytes).then((taken) => () => add(taken, firstLine));
      last.catch(() => undefined); // It is told where it is waited for.
      (await before)?.();
      // Without it what was read piles up to half as much memory again.
      Bun.gc(true);
    }
    (await last)?.();
  } catch (error) {
    // What is under way ends before the database is closed, and is counted.
    const [ended] = await Promise.allSettled([last]);
    if (ended.status === "fulfilled") ended.value?.();
    throw error;
  }
}

/**
 * Sends blocks to a service, one after the other. While one is written no debit is, so after each
 * it is left alone for as long as that took: its requests have half of the time.
 */
async function sendThrottled(
  connection: AdminConnection,
  blocks: AsyncIterable<FileBlock>,
  add: OnBlockStored,
) {
  for await (const { bytes, firstLine } of blocks) {
    const startedAt = performance.now();
    add(await sendBlock(connection, bytes), firstLine);
    await Bun.sleep(performance.now() - startedAt);
  }
}

async function sendBlock(
  { fetcher }: AdminConnection,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<ImportResult> {
  const response = await fetcher("http://localhost/admin/observations", {
    method: "POST",
    body: bytes,
  });
  if (!response.ok) throw toCommandError(await response.text());
  return (await response.json()) as ImportResult;
}

/** The blocks of a file; what is wrong with reading it is told with its name. */
async function* readFileBlocks(
  file: string,
  { isInProcess }: AdminConnection,
  progress: Progress,
): AsyncGenerator<FileBlock> {
  try {
    const input = openInput(file, progress.add);
    yield* readAhead(readBlocks(input, isInProcess ? IN_PROCESS_BLOCK_BYTES : SERVICE_BLOCK_BYTES));
  } catch (error) {
    throw new CommandError(`Cannot read ${file}: ${readErrorMessage(error)}`);
  }
}

interface ImportResult extends Omit<LineCounts, "rejected"> {
  readonly rejected: readonly { readonly line: number; readonly reason: string }[];
}

function sumCounts(counts: readonly FileCounts[]): FileCounts {
  const total = { file: "all", read: 0, new: 0, changed: 0, unchanged: 0, rejected: 0 };
  for (const fileCounts of counts) {
    total.read += fileCounts.read;
    total.new += fileCounts.new;
    total.changed += fileCounts.changed;
    total.unchanged += fileCounts.unchanged;
    total.rejected += fileCounts.rejected;
  }
  return total;
}

/** A progress bar on a terminal, nothing elsewhere. */
interface Progress {
  add(bytes: number): void;
  /** Has a message written where the bar is; it is drawn again behind it with the next bytes. */
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
    linewrap: true, // Else what is longer than a line of a message is not seen.
  });
  bar.start(totalBytes, 0);
  return {
    add: (bytes) => bar.increment(bytes),
    writeMessage(write) {
      process.stderr.write("\r\u001b[K");
      write();
      // When it stops, the bar goes back to where the cursor was saved last: not over the message.
      process.stderr.write("\u001b7");
    },
    stop: () => bar.stop(),
  };
}
