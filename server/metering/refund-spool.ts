/**
 * Refunds that outlive the process. Each process appends those that it could not give back at once
 * to a file of its own; a later process gives them back. A refund that is given back twice counts
 * once, so that a file may be read while its process lives, or again after a crash.
 */
import {
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  type FileHandle,
} from "node:fs/promises";
import { join } from "node:path";
import type { Debit, Charge } from "../ports/ledger.ts";
import { readSystemErrorCode } from "../system-errors.ts";

/** What has to be given back: one debit, or all that a group of unknown outcome was debited. */
export type Refund =
  | {
      readonly kind: "debit";
      readonly uid: string;
      readonly debit: Debit;
      readonly charge: Charge;
      readonly reason: string;
    }
  | { readonly kind: "group"; readonly uid: string; readonly charges: readonly Charge[] };

/** What a file of refunds holds. */
export interface SpoolFile {
  readonly file: string;
  /** Its length when it was read, in bytes. */
  readonly size: number;
  /** Those of this database. */
  readonly refunds: readonly Refund[];
  /** How many requests are to get theirs back at another database, by its name. */
  readonly otherDatabases: Readonly<Record<string, number>>;
  /** The numbers of lines that are damaged, from 1. */
  readonly damagedLines: readonly number[];
}

/** How refunds are kept. */
export type RefundSpool = ReturnType<typeof createRefundSpool>;

const FILE_SUFFIX = ".refunds";

/** Hexadecimal digits of the checksum before each line's JSON. */
const CHECKSUM_LENGTH = 16;

interface SpoolLine {
  readonly database: string;
  readonly refund: Refund;
}

/** How many requests a refund is for. */
export function countRefundRequests(refund: Refund): number {
  return refund.kind === "debit" ? 1 : refund.charges.length;
}

/**
 * Makes the spool of this process; nothing is written before the first refund.
 *
 * @param folder Where the files of all processes are.
 * @param database The name of the database, without secrets: a refund is given back there alone.
 */
export function createRefundSpool(folder: string, database: string) {
  const file = join(folder, `${process.pid}-${crypto.randomUUID()}${FILE_SUFFIX}`);
  /** Refunds in the file that are not given back, and how many requests each is for. */
  const pendingRefunds = new Map<string, number>();
  const { append, removeIf } = createAppender(folder, file);

  return {
    file,

    /** How many requests are to get back what they were debited, once the process has ended. */
    countPendingRequests: (): number =>
      pendingRefunds.values().reduce((sum, requests) => sum + requests, 0),

    /** Keeps a refund, once; resolves when it is on the disk. */
    async add(refund: Refund): Promise<void> {
      if (pendingRefunds.has(refund.uid)) return;
      pendingRefunds.set(refund.uid, countRefundRequests(refund));
      try {
        await append(encodeLine({ database, refund }));
      } catch (error) {
        pendingRefunds.delete(refund.uid);
        throw error;
      }
    },

    /** A refund was given back: the file goes with the last. */
    async remove({ uid }: Refund): Promise<void> {
      if (!pendingRefunds.delete(uid) || pendingRefunds.size > 0) return;
      await removeIf(() => pendingRefunds.size === 0);
    },

    /** The files of other processes, whether they live or not. */
    async readOthers(): Promise<SpoolFile[]> {
      const names = (await listFileNames(folder))
        .filter((name) => name.endsWith(FILE_SUFFIX))
        .toSorted();
      const others = names.map((name) => join(folder, name)).filter((other) => other !== file);
      const files: SpoolFile[] = [];
      for (const other of others) {
        const bytes = await readIfExists(other);
        if (bytes === undefined) continue;
        const lines = decodeLines(bytes.toString(), database);
        files.push({ file: other, size: bytes.length, ...lines });
      }
      return files;
    },

    /**
     * Removes a file whose refunds were given back, unless others are in it. One with damaged lines
     * is put aside under another name.
     */
    async discard({
      file: completedFile,
      size,
      otherDatabases,
      damagedLines,
    }: SpoolFile): Promise<void> {
      if (Object.keys(otherDatabases).length > 0) return;
      // Its process may append to it until it has another name, under which it is read if it grew.
      const claimedFile = join(folder, `${crypto.randomUUID()}${FILE_SUFFIX}`);
      if (
        !(await renameIfExists(completedFile, claimedFile)) ||
        (await stat(claimedFile)).size !== size
      )
        return;
      if (damagedLines.length > 0) await rename(claimedFile, `${completedFile}.damaged`);
      else await rm(claimedFile, { force: true });
    },
  };
}

