/**
 * What a service wrote, synced and answered, in order, as strace saw it; and what the disk would
 * hold had the power gone at a moment of it.
 *
 * A write counts from where the system took it, a sync from where it was done, an answer from
 * where its sending began, so a doubt is always to the service's disadvantage. A write is on the
 * disk for sure once a sync of its file that began after it is done. The shared memory (`-shm`) is
 * left out: SQLite makes it anew.
 */
import { join } from "node:path";
import { ROOT, type Place } from "./command.ts";

/** What the names of a database's files end with. */
const SUFFIXES = ["", "-wal", "-journal"] as const;
const STRACE = ["strace", "-f", "--seccomp-bpf"];
const CALLS =
  "pwrite64,pwritev,pwritev2,write,writev,sendto,sendmsg,sendmmsg,fsync,fdatasync,ftruncate," +
  "fallocate,unlink,unlinkat,rename,renameat,renameat2";

/** Whether services can be traced here; says so where they cannot. */
export function canTrace(): boolean {
  const command = [...STRACE, "-o", "/dev/null", "true"];
  const isHere = Bun.which("strace") !== null && Bun.spawnSync(command).exitCode === 0;
  if (!isHere)
    process.stderr.write("Skipped what needs strace: it is not here, or may not trace\n");
  return isHere;
}

interface Span {
  /** The line of the trace where the call began, and where it was done: `Infinity` if never. */
  readonly begin: number;
  end: number;
}

interface Write extends Span {
  readonly kind: "write";
  readonly file: string;
  readonly offset: number;
  data: Buffer;
}

interface Truncation extends Span {
  readonly kind: "truncation";
  readonly file: string;
  readonly size: number;
}

interface Sync extends Span {
  readonly kind: "sync";
  readonly file: string;
}

/** Of a whole file; it is taken to be on the disk at once. */
interface Removal extends Span {
  readonly kind: "removal";
  readonly file: string;
}

/** A charged answer that left, with its `X-Credits-Remaining`. */
interface Answer extends Span {
  readonly kind: "answer";
  readonly remaining: number;
}

type TraceEvent = Write | Truncation | Sync | Removal | Answer;

/** All that a service did, in order. */
export interface Recording {
  /** What the files held before, by their suffix. */
  readonly base: ReadonlyMap<string, Buffer>;
  readonly events: readonly TraceEvent[];
}

/**
 * Serves a place under strace while something is done with it, then ends the service at once.
 *
 * @param place Its files must be nobody's.
 */
export async function record(
  place: Place,
  durability: "power" | "process",
  work: (url: string) => Promise<unknown>,
): Promise<Recording> {
  const trace = join(place.folder, "trace");
  const base = await filesOf(place);
  const serve = [process.execPath, join(ROOT, "server/main.ts"), "serve"];
  // Killing strace would leave the service, so that one tells its own number first.
  const shell = ["sh", "-c", 'echo "number $$." >&2; exec "$@"', "sh", ...serve];
  const child = Bun.spawn(
    [...STRACE, "-y", "-xx", "-s", "1048576", "-e", `trace=${CALLS}`, "-o", trace, ...shell],
    {
      cwd: place.folder,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: place.folder,
        DATABASE_URL: `file:${place.file}`,
        DURABILITY: durability,
        PORT: "0",
      },
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let log = "";
  const reading = (async () => {
    for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
      log += piece;
      const [, url] = / at (http:\/\/[\d.]+:\d+)\n/.exec(log) ?? [];
      if (url !== undefined) resolve(url);
    }
    reject(new Error(`It did not start: ${log}`));
  })();
  const url = await promise;
  try {
    await work(url);
  } finally {
    process.kill(Number(/number (\d+)\./.exec(log)?.[1]), "SIGKILL");
    await child.exited;
    await reading;
  }
  return { base, events: readTrace(await Bun.file(trace).text(), place.file) };
}

async function filesOf({ file }: Place): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const suffix of SUFFIXES) {
    const one = Bun.file(file + suffix);
    if (await one.exists()) files.set(suffix, Buffer.from(await one.bytes()));
  }
  return files;
}

/** The events of a trace that concern a database file, and the answers, by their beginning. */
function readTrace(trace: string, file: string): TraceEvent[] {
  const events: TraceEvent[] = [];
  const begun = new Map<string, TraceEvent[]>();
  const lines = trace.split("\n");
  for (const [at, line] of lines.entries()) {
    const space = line.indexOf(" ");
    const thread = line.slice(0, space);
    const call = line.slice(space).trimStart();
    if (call.startsWith("<... ")) {
      finish(begun.get(thread) ?? [], call, at);
      begun.delete(thread);
      continue;
    }
    const made = eventsOf(call, file, at);
    events.push(...made);
    if (call.endsWith("<unfinished ...>")) begun.set(thread, made);
    else finish(made, call, at);
  }
  return events;
}

