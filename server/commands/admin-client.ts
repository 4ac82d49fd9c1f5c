/** The client of the administration API that the commands use. */
import { createInvalidRequestError } from "../../core/errors.ts";
import { LIST_LIMIT_RANGE } from "../../core/limits.ts";
import type { OwnerCalls } from "../http/admin/routes.ts";
import { readSystemErrorCode } from "../system-errors.ts";
import { CommandError, type AdminConnection, type CommandContext } from "./command.ts";

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
    // To the compiler, the input of a call that it does not know is unknown.
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

/** Sends a request whose body or response is a stream. @param path Behind `/admin/`. */
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
  const message = String(body.message);
  const code = "error" in body ? String(body.error) : undefined;
  if (code === "Invalid Request") return createInvalidRequestError(message);
  const advice = "advice" in body ? String(body.advice) : undefined;
  return new CommandError(message, { code, advice });
}

/** Connects, works, and disconnects in any case. */
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
