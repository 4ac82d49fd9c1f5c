/** The verbs' typed client of the administrator's interface. */
import { treaty } from "@elysiajs/eden";
import { explain, systemCodeOf } from "../../core/errors.ts";
import type { OwnerApp } from "../http/owner.ts";

/** Sends a request to the administrator's interface, wherever it is. */
export type Fetcher = (url: string, init?: RequestInit) => Promise<Response>;

/** The database, owned by this process or reached through who owns it. */
export interface Connection {
  readonly fetcher: Fetcher;
  /** Whether it is this process that has the database, and no service that has to go on. */
  readonly isInProcess: boolean;
  close(): Promise<void>;
}

/** What every verb works with. */
export interface Surroundings {
  /** Reaches the database; `verb` is what others are told of this process. */
  connect(verb: string): Promise<Connection>;
  /** Data. */
  out(text: string): void;
  /** Data that is there this once; throws where it cannot be written. */
  handOut(text: string): void;
  /** Messages and progress. */
  err(text: string): void;
}

/** A verb that failed, in words for a person. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** Whether it was asked for wrongly, not that it failed. */
  readonly isUsage: boolean;

  constructor(message: string, isUsage = false) {
    super(message);
    this.isUsage = isUsage;
  }
}

/** A typed client over a connection. */
export function adminClient({ fetcher }: Connection) {
  const asFetch = (input: string | URL | Request, init?: RequestInit) =>
    fetcher(input instanceof Request ? input.url : String(input), init);
  return treaty<OwnerApp>("http://localhost", {
    fetcher: Object.assign(asFetch, { preconnect: () => undefined }),
    parseDate: false,
  }).admin;
}

/** The typed client. */
export type AdminClient = ReturnType<typeof adminClient>;

/** An answer, as the typed client gives it. */
interface Answer<Data> {
  readonly data: Data;
  readonly error: { readonly value: unknown } | null;
}

/**
 * The data of an answer.
 *
 * @throws {CommandError} With the sentence that the interface answered.
 */
export function unwrap<Data>(answer: Answer<Data>): NonNullable<Data> {
  if (answer.error !== null) throw refusal(answer.error.value);
  if (answer.data === null || answer.data === undefined) throw new CommandError("No answer");
  return answer.data;
}

/** The error of an error body. */
export function refusal(value: unknown): CommandError {
  const body = typeof value === "string" ? parse(value) : value;
  const isUsage =
    typeof body === "object" &&
    body !== null &&
    "error" in body &&
    body.error === "Invalid Request";
  return new CommandError(sentenceOf(body), isUsage);
}

/** The sentence of an error body. */
export function sentenceOf(value: unknown): string {
  if (value instanceof Error) return explain(value);
  const body = typeof value === "string" ? parse(value) : value;
  if (typeof body === "object" && body !== null && "message" in body) return String(body.message);
  return String(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Connects, works, and disconnects, whatever happens. */
export async function withAdmin<Result>(
  { connect }: Surroundings,
  verb: string,
  work: (client: AdminClient, connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await connect(verb);
  try {
    return await work(adminClient(connection), connection);
  } catch (error) {
    if (connection.isInProcess || systemCodeOf(error) !== "ECONNRESET") throw error;
    throw new CommandError(
      "The process that has the database broke off before it had answered: it ended, or its log " +
        "tells why. What was asked of it may be done all the same",
    );
  } finally {
    await connection.close();
  }
}

/**
 * Asks one thing of the administrator's interface, and disconnects.
 *
 * @throws {CommandError} With the sentence that the interface answered.
 */
export function ask<Data>(
  surroundings: Surroundings,
  verb: string,
  question: (client: AdminClient) => Promise<Answer<Data>>,
): Promise<NonNullable<Data>> {
  return withAdmin(surroundings, verb, async (client) => unwrap(await question(client)));
}
