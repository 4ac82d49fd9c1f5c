/** The administration API to import and export observations, as NDJSON, and to apply retention. */
import { Elysia, t } from "elysia";
import { ENTITY_KINDS } from "../../../core/entity-kinds.ts";
import { createInvalidRequestError, quote } from "../../../core/errors.ts";
import { readSingleValue, type GetQueryValues } from "../../../core/parameters.ts";
import { parseInstantParameter } from "../../../core/time.ts";
import type { ExportOptions } from "../../ports/reads.ts";
import type { RetentionReport, RetentionRun } from "../../ports/retention.ts";
import { readLargeBody } from "../request-body.ts";
import { getQuery } from "../request-url.ts";
import type { AdminOptions } from "./options.ts";
import { jsonBodyParser } from "./validation.ts";

/** Bytes of observations in one request. */
const IMPORT_MAX_BYTES = 64 * 1_048_576;

/** Observations in one chunk of an export. */
const CHUNK_MAX_LINES = 500;

/** The time between two lines of progress of retention. */
const PROGRESS_INTERVAL_MS = 500;

/** The last line of a response to `/retention`. */
export type RetentionResponse = ReturnType<typeof toRetentionResource>;

/** Creates the routes of observations. */
export function createAdminObservationRoutes({
  importObservations,
  exportObservations,
  applyRetention,
}: Pick<AdminOptions, "importObservations" | "exportObservations" | "applyRetention">) {
  return new Elysia({ name: "admin-observations" })
    .post(
      "/observations",
      async ({ request }) => importObservations(await readLargeBody(request, IMPORT_MAX_BYTES)),
      { parse: "none" },
    )
    .get("/observations", ({ request }) =>
      createLinesResponse(
        encodeObservations(exportObservations(parseExportOptions(getQuery(request)))),
      ),
    )
    .use(jsonBodyParser)
    .post(
      "/retention",
      ({ body }) =>
        createLinesResponse(encodeProgress(applyRetention({ isDryRun: body.dry_run === true }))),
      { body: t.Object({ dry_run: t.Optional(t.Boolean()) }) },
    );
}

function parseExportOptions(getQueryValues: GetQueryValues): ExportOptions {
  const kindName = readSingleValue("kind", getQueryValues("kind"));
  const since = readSingleValue("since", getQueryValues("since"));
  const kind = ENTITY_KINDS.find((name) => name === kindName);
  if (kindName !== undefined && kind === undefined) {
    throw createInvalidRequestError(
      `kind must be one of ${ENTITY_KINDS.join(", ")}, got ${quote(kindName)}`,
    );
  }
  return { kind, since: since === undefined ? undefined : parseInstantParameter("since", since) };
}

/** Responds with NDJSON, generated as fast as the client reads it, and no longer than it reads. */
function createLinesResponse(lines: AsyncGenerator<string>): Response {
  return new Response(lines, { headers: { "content-type": "application/x-ndjson" } });
}

/** Encodes a line for each observation, in chunks of lines. */
async function* encodeObservations(observations: AsyncIterable<Record<string, unknown>>) {
  let lines: string[] = [];
  for await (const observation of observations) {
    lines.push(encodeLine(observation));
    if (lines.length < CHUNK_MAX_LINES) continue;
    yield lines.join("");
    lines = [];
  }
  if (lines.length > 0) yield lines.join("");
}

/** Encodes lines that count the observations looked at so far, then the report. */
async function* encodeProgress(run: RetentionRun): AsyncGenerator<string, void> {
  let walked = 0;
  let lineAt = performance.now();
  for (;;) {
    const { done, value } = await run.next();
    if (done === true) return yield encodeLine(toRetentionResource(value));
    walked += value;
    if (performance.now() - lineAt < PROGRESS_INTERVAL_MS) continue;
    yield encodeLine({ walked });
    lineAt = performance.now();
  }
}

function encodeLine(resource: object): string {
  return `${JSON.stringify(resource)}\n`;
}

function toRetentionResource({ isDryRun, kinds, faults }: RetentionReport) {
  return { is_dry_run: isDryRun, kinds, faults };
}
