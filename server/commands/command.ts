/** The base of all commands: context, errors, arguments and client of the administration API. */
import { InvalidArgumentError } from "commander";
import { createInvalidRequestError, quoteValue } from "../../core/errors.ts";
import { INTEGER_MAX, LIST_LIMIT_RANGE } from "../../core/limits.ts";
import { parseInteger } from "../../core/parameters.ts";
import { formatInstant, INSTANT_SYNTAX, parseInstantOrAgo } from "../../core/time.ts";
import type { OwnerCalls } from "../http/admin/routes.ts";
import { describeError, readAdvice, readSystemErrorCode } from "../system-errors.ts";
import type { CheckReport } from "./doctor/diagnosis.ts";
import type { CommandLineIo } from "./terminal/process-io.ts";

export interface AdminConnection {
  readonly fetcher: (url: string, init?: RequestInit) => Promise<Response>;
  /** Whether this process owns the database; otherwise another process answers the requests. */
  readonly isInProcess: boolean;
  close(): Promise<void>;
}

/** Numbers of rows, credits, and the time of the newest observation. */
type Counts = Readonly<
  Record<
    | "accounts"
    | "granted"
    | "debited"
    | "refunded"
    | "channel"
    | "short"
    | "user"
    | "tweet"
    | "newest",
    number
  >
>;

/** A restored backup and the database that it replaced. */
export interface RestoreReport {
  readonly file: string;
  readonly restored: Counts;
  /** `null` if there was no database, or nothing can be read in it. */
  readonly replaced: Counts | null;
  /** Where the replaced database is; `null` if there was none. */
  readonly kept: string | null;
}

export interface CommandContext extends CommandLineIo {
  /** Whether `--json` is set: data, messages and errors are JSON. */
  readonly isJson: boolean;
  /** Connects to the database. While this process owns it, others see the command's name. */
  connect(): Promise<AdminConnection>;
  /** Replaces the database file by a backup. */
  restore(backup: string): Promise<RestoreReport>;
  /** Checks the installation. */
  diagnose(options: { readonly isIntegrityChecked: boolean }): Promise<CheckReport[]>;
}

export type TextOptions<Name extends string> = Readonly<Partial<Record<Name, string>>>;

export class CommandError extends Error {
  override readonly name = "CommandError";
  /** The error name from the API, a system error code or a signal; else `Command Failed`. */
  readonly code: string;
  readonly advice: string | undefined;
  readonly exitStatus: number;

  constructor(
    message: string,
    {
      code = "Command Failed",
      advice,
      exitStatus = 1,
    }: { [Field in "code" | "advice" | "exitStatus"]?: CommandError[Field] | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.advice = advice;
    this.exitStatus = exitStatus;
  }
}

/** The exit status that a shell reports for a process that SIGINT ended. */
export const EXIT_INTERRUPTED = 130;

const READ_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "you may not read it",
  EISDIR: "it is a folder",
};

export function createReadError(file: string, error: unknown): CommandError {
  const code = readSystemErrorCode(error);
  const problem = READ_PROBLEMS[code];
  const message = `Cannot read ${file}: ${problem ?? describeError(error)}`;
  const advice = problem === undefined ? readAdvice(error) : undefined;
  return new CommandError(message, { code: code || undefined, advice });
}

