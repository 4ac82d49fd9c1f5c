/**
 * Saves refunds that are not applied yet, so that they outlive the process. Each process has a file
 * of its own, and removes it once it has applied them itself. Other processes apply what they find
 * in the file, after a crash or while its process lives: a refund applied twice counts once.
 */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import type { AccountCharge } from "../store/accounts/charge-runs.ts";
import type { Debit } from "../store/accounts/refunds.ts";
import { undefinedIfMissing } from "../system-errors.ts";

/** A refund of one debit, or of all debits of a batch whose commit got no response. */
export type Refund =
  | {
      readonly kind: "debit";
      readonly uid: string;
      readonly debit: Debit;
      readonly charge: AccountCharge;
      readonly reason: string;
    }
  | { readonly kind: "batch"; readonly uid: string; readonly charges: readonly AccountCharge[] };

export const listCharges = (refund: Refund): readonly AccountCharge[] =>
  refund.kind === "debit" ? [refund.charge] : refund.charges;

export function describeRefund(refund: Refund): string {
  if (refund.kind === "batch") return `The cancellation of the debits ${refund.uid}`;
  const { cost, account } = refund.charge;
  return `A refund of ${cost} to account ${account}`;
}

interface SpoolFile {
  readonly file: string;
  /** Its size when it was read, in bytes. */
  readonly size: number;
  readonly refunds: readonly Refund[];
  readonly otherDatabases: Readonly<Record<string, number>>;
  readonly damagedLines: readonly number[];
}

export type RefundSpool = ReturnType<typeof createRefundSpool>;

const FILE_SUFFIX = ".refunds";
const DAMAGED_SUFFIX = ".damaged";

/** Hexadecimal digits of the checksum before each line's JSON. */
const CHECKSUM_LENGTH = 16;

/**
 * Creates the spool of this process. It writes nothing before the first refund. `database` is a
 * name without secrets: refunds of one database are applied to no other.
 */
export function createRefundSpool(folder: string, database: string) {
  const file = join(folder, `${process.pid}-${crypto.randomUUID()}${FILE_SUFFIX}`);
  /** By uid, the unapplied refunds in the file: the number of requests, and when it is saved. */
  const pendingRefunds = new Map<string, { requests: number; saved: Promise<void> }>();
  const { append, removeIf } = createAppender(folder, file);

  return {
    file,

    countPendingRequests: (): number =>
      pendingRefunds.values().reduce((sum, { requests }) => sum + requests, 0),

    /** Reads what the folder has: the files of all processes with refunds, and damaged ones. */
    async readUse() {
      const use = { files: { pending: 0, damaged: 0 }, bytes: 0 };
      for (const name of (await undefinedIfMissing(fs.readdir(folder))) ?? []) {
        const isDamaged = name.endsWith(`${FILE_SUFFIX}${DAMAGED_SUFFIX}`);
        if (!isDamaged && !name.endsWith(FILE_SUFFIX)) continue;
        const stats = await undefinedIfMissing(fs.stat(join(folder, name)));
        if (stats === undefined) continue; // Its process applied all refunds and removed it.
        use.files[isDamaged ? "damaged" : "pending"]++;
        use.bytes += stats.size;
      }
      return use;
    },

    /** Saves a refund, once; resolves when it is on the disk. */
    async add(refund: Refund): Promise<void> {
      const { uid } = refund;
      const known = pendingRefunds.get(uid);
      if (known !== undefined) return known.saved;
      const saved = append(encodeLine(database, refund));
      pendingRefunds.set(uid, { requests: listCharges(refund).length, saved });
      try {
        await saved;
      } catch (cause) {
        pendingRefunds.delete(uid);
        throw new Error(`${describeRefund(refund)} cannot be saved in ${file}`, { cause });
      }
    },

    async markApplied({ uid }: Refund): Promise<void> {
      if (!pendingRefunds.delete(uid) || pendingRefunds.size > 0) return;
      await removeIf(() => pendingRefunds.size === 0);
    },

    async readOthers(): Promise<SpoolFile[]> {
      const names = (await undefinedIfMissing(fs.readdir(folder))) ?? [];
      const spoolNames = names.filter((name) => name.endsWith(FILE_SUFFIX)).toSorted();
      const files: SpoolFile[] = [];
      for (const other of spoolNames.map((name) => join(folder, name))) {
        if (other === file) continue;
        const bytes = await undefinedIfMissing(fs.readFile(other));
        if (bytes === undefined) continue; // Its process applied all refunds and removed it.
        const lines = decodeLines(bytes.toString(), database);
        files.push({ file: other, size: bytes.length, ...lines });
      }
      return files;
    },

    /**
     * Removes a file whose refunds are applied, unless it holds refunds of other databases. A file
     * with damaged lines gets the suffix `.damaged` instead.
     */
    async discard({ file: other, size, otherDatabases, damagedLines }: SpoolFile): Promise<void> {
      if (Object.keys(otherDatabases).length > 0) return;
      // Its process may append until the file is renamed. A later recovery reads a file that grew.
      const claimedFile = join(folder, `${crypto.randomUUID()}${FILE_SUFFIX}`);
      const renamed = fs.rename(other, claimedFile).then(() => fs.stat(claimedFile));
      if ((await undefinedIfMissing(renamed))?.size !== size) return;
      if (damagedLines.length > 0) await fs.rename(claimedFile, other + DAMAGED_SUFFIX);
      else await fs.rm(claimedFile, { force: true });
    },
  };
}

