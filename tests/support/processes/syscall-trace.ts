/**
 * Records the writes, syncs and responses of a service with strace, and reconstructs the disk as after a
 * power failure at any moment.
 *
 * A write counts from its begin, a sync from its end, and a response from the begin of its sending. So
 * the reconstruction is never too favourable. A write is surely on the disk after a sync of its file that
 * began after the write. The shared memory file (`-shm`) is ignored, because SQLite creates it again.
 */
import { join } from "node:path";
import { ROOT, type Sandbox } from "./command-line.ts";

/** The suffixes of the files of a database. */
const FILE_SUFFIXES = ["", "-wal", "-journal"] as const;
const STRACE_COMMAND = ["strace", "-f", "--seccomp-bpf"];
const TRACED_CALLS =
  "pwrite64,pwritev,pwritev2,write,writev,sendto,sendmsg,sendmmsg,fsync,fdatasync,ftruncate," +
  "fallocate,unlink,unlinkat,rename,renameat,renameat2";

/** Whether strace works here. Prints a note if it does not. */
export function hasStrace(): boolean {
  const command = [...STRACE_COMMAND, "-o", "/dev/null", "true"];
  const isAvailable = Bun.which("strace") !== null && Bun.spawnSync(command).exitCode === 0;
  if (!isAvailable)
    process.stderr.write("Skipped the tests with strace: it is not installed, or must not trace\n");
  return isAvailable;
}

interface CallSpan {
  /** The lines of the trace where the call began and ended; `end` is `Infinity` if it did not end. */
  readonly begin: number;
  end: number;
}

interface WriteEvent extends CallSpan {
  readonly kind: "write";
  readonly file: string;
  readonly offset: number;
  data: Buffer;
}

interface TruncationEvent extends CallSpan {
  readonly kind: "truncation";
  readonly file: string;
  readonly size: number;
}

interface SyncEvent extends CallSpan {
  readonly kind: "sync";
  readonly file: string;
}

/** The removal of a file. It counts as on the disk immediately. */
interface RemovalEvent extends CallSpan {
  readonly kind: "removal";
  readonly file: string;
}

/** A charged response that was sent, with its `X-Credits-Remaining`. */
interface AnswerEvent extends CallSpan {
  readonly kind: "answer";
  readonly remaining: number;
}

type TraceEvent = WriteEvent | TruncationEvent | SyncEvent | RemovalEvent | AnswerEvent;

/** All events of a service, in order. */
export interface SyscallRecording {
  /** The contents of the files before the recording, by suffix. */
  readonly base: ReadonlyMap<string, Buffer>;
  readonly events: readonly TraceEvent[];
}

/**
 * Runs a service under strace while `work` uses it, then kills the service.
 *
 * @param sandbox A sandbox whose database no other process uses.
 */
export async function recordService(
  sandbox: Sandbox,
  durability: "power" | "process",
  work: (url: string) => Promise<unknown>,
): Promise<SyscallRecording> {
  const trace = join(sandbox.folder, "trace");
  const base = await readFiles(sandbox);
  const serve = [process.execPath, join(ROOT, "server/main.ts"), "serve"];
  // Killing strace would not kill the service, so the shell prints its process id first.
  const shell = ["sh", "-c", 'echo "pid $$." >&2; exec "$@"', "sh", ...serve];
  const child = Bun.spawn(
    [
      ...STRACE_COMMAND,
      "-y",
      "-xx",
      "-s",
      "1048576",
      "-e",
      `trace=${TRACED_CALLS}`,
      "-o",
      trace,
      ...shell,
    ],
    {
      cwd: sandbox.folder,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: sandbox.folder,
        DATABASE_URL: `file:${sandbox.file}`,
        DURABILITY: durability,
        PORT: "0",
      },
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let log = "";
  const logRead = (async () => {
    for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
      log += piece;
      const [, url] = / at (http:\/\/[\d.]+:\d+)\n/.exec(log) ?? [];
      if (url !== undefined) resolve(url);
    }
    reject(new Error(`The service did not start: ${log}`));
  })();
  const url = await promise;
  try {
    await work(url);
  } finally {
    process.kill(Number(/pid (\d+)\./.exec(log)?.[1]), "SIGKILL");
    await child.exited;
    await logRead;
  }
  return { base, events: parseTrace(await Bun.file(trace).text(), sandbox.file) };
}

async function readFiles({ file }: Sandbox): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const suffix of FILE_SUFFIXES) {
    const handle = Bun.file(file + suffix);
    if (await handle.exists()) files.set(suffix, Buffer.from(await handle.bytes()));
  }
  return files;
}

/** The events of the database files and the responses, in the order of their begin. */
function parseTrace(trace: string, file: string): TraceEvent[] {
  const events: TraceEvent[] = [];
  const unfinished = new Map<string, TraceEvent[]>();
  const lines = trace.split("\n");
  for (const [lineNumber, line] of lines.entries()) {
    const space = line.indexOf(" ");
    const thread = line.slice(0, space);
    const call = line.slice(space).trimStart();
    if (call.startsWith("<... ")) {
      finishCall(unfinished.get(thread) ?? [], call, lineNumber);
      unfinished.delete(thread);
      continue;
    }
    const callEvents = parseCall(call, file, lineNumber);
    events.push(...callEvents);
    if (call.endsWith("<unfinished ...>")) unfinished.set(thread, callEvents);
    else finishCall(callEvents, call, lineNumber);
  }
  return events;
}