function finish(events: readonly TraceEvent[], call: string, at: number): void {
  const result = Number(/\) += (-?\d+)[^=]*$/.exec(call.slice(-200))?.[1] ?? -1);
  if (result < 0) return;
  for (const event of events) {
    event.end = at;
    if (event.kind === "write") event.data = event.data.subarray(0, result);
  }
}

const decode = (hex: string) => Buffer.from(hex.replaceAll("\\x", ""), "hex");

const textsIn = (call: string) =>
  Array.from(call.matchAll(/"([^"]*)"/g), ([, hex = ""]) => decode(hex).toString());

/** What a call does; a removal may be told of by its path, all else is by a file's number. */
function eventsOf(call: string, database: string, begin: number): TraceEvent[] {
  const name = call.slice(0, call.indexOf("("));
  const span = { begin, end: Infinity };
  const [, path = ""] = /^\w+\(\d+<((?:\\x[\da-f]{2})+)>/.exec(call.slice(0, 8192)) ?? [];
  const file = decode(path).toString();
  const suffix = SUFFIXES.find((known) => database + known === file);
  if (/^(?:unlink|rename)/.test(name)) {
    const paths = new Set(textsIn(call));
    const removed = SUFFIXES.find((known) => paths.has(database + known));
    if (removed === undefined) return [];
    if (name.startsWith("rename")) throw new Error(`Not known how to replay ${call}`);
    return [{ kind: "removal", file: removed, ...span }];
  }
  if (suffix === undefined) return answersOf(call, span);
  if (name === "fsync" || name === "fdatasync") return [{ kind: "sync", file: suffix, ...span }];
  const [, size] = /^ftruncate\(\S+ (\d+)/.exec(call) ?? [];
  if (size !== undefined) {
    return [{ kind: "truncation", file: suffix, size: Number(size), ...span }];
  }
  const [, hex, count, offset] = /^pwrite64\(\S+ "([^"]*)", (\d+), (\d+)/.exec(call) ?? [];
  const data = decode(hex ?? "");
  if (data.length !== Number(count)) {
    throw new Error(`Not known how to replay ${call.slice(0, 1000)}`);
  }
  return [{ kind: "write", file: suffix, offset: Number(offset), data, ...span }];
}

const HTTP = Array.from("HTTP/1.1 ", (of) => `\\x${of.charCodeAt(0).toString(16)}`).join("");

function answersOf(call: string, span: Span): Answer[] {
  if (!call.includes(HTTP)) return [];
  const text = textsIn(call).join("");
  return Array.from(text.matchAll(/\r\nx-credits-remaining: (\d+)\r\n/gi), ([, left]) => ({
    kind: "answer",
    remaining: Number(left),
    ...span,
  }));
}

/** The charged answers of a recording, in the order they left. */
export function answersIn({ events }: Recording): Answer[] {
  return events.filter((event) => event.kind === "answer");
}

/** A disk's smallest piece: it is written whole or not at all. */
const SECTOR_BYTES = 512;

/**
 * The files as they would be had the power gone just before a line of the trace.
 *
 * @param keeps Asked for each sector, and each truncation, that no sync covers.
 * @returns The files' bytes by their suffix.
 */
export function diskAt(
  { base, events }: Recording,
  line: number,
  keeps: () => boolean,
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
  const open = (suffix: string) => {
    const known = files.get(suffix) ?? { bytes: Buffer.alloc(size), length: 0 };
    files.set(suffix, known);
    return known;
  };
  for (const [suffix, bytes] of base) open(suffix).length = bytes.copy(open(suffix).bytes);
  for (const event of events) {
    if (event.begin >= line) break;
    if (event.kind === "answer" || event.kind === "sync") continue;
    const isSure = event.end < (synced.get(event.file) ?? 0);
    if (event.kind === "removal") files.delete(event.file);
    else if (event.kind === "write") writeTo(open(event.file), event, isSure ? always : keeps);
    else if (isSure || keeps()) truncate(open(event.file), event.size);
  }
  return new Map(Array.from(files, ([suffix, of]) => [suffix, of.bytes.subarray(0, of.length)]));
}

const always = () => true;

function writeTo(
  file: { bytes: Buffer; length: number },
  { offset, data }: Write,
  keeps: () => boolean,
): void {
  const end = offset + data.length;
  for (let at = offset; at < end;) {
    const next = Math.min(end, (Math.floor(at / SECTOR_BYTES) + 1) * SECTOR_BYTES);
    if (keeps()) {
      data.copy(file.bytes, at, at - offset, next - offset);
      file.length = Math.max(file.length, next);
    }
    at = next;
  }
}

function truncate(file: { bytes: Buffer; length: number }, size: number): void {
  if (size < file.length) file.bytes.fill(0, size, file.length);
  file.length = size;
}