/** Creates the functions that append lines to a file, which other processes may read and remove. */
function createAppender(folder: string, file: string) {
  let lastWork: Promise<unknown> = Promise.resolve();
  let batch: { readonly lines: string[]; readonly done: Promise<void> } | undefined;
  /** Whether the last line may be incomplete. */
  let isTorn = false;

  /** Runs work after all earlier work, even if that failed. */
  function enqueue(work: () => Promise<void>): Promise<void> {
    const done = lastWork.then(work);
    lastWork = done.catch(() => undefined);
    return done;
  }

  function startBatch() {
    const lines: string[] = [];
    const done = enqueue(() => {
      batch = undefined;
      return write(lines);
    });
    return { lines, done };
  }

  async function write(lines: readonly string[]): Promise<void> {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    let isInPlace = false;
    while (!isInPlace) {
      await using handle = await fs.open(file, "a", 0o600);
      const start = isTorn ? "\n" : "";
      isTorn = true;
      await handle.appendFile(start + lines.join(""));
      await handle.sync();
      isTorn = false;
      // Another process may have read the file before this append, and removed or renamed it.
      isInPlace = await isFileAtPath(handle, file);
    }
    // A new file survives a power cut only if its folder is synced.
    await using folderHandle = await fs.open(folder, "r");
    await folderHandle.sync();
  }

  return {
    /**
     * Appends a line and syncs the file. Lines that wait for another append are written together.
     */
    append(line: string): Promise<void> {
      batch ??= startBatch();
      batch.lines.push(line);
      return batch.done;
    },

    /** Removes the file after the running append, if the condition holds then. */
    removeIf: (shouldRemove: () => boolean) =>
      enqueue(async () => {
        if (shouldRemove()) await fs.rm(file, { force: true });
      }),
  };
}

async function isFileAtPath(handle: fs.FileHandle, file: string): Promise<boolean> {
  const [own, named] = await Promise.all([handle.stat(), undefinedIfMissing(fs.stat(file))]);
  return named !== undefined && own.ino === named.ino && own.dev === named.dev;
}

function encodeLine(database: string, refund: Refund): string {
  const json = JSON.stringify({ database, refund, version: 1 });
  return `${computeChecksum(json)} ${json}\n`;
}

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
    const line: { readonly database: string; readonly refund: Refund } = JSON.parse(json);
    if (line.database === database) refunds.push(line.refund);
    else {
      const requests = otherDatabases[line.database] ?? 0;
      otherDatabases[line.database] = requests + listCharges(line.refund).length;
    }
  }
  return { refunds, otherDatabases, damagedLines };
}