/** Makes what appends lines to a file, which other processes may read and remove. */
function createAppender(folder: string, file: string) {
  let lastWrite: Promise<unknown> = Promise.resolve();
  let batch: { readonly lines: string[]; readonly done: Promise<void> } | undefined;
  let isTorn = false;

  /** Appends lines and syncs them; those that come while another append is under way go together. */
  function append(line: string): Promise<void> {
    if (batch === undefined) {
      const lines: string[] = [];
      const done = lastWrite.then(() => {
        batch = undefined;
        return write(lines);
      });
      lastWrite = done.catch(() => undefined);
      batch = { lines, done };
    }
    batch.lines.push(line);
    return batch.done;
  }

  async function write(lines: readonly string[]): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    let isInPlace = false;
    while (!isInPlace) {
      const handle = await open(file, "a", 0o600);
      try {
        const start = isTorn ? "\n" : "";
        isTorn = true;
        await handle.appendFile(start + lines.join(""));
        await handle.sync();
        isTorn = false;
        // Another process may have read the file before, and be about to remove it.
        isInPlace = await isFileAtPath(handle, file);
      } finally {
        await handle.close();
      }
    }
    await syncFolder(folder);
  }

  /** Removes the file once what is under way is written, if it is to be removed then. */
  async function removeIf(shouldRemove: () => boolean): Promise<void> {
    const removed = lastWrite.then(() => (shouldRemove() ? rm(file, { force: true }) : undefined));
    lastWrite = removed.catch(() => undefined);
    await removed;
  }

  return { append, removeIf };
}

function encodeLine(line: SpoolLine): string {
  const json = JSON.stringify({ ...line, version: 1 });
  return `${computeChecksum(json)} ${json}\n`;
}

/** A line that holds its checksum is to the letter what this program wrote. */
function computeChecksum(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, CHECKSUM_LENGTH);
}

function decodeLines(content: string, database: string): Omit<SpoolFile, "file" | "size"> {
  const refunds: Refund[] = [];
  const otherDatabases: Record<string, number> = {};
  const damagedLines: number[] = [];
  for (const [index, text] of content.split("\n").entries()) {
    if (text === "") continue;
    const json = text.slice(CHECKSUM_LENGTH + 1);
    if (text.slice(0, CHECKSUM_LENGTH) !== computeChecksum(json)) {
      damagedLines.push(index + 1);
      continue;
    }
    const line: SpoolLine = JSON.parse(json);
    if (line.database === database) refunds.push(line.refund);
    else
      otherDatabases[line.database] =
        (otherDatabases[line.database] ?? 0) + countRefundRequests(line.refund);
  }
  return { refunds, otherDatabases, damagedLines };
}

async function listFileNames(folder: string): Promise<string[]> {
  return (await undefinedIfMissing(readdir(folder))) ?? [];
}

/** Reads a file, unless its process gave everything back and removed it. */
async function readIfExists(file: string): Promise<Buffer | undefined> {
  return undefinedIfMissing(readFile(file));
}

async function renameIfExists(from: string, to: string): Promise<boolean> {
  return (await undefinedIfMissing(rename(from, to).then(() => true))) ?? false;
}

/** Whether a file that is open is the one that has this name. */
async function isFileAtPath(handle: FileHandle, file: string): Promise<boolean> {
  const [own, named] = await Promise.all([handle.stat(), undefinedIfMissing(stat(file))]);
  return named !== undefined && own.ino === named.ino && own.dev === named.dev;
}

/** What comes of work on a file; nothing where the file is not there. */
async function undefinedIfMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (readSystemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Makes the name of a new file survive a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