function finishCall(events: readonly TraceEvent[], call: string, lineNumber: number): void {
  const result = Number(/\) += (-?\d+)[^=]*$/.exec(call.slice(-200))?.[1] ?? -1);
  if (result < 0) return;
  for (const event of events) {
    event.end = lineNumber;
    if (event.kind === "write") event.data = event.data.subarray(0, result);
  }
}

const decodeHex = (hex: string) => Buffer.from(hex.replaceAll("\\x", ""), "hex");

const parseStrings = (call: string) =>
  Array.from(call.matchAll(/"([^"]*)"/g), ([, hex = ""]) => decodeHex(hex).toString());

/** The events of a system call. A removal names a path, all others a file descriptor. */
function parseCall(call: string, database: string, lineNumber: number): TraceEvent[] {
  const name = call.slice(0, call.indexOf("("));
  const span = { begin: lineNumber, end: Infinity };
  const [, path = ""] = /^\w+\(\d+<((?:\\x[\da-f]{2})+)>/.exec(call.slice(0, 8192)) ?? [];
  const file = decodeHex(path).toString();
  const suffix = FILE_SUFFIXES.find((known) => database + known === file);
  if (/^(?:unlink|rename)/.test(name)) {
    const paths = new Set(parseStrings(call));
    const removed = FILE_SUFFIXES.find((known) => paths.has(database + known));
    if (removed === undefined) return [];
    if (name.startsWith("rename")) throw new Error(`Cannot replay ${call}`);
    return [{ kind: "removal", file: removed, ...span }];
  }
  if (suffix === undefined) return parseAnswers(call, span);
  if (name === "fsync" || name === "fdatasync") return [{ kind: "sync", file: suffix, ...span }];
  const [, size] = /^ftruncate\(\S+ (\d+)/.exec(call) ?? [];
  if (size !== undefined) {
    return [{ kind: "truncation", file: suffix, size: Number(size), ...span }];
  }
  const [, hex, count, offset] = /^pwrite64\(\S+ "([^"]*)", (\d+), (\d+)/.exec(call) ?? [];
  const data = decodeHex(hex ?? "");
  if (data.length !== Number(count)) {
    throw new Error(`Cannot replay ${call.slice(0, 1000)}`);
  }
  return [{ kind: "write", file: suffix, offset: Number(offset), data, ...span }];
}

const HTTP_PREFIX_HEX = Array.from(
  "HTTP/1.1 ",
  (character) => `\\x${character.charCodeAt(0).toString(16)}`,
).join("");

function parseAnswers(call: string, span: CallSpan): AnswerEvent[] {
  if (!call.includes(HTTP_PREFIX_HEX)) return [];
  const text = parseStrings(call).join("");
  return Array.from(text.matchAll(/\r\nx-credits-remaining: (\d+)\r\n/gi), ([, left]) => ({
    kind: "answer",
    remaining: Number(left),
    ...span,
  }));
}

/** The charged responses of a recording, in the order of sending. */
export function listAnswers({ events }: SyscallRecording): AnswerEvent[] {
  return events.filter((event) => event.kind === "answer");
}

/** The unit of a disk that is written completely or not at all. */
const SECTOR_BYTES = 512;

/**
 * Reconstructs the files as after a power failure just before a line of the trace.
 *
 * @param isPersisted Decides for each sector and truncation that is not synced.
 * @returns The contents of the files, by suffix.
 */
export function reconstructDisk(
  { base, events }: SyscallRecording,
  line: number,
  isPersisted: () => boolean,
): Map<string, Buffer> {
  const synced = new Map<string, number>();
  let size = Math.max(0, ...Array.from(base.values(), ({ length }) => length));
  for (const event of events) {
    if (event.kind === "write") size = Math.max(size, event.offset + event.data.length);
    if (event.kind === "truncation") size = Math.max(size, event.size);
    if (event.kind === "sync" && event.end < line) {
      synced.set(event.file, Math.max(event.begin, synced.get(event.file) ?? 0));
    }
  }
  const files = new Map<string, { bytes: Buffer; length: number }>();
  const openFile = (suffix: string) => {
    const file = files.get(suffix) ?? { bytes: Buffer.alloc(size), length: 0 };
    files.set(suffix, file);
    return file;
  };
  for (const [suffix, bytes] of base) openFile(suffix).length = bytes.copy(openFile(suffix).bytes);
  for (const event of events) {
    if (event.begin >= line) break;
    if (event.kind === "answer" || event.kind === "sync") continue;
    const isSynced = event.end < (synced.get(event.file) ?? 0);
    if (event.kind === "removal") files.delete(event.file);
    else if (event.kind === "write")
      applyWrite(openFile(event.file), event, isSynced ? isAlwaysPersisted : isPersisted);
    else if (isSynced || isPersisted()) applyTruncation(openFile(event.file), event.size);
  }
  return new Map(
    Array.from(files, ([suffix, file]) => [suffix, file.bytes.subarray(0, file.length)]),
  );
}

const isAlwaysPersisted = () => true;

function applyWrite(
  file: { bytes: Buffer; length: number },
  { offset, data }: WriteEvent,
  isPersisted: () => boolean,
): void {
  const end = offset + data.length;
  for (let at = offset; at < end;) {
    const next = Math.min(end, (Math.floor(at / SECTOR_BYTES) + 1) * SECTOR_BYTES);
    if (isPersisted()) {
      data.copy(file.bytes, at, at - offset, next - offset);
      file.length = Math.max(file.length, next);
    }
    at = next;
  }
}

function applyTruncation(file: { bytes: Buffer; length: number }, size: number): void {
  if (size < file.length) file.bytes.fill(0, size, file.length);
  file.length = size;
}
