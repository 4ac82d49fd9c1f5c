/** The administration API to import and export observations, as NDJSON. */
import { Elysia } from "elysia";
import { ENTITY_KINDS } from "../../../core/entity-kinds.ts";
import { DomainError, quote } from "../../../core/errors.ts";
import { readSingleValue, type GetQueryValues } from "../../../core/parameters.ts";
import { parseInstantParameter } from "../../../core/time.ts";
import type { ExportOptions } from "../../ports/reads.ts";
import { readLargeBody } from "../request-body.ts";
import type { AdminOptions } from "./options.ts";
import { getQuery } from "./validation.ts";

/** Bytes of observations in one request. */
const IMPORT_MAX_BYTES = 64 * 1_048_576;

/** Observations in one chunk of an export. */
const CHUNK_MAX_LINES = 500;

/** Creates the routes of observations. */
export function createAdminObservationRoutes({
  importObservations,
  exportObservations,
}: AdminOptions) {
  return new Elysia({ name: "admin-observations" })
    .post(
      "/observations",
      async ({ request }) => importObservations(await readLargeBody(request, IMPORT_MAX_BYTES)),
      { parse: "none" },
    )
    .get("/observations", ({ request }) =>
      streamLines(exportObservations(parseExportOptions(getQuery(request)))),
    );
}

function parseExportOptions(getQueryValues: GetQueryValues): ExportOptions {
  const kindName = readSingleValue("kind", getQueryValues("kind"));
  const since = readSingleValue("since", getQueryValues("since"));
  const kind = ENTITY_KINDS.find((name) => name === kindName);
  if (kindName !== undefined && kind === undefined) {
    throw new DomainError(
      "Invalid Request",
      `kind must be one of ${ENTITY_KINDS.join(", ")}, got ${quote(kindName)}`,
    );
  }
  return { kind, since: since === undefined ? undefined : parseInstantParameter("since", since) };
}

/** Responds with a line of JSON for each observation, read as fast as the client takes them. */
function streamLines(observations: AsyncIterable<Record<string, unknown>>): Response {
  const iterator = observations[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const lines: string[] = [];
      while (lines.length < CHUNK_MAX_LINES) {
        const { done, value } = await iterator.next();
        if (done === true) break;
        lines.push(`${JSON.stringify(value)}\n`);
      }
      if (lines.length > 0) controller.enqueue(encoder.encode(lines.join("")));
      else controller.close();
    },
  });
  return new Response(stream, { headers: { "content-type": "application/x-ndjson" } });
}