export function parsePositiveInteger(text: string): number {
  const integer = parseInteger(text, { min: 1 });
  if (integer !== undefined) return integer;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${INTEGER_MAX}.`);
}

/** The description of an option that begins a range of time. */
export const INSTANT_OPTION = "from this time on, such as 2026-11-20, -12h or -7d";

/**
 * Resolves an option that is an instant, or a time ago such as `-7d`, to ISO 8601.
 *
 * @param roundAgo Rounds a time ago; by default it stays as it is.
 * @throws {DomainError} `Invalid Request`, with the option, its value and what is allowed.
 */
export function resolveInstant(
  name: string,
  text: string | undefined,
  roundAgo = (instant: number): number => instant,
): string | undefined {
  if (text === undefined) return undefined;
  const instant = parseInstantOrAgo(text, Date.now());
  if (instant !== undefined)
    return formatInstant(text.startsWith("-") ? roundAgo(instant) : instant);
  throw createInvalidRequestError(
    `${name} must be ${INSTANT_SYNTAX}, or a time ago (-90m, -12h, -7d, -4w), got ${quoteValue(text)}`,
  );
}

/** The input of a request: nothing if its endpoint needs none. */
type Input<Call extends keyof OwnerCalls> = unknown extends OwnerCalls[Call]["input"]
  ? []
  : [
      input: {
        readonly [Part in keyof OwnerCalls[Call]["input"]]: Sendable<
          OwnerCalls[Call]["input"][Part]
        >;
      },
    ];

/** Fields as they are sent: an optional one may be `undefined`, which leaves it out. */
type Sendable<Fields> = {
  readonly [Name in keyof Fields]: {} extends Pick<Fields, Name>
    ? Fields[Name] | undefined
    : Fields[Name];
};

/** Sends a request by method and path. @throws {Error} With the message of an error response. */
export type AdminClient = <Call extends keyof OwnerCalls>(
  call: Call,
  ...input: Input<Call>
) => Promise<OwnerCalls[Call]["result"]>;

export function createAdminClient(connection: AdminConnection): AdminClient {
  return async <Call extends keyof OwnerCalls>(call: Call, ...inputs: Input<Call>) => {
    // `Call` is a type parameter, so the compiler does not know the fields of its input.
    const [{ query = {}, body, parameters = {} } = {}] = inputs as readonly {
      readonly query?: Readonly<Record<string, string | number | undefined>>;
      readonly body?: unknown;
      readonly parameters?: Readonly<Record<string, string | number>>;
    }[];
    const [method = "", path = ""] = call.split(" /admin/");
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(String(parameters[name])),
    );
    const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const search = pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
    const headers = { "content-type": "application/json" };
    const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
    const response = await sendAdmin(connection, filled + search, init);
    // The body matches the schema of the endpoint.
    return (await response.json()) as OwnerCalls[Call]["result"];
  };
}

/** Sends a request; returns the response unread, for streams. @param path After `/admin/`. */
export async function sendAdmin(
  { fetcher }: AdminConnection,
  path: string,
  init?: RequestInit,
): Promise<Response> {
  const response = await fetcher(`http://localhost/admin/${path}`, init);
  if (response.ok) return response;
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  throw createResponseError(isJson === true ? await response.json() : await response.text());
}

function createResponseError(body: unknown): Error {
  if (typeof body !== "object" || body === null || !("message" in body)) {
    return new CommandError(String(body));
  }
  const message = String(body.message);
  const code = "error" in body ? String(body.error) : undefined;
  if (code === "Invalid Request") return createInvalidRequestError(message);
  const advice = "advice" in body ? String(body.advice) : undefined;
  return new CommandError(message, { code, advice });
}

export async function withConnection<Result>(
  { connect }: CommandContext,
  work: (client: AdminClient, connection: AdminConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await connect();
  try {
    return await work(createAdminClient(connection), connection);
  } catch (error) {
    if (connection.isInProcess || readSystemErrorCode(error) !== "ECONNRESET") throw error;
    throw new CommandError(
      "The process that owns the database closed the connection before it answered: it ended, or " +
        "its log says why. It may have done what was asked",
    );
  } finally {
    await connection.close();
  }
}

export function requestAdmin<Call extends keyof OwnerCalls>(
  context: CommandContext,
  call: Call,
  ...input: Input<Call>
): Promise<OwnerCalls[Call]["result"]> {
  return withConnection(context, (client) => client(call, ...input));
}

/** Connects, and reads pages of a list until it has `limit` rows. @param start The first cursor. */
export function requestPages<Row>(
  context: CommandContext,
  limit: number,
  start: string | undefined,
  readPage: (
    client: AdminClient,
    page: { readonly limit: number; readonly cursor: string | undefined },
  ) => Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>,
): Promise<Row[]> {
  return withConnection(context, async (client) => {
    const read: Row[] = [];
    for (let cursor = start; ;) {
      const size = Math.min(limit - read.length, LIST_LIMIT_RANGE.max);
      const { rows, next } = await readPage(client, { limit: size, cursor });
      read.push(...rows);
      if (next === null || read.length >= limit) return read;
      cursor = next;
    }
  });
}
