/**
 * Serves a read of a command: without a key, a charge and the cache. Only the process that owns the
 * database and clients of its socket can ask for it, and they may do all that the operator may.
 */
import { createInvalidRequestError } from "../../../core/errors.ts";
import type { DebitQueue } from "../../metering/debit-queue.ts";
import { readJsonBody } from "../request-body.ts";
import { prepareRead, type matchRead } from "./read-route.ts";
import { renderResponse } from "./rendered-response.ts";

/** @throws {DomainError} For an input that is not allowed, and for an entity that is not found. */
export async function serveUnchargedRead(
  read: NonNullable<ReturnType<typeof matchRead>>,
  { readChanges }: Pick<DebitQueue, "readChanges">,
): Promise<Response> {
  const { request, cacheKey } = read;
  const sent = cacheKey === undefined ? await readJsonBody(request) : undefined;
  const prepared = prepareRead(read, sent);
  if ("list" in prepared) {
    throw createInvalidRequestError("Only keys of accounts have saved lists, got a command");
  }
  // A debit would learn the changes until now, so that no response is older than its request.
  await readChanges();
  const { body, headers } = renderResponse(await prepared.load(request.signal), 0);
  headers.delete("x-credits-cost");
  return new Response(body, { headers });
}
