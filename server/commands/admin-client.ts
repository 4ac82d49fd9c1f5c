/** The client of the administration API that the commands use. */
import { treaty } from "@elysiajs/eden";
import { createInvalidRequestError } from "../../core/errors.ts";
import { LIST_LIMIT_RANGE } from "../../core/limits.ts";
import type { OwnerApp } from "../http/admin/routes.ts";
import { readSystemErrorCode } from "../system-errors.ts";
import { CommandError, type CommandContext, type AdminConnection } from "./command.ts";

/** A typed client of the administration API. */
export type AdminClient = ReturnType<typeof createAdminClient>;

export function createAdminClient({ fetcher }: AdminConnection) {
  const fetchByUrl = (input: string | URL | Request, init?: RequestInit) =>
    fetcher(input instanceof Request ? input.url : String(input), init);
  return treaty<OwnerApp>("http://localhost", {
    fetcher: Object.assign(fetchByUrl, { preconnect: () => undefined }),
    parseDate: false,
  }).admin;
}

/** A response of the typed client. */
interface AdminResponse<Data> {
  readonly data: Data;
  readonly error: { readonly value: unknown } | null;
}

/** Returns the data of a response. @throws {Error} With the message of an error response. */
export function unwrap<Data>(response: AdminResponse<Data>): NonNullable<Data> {
  if (response.error !== null) throw createResponseError(response.error.value);
  if (response.data === null || response.data === undefined) throw new CommandError("No answer");
  return response.data;
}

/**
 * Reads pages of a list until it has enough rows.
 *
 * @param range How many rows, and the cursor of the first page.
 * @param readPage Reads a page of at most `limit` rows: the first one, or the one at a cursor.
 */
export async function readPages<Row>(
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  readPage: (page: {
    readonly limit: number;
    readonly cursor?: string;
  }) => Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>,
): Promise<Row[]> {
  const read: Row[] = [];
  let position = cursor === undefined ? {} : { cursor };
  for (;;) {
    const size = Math.min(limit - read.length, LIST_LIMIT_RANGE.max);
    const { rows, next } = await readPage({ ...position, limit: size });
    read.push(...rows);
    if (next === null || read.length >= limit) return read;
    position = { cursor: next };
  }
}

/**
 * Sends a request whose body or response is a stream, which the typed client does not support.
 *
 * @param path Behind `/admin/`.
 * @throws {Error} With the message of an error response.
 */
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

/** @param body The body of an error response: parsed JSON, or other text. */
function createResponseError(body: unknown): Error {
  if (typeof body !== "object" || body === null || !("message" in body)) {
    return new CommandError(String(body));
  }
  const code = "error" in body ? String(body.error) : undefined;
  const message = String(body.message);
  return code === "Invalid Request"
    ? createInvalidRequestError(message)
    : new CommandError(message, {
        code,
        advice: "advice" in body ? String(body.advice) : undefined,
      });
}

/** Connects, works, and disconnects in any case. */
export async function withConnection<Result>(
  { connect }: CommandContext,
  work: (connection: AdminConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await connect();
  try {
    return await work(connection);
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

/**
 * Connects, sends one request, and disconnects.
 *
 * @throws {Error} With the message of an error response.
 */
export function requestAdmin<Data>(
  context: CommandContext,
  sendRequest: (client: AdminClient) => Promise<AdminResponse<Data>>,
): Promise<NonNullable<Data>> {
  return withConnection(context, async (connection) =>
    unwrap(await sendRequest(createAdminClient(connection))),
  );
}
