/** Interfaces between the process, the service and the command line: logging, database owner. */
import type { SourceEvent } from "./collection.ts";

/** Receives the cause of a failed request. */
export type OnFailure = (error: unknown, requestId: string) => void;

/** Logs answered requests; never their API key. */
export interface RequestLogger {
  request?(line: { method: string; path: string; status: number; ms: number }): void;
}

/** Logs what happens in the service. A sentence names its values in braces: `{file}`. */
export interface ServiceLogger extends RequestLogger {
  readonly failure: OnFailure;
  sourceEvent?(event: SourceEvent): void;
  /** Logs a failure outside of requests. @param work What failed, as the subject of a sentence. */
  backgroundFailure?(error: unknown, work: string): void;
  /** Logs what the service did by itself. */
  info?(sentence: string, values: Readonly<Record<string, unknown>>): void;
  /** Logs what the operator should know or do. */
  warning?(sentence: string, values: Readonly<Record<string, unknown>>): void;
}

/** The process that owns a database file. */
export interface OwnerDescription {
  readonly pid: number;
  /** The command that it runs: `serve`, `import`. */
  readonly verb: string;
  /** The URL where it serves; `null` when it does not. */
  readonly address: string | null;
  /** When it opened the database, in ISO 8601. */
  readonly since: string;
}

/** A finished backup. */
export interface BackupResult {
  /** Its absolute path. */
  readonly file: string;
  readonly bytes: number;
}

/** Sends a request to the administration API. */
export type Fetcher = (url: string, init?: RequestInit) => Promise<Response>;

/** A connection to the administration API of a database. */
export interface AdminConnection {
  readonly fetcher: Fetcher;
  /** Whether this process owns the database, so that no other process has to go on serving it. */
  readonly isInProcess: boolean;
  close(): Promise<void>;
}

/** What a command reads and writes: the process's own environment and streams, or those of a test. */
export interface CommandLineIo {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What the user types to run the program: `creator-metrics`, `bun server/main.ts`. */
  readonly programName: string;
  /** Width of the terminal; `undefined` when standard output is no terminal. */
  readonly columns: number | undefined;
  /** Whether standard output shows colours. */
  readonly hasOutColors: boolean;
  /** Whether standard error shows colours. */
  readonly hasErrColors: boolean;
  /** Standard error, for progress and hints; `undefined` when it is no terminal. */
  readonly errTerminal: (NodeJS.WritableStream & { readonly columns?: number }) | undefined;
  /** Writes data to standard output; resolves when it is written. */
  writeOut(data: string | Uint8Array): Promise<void>;
  /** Writes data to standard output at once; throws when it cannot be written. */
  writeOutSync(text: string): void;
  /** Writes a message to standard error. Only a `painted` text may have colours of its own. */
  writeErr(text: string, style?: MessageStyle): void;
}

/** How a message looks where colours are shown: red for an error, dim for a hint. */
export type MessageStyle = "plain" | "red" | "dim" | "painted";
