/** The administration API to import observations, to export them as NDJSON or CSV, and to apply retention. */
import { Elysia } from "elysia";
import { encodeCsvRow } from "../../csv/rows.ts";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { listObservationColumns, OBSERVATION_FORMATS } from "../../csv/observation-rows.ts";
import {
  parseChoiceParameter,
  readSingleValue,
  type GetQueryValues,
} from "../../../core/parameters.ts";
import { parseInstantParameter } from "../../../core/time.ts";
import type { ExportOptions } from "../../store/observations/export.ts";
import type { RetentionReport, RetentionRun } from "../../store/history/retention-report.ts";
import { CSV_TYPE } from "../content/csv.ts";
import { RetentionRequest } from "../openapi/admin/schemas.ts";
import { readLargeBody } from "../request-body.ts";
import { getQuery } from "../request-url.ts";
import { recordImport, recordRetention } from "./audit.ts";
import type { AdminOptions } from "./options.ts";
import { assertName, withBody } from "./validation.ts";

/** Bytes of observations in one request. */
const IMPORT_MAX_BYTES = 64 * 1_048_576;

/** Observations in one chunk of an export. */
const CHUNK_MAX_LINES = 500;

/** An exported observation. */
type Observation = Record<string, unknown>;

/** The time between two lines of progress of retention. */
const PROGRESS_INTERVAL_MS = 500;

/** The last line of a response to `/retention`. */
export type RetentionResponse = ReturnType<typeof toRetentionResource>;

/** Creates the routes of observations. */
export function createAdminObservationRoutes(
  options: Pick<
    AdminOptions,
    "now" | "audit" | "importObservations" | "exportObservations" | "applyRetention"
  >,
) {
  const { importObservations, exportObservations, applyRetention } = options;
  return new Elysia({ name: "admin-observations" })
    .post(
      "/observations",
      async ({ request }) => {
        const lines = await readLargeBody(request, IMPORT_MAX_BYTES);
        return recordImport(options, request, () => importObservations(lines));
      },
      { parse: "none" },
    )
    .get("/observations", async ({ request }) => {
      const getQueryValues = getQuery(request);
      const exportOptions = parseExportOptions(getQueryValues);
      const format = parseChoiceParameter("format", getQueryValues, OBSERVATION_FORMATS, "ndjson");
      if (format === "ndjson") {
        return startResponse(encodeObservations(exportObservations(exportOptions), encodeLine));
      }
      if (exportOptions.kind === undefined) {
        throw createInvalidRequestError("A CSV has one kind: format csv needs kind");
      }
      const columns = listObservationColumns(exportOptions.kind);
      const encodeRow = (line: Observation) => encodeCsvRow(columns.map((name) => line[name]));
      const rows = encodeObservations(exportObservations(exportOptions), encodeRow);
      return startResponse(rows, encodeCsvRow(columns));
    })
    .post(
      "/retention",
      async ({ body: { dry_run: isDryRun = false }, request }) => {
        const run = applyRetention({ isDryRun });
        const recorded = isDryRun ? run : await recordRetention(options, request, run);
        return createLinesResponse(encodeProgress(recorded));
      },
      withBody(RetentionRequest),
    );
}

function parseExportOptions(getQueryValues: GetQueryValues): ExportOptions {
  const kindName = readSingleValue("kind", getQueryValues("kind"));
  const since = readSingleValue("since", getQueryValues("since"));
  const kind = ENTITY_KINDS.find((name) => name === kindName);
  if (kindName !== undefined && kind === undefined) {
    throw createInvalidRequestError(
      `kind must be one of ${ENTITY_KINDS.join(", ")}, got ${quoteValue(kindName)}`,
    );
  }
  const ids = getQueryValues("id");
  for (const id of ids) assertName("id", id);
  return {
    kind,
    ids: ids.length === 0 ? undefined : ids,
    since: since === undefined ? undefined : parseInstantParameter("since", since),
  };
}

/**
 * Responds with an export, once its first observations are read: what they fail with has a status.
 *
 * @param header What comes first, if the export is CSV.
 */
async function startResponse(chunks: AsyncGenerator<string>, header?: string): Promise<Response> {
  const first = await chunks.next();
  async function* resume() {
    if (header !== undefined) yield header;
    if (first.done !== true) yield first.value;
    yield* chunks;
  }
  return createLinesResponse(resume(), header === undefined ? undefined : CSV_TYPE);
}

/** Responds with NDJSON, generated as fast as the client reads it, and no longer than it reads. */
function createLinesResponse(
  lines: AsyncGenerator<string>,
  type = "application/x-ndjson",
): Response {
  return new Response(lines, { headers: { "content-type": type } });
}

/** Encodes a line for each observation, in chunks of lines. */
async function* encodeObservations(
  observations: AsyncIterable<Observation>,
  encode: (observation: Observation) => string,
) {
  let lines: string[] = [];
  for await (const observation of observations) {
    lines.push(encode(observation));
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
