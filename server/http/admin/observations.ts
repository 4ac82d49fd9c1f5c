/** Administration endpoints to import observations, export NDJSON or CSV, and apply retention. */
import { Type } from "@sinclair/typebox";
import { encodeCsvRow } from "../../csv/rows.ts";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import { createInvalidRequestError } from "../../../core/errors.ts";
import { IDENTIFIER_MAX_CHARACTERS, REJECTED_LINES_LISTED_MAX } from "../../../core/limits.ts";
import { Count, strictObject } from "../../../core/resources/fields.ts";
import { listObservationColumns, OBSERVATION_FORMATS } from "../../csv/observation-rows.ts";
import {
  parseChoiceParameter,
  readSingleValue,
  type QueryParameters,
} from "../../../core/parameters.ts";
import { parseInstantParameter } from "../../../core/time.ts";
import type { ExportOptions } from "../../store/observations/export.ts";
import type { RetentionReport, RetentionRun } from "../../store/history/retention.ts";
import { CSV_TYPE } from "../content/csv.ts";
import { createChoiceParameter, createInstantParameter } from "../endpoints/parameters.ts";
import { readBody } from "../request-body.ts";
import { recordImport, recordRetention } from "./audit.ts";
import { defineAdmin } from "./endpoint.ts";
import { assertName, parseChoiceFilter } from "./validation.ts";
import { PositiveInteger, resource } from "./resources.ts";

export const IMPORT_MAX_BYTES = 64 * 1_048_576;
const CHUNK_MAX_LINES = 500;
const PROGRESS_INTERVAL_MS = 500;

type Observation = Record<string, unknown>;

const Lines = Type.String({ contentMediaType: "application/x-ndjson" });

export const ADMIN_OBSERVATION_ENDPOINTS = [
  defineAdmin({
    id: "adminImportObservations",
    operation: "POST /admin/observations",
    summary: "Import observations",
    description: "Lines of JSON, 64 MiB at most.",
    errors: {
      "Payload Too Large": "A body has at most 67108864 bytes",
      "Invalid Request": "The body broke off or is malformed",
    },
    body: Lines,
    result: {
      schema: resource("ImportReport", {
        read: Count,
        new: Count,
        changed: Count,
        unchanged: Count,
        rejected: Type.Array(strictObject({ line: PositiveInteger, reason: Type.String() }), {
          maxItems: REJECTED_LINES_LISTED_MAX,
          description: `The first ${REJECTED_LINES_LISTED_MAX} rejected lines`,
        }),
        causes: Type.Array(strictObject({ cause: Type.String(), lines: Count }), {
          description: "All rejected lines, counted by the reason without the value of a line",
        }),
      }),
      description: "What became of the lines",
    },
    handle: async (options, { request }) => {
      const lines = await readBody(request, IMPORT_MAX_BYTES);
      return recordImport(options, request, () => options.importObservations(lines));
    },
  }),
  defineAdmin({
    id: "adminExportObservations",
    operation: "GET /admin/observations",
    summary: "Export observations",
    description: "As lines of JSON, or those of one kind as CSV.",
    errors: { "Invalid Request": 'kind must be one of channel, short, user, tweet, got "video"' },
    query: {
      kind: createChoiceParameter(ENTITY_KINDS, "Only this kind; CSV needs it."),
      since: createInstantParameter("Only observations from this date or date-time on."),
      id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: IDENTIFIER_MAX_CHARACTERS,
          description: "Only the entity with this identifier. May be repeated.",
        }),
      ),
      format: createChoiceParameter(OBSERVATION_FORMATS, "By default `ndjson`."),
    },
    result: { schema: Lines, description: "The observations" },
    handle: ({ exportObservations }, { query }) => {
      const exportOptions = parseExportOptions(query);
      const format = parseChoiceParameter("format", query, OBSERVATION_FORMATS, "ndjson");
      if (format === "ndjson") {
        return startResponse(encodeObservations(exportObservations(exportOptions), encodeLine));
      }
      if (exportOptions.kind === undefined) {
        throw createInvalidRequestError("A CSV has one kind: format csv needs kind");
      }
      const columns = listObservationColumns(exportOptions.kind);
      const encodeRow = (line: Observation) => encodeCsvRow(columns.map((name) => line[name]));
      const header = encodeCsvRow(columns);
      const rows = encodeObservations(exportObservations(exportOptions), encodeRow, header);
      return startResponse(rows, CSV_TYPE);
    },
  }),
  defineAdmin({
    id: "adminApplyRetention",
    operation: "POST /admin/retention",
    summary: "Apply retention",
    description:
      "Deletes what RETENTION does not keep, or only counts it. Lines of JSON report the progress, " +
      "the last one the result. The work stops if the client disconnects.",
    errors: { "Invalid Request": "dry_run: expected boolean, got 7" },
    body: resource("RetentionRequest", { dry_run: Type.Optional(Type.Boolean()) }),
    result: { schema: Lines, description: "The progress and the result" },
    handle: async (options, { body: { dry_run: isDryRun = false }, request }) => {
      const run = options.applyRetention({ isDryRun });
      const recorded = isDryRun ? run : await recordRetention(options, request, run);
      return createLinesResponse(encodeProgress(recorded));
    },
  }),
] as const;

/** The last line of a response to `/admin/retention`. */
export type RetentionResponse = ReturnType<typeof toRetentionResource>;

function parseExportOptions(query: QueryParameters): ExportOptions {
  const kind = parseChoiceFilter("kind", query, ENTITY_KINDS);
  const since = readSingleValue("since", query);
  const ids = query.getAll("id");
  for (const id of ids) assertName("id", id);
  return {
    kind,
    ids: ids.length === 0 ? undefined : ids,
    since: since === undefined ? undefined : parseInstantParameter("since", since),
  };
}

/** Responds with an export once its first observations are read: earlier failures have a status. */
async function startResponse(chunks: AsyncGenerator<string>, type?: string): Promise<Response> {
  const first = await chunks.next();
  async function* resume() {
    if (first.done !== true) yield first.value;
    yield* chunks;
  }
  return createLinesResponse(resume(), type);
}

/** The lines are generated as fast as the client reads them, and no longer than it reads. */
const createLinesResponse = (lines: AsyncGenerator<string>, type = "application/x-ndjson") =>
  new Response(lines, { headers: { "content-type": type } });

async function* encodeObservations(
  observations: AsyncIterable<Observation>,
  encode: (observation: Observation) => string,
  header?: string,
) {
  let lines = header === undefined ? [] : [header];
  for await (const observation of observations) {
    lines.push(encode(observation));
    if (lines.length < CHUNK_MAX_LINES) continue;
    yield lines.join("");
    lines = [];
  }
  if (lines.length > 0) yield lines.join("");
}

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

const encodeLine = (line: object): string => `${JSON.stringify(line)}\n`;

const toRetentionResource = ({ isDryRun, kinds, faults }: RetentionReport) => ({
  is_dry_run: isDryRun,
  kinds,
  faults,
});
