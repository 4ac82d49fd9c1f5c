/** The verbs' typed client of the administrator's interface. */
import { treaty } from "@elysiajs/eden";
import type { OwnerApp } from "../http/admin/owner-app.ts";
import type { AdminConnection, CommandLineIo } from "../ports/process.ts";
import { describeError, readSystemErrorCode } from "../system-errors.ts";

/** What every verb works with. */
export interface CommandContext extends CommandLineIo {
  /** Connects to the database. @param verb What other processes are told that this one runs. */
  connect(verb: string): Promise<AdminConnection>;
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
export function createAdminClient({ fetcher }: AdminConnection) {
  const asFetch = (input: string | URL | Request, init?: RequestInit) =>
    fetcher(input instanceof Request ? input.url : String(input), init);
  return treaty<OwnerApp>("http://localhost", {
    fetcher: Object.assign(asFetch, { preconnect: () => undefined }),
    parseDate: false,
  }).admin;
}

/** The typed client. */
export type AdminClient = ReturnType<typeof createAdminClient>;

/** An answer, as the typed client gives it. */
interface AdminResponse<Data> {
  readonly data: Data;
  readonly error: { readonly value: unknown } | null;
}

/**
 * The data of an answer.
 *
 * @throws {CommandError} With the sentence that the interface answered.
 */
export function unwrap<Data>(response: AdminResponse<Data>): NonNullable<Data> {
  if (response.error !== null) throw toCommandError(response.error.value);
  if (response.data === null || response.data === undefined) throw new CommandError("No answer");
  return response.data;
}

/** The error of an error body. */
export function toCommandError(value: unknown): CommandError {
  const body = typeof value === "string" ? parseJsonOrText(value) : value;
  const isUsage =
    typeof body === "object" &&
    body !== null &&
    "error" in body &&
    body.error === "Invalid Request";
  return new CommandError(readErrorMessage(body), isUsage);
}

/** The sentence of an error body. */
export function readErrorMessage(value: unknown): string {
  if (value instanceof Error) return describeError(value);
  const body = typeof value === "string" ? parseJsonOrText(value) : value;
  if (typeof body === "object" && body !== null && "message" in body) return String(body.message);
  return String(value);
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Connects, works, and disconnects, whatever happens. */
export async function withAdminClient<Result>(
  { connect }: CommandContext,
  verb: string,
  work: (client: AdminClient, connection: AdminConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await connect(verb);
  try {
    return await work(createAdminClient(connection), connection);
  } catch (error) {
    if (connection.isInProcess || readSystemErrorCode(error) !== "ECONNRESET") throw error;
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
export function requestAdmin<Data>(
  context: CommandContext,
  verb: string,
  sendRequest: (client: AdminClient) => Promise<AdminResponse<Data>>,
): Promise<NonNullable<Data>> {
  return withAdminClient(context, verb, async (client) => unwrap(await sendRequest(client)));
}
