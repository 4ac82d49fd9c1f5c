/**
 * Describes the operations of the administration API for the OpenAPI document. They are a section of
 * the one document, whether or not the service has a token: then the document is the same everywhere.
 */
import type { TObject } from "@sinclair/typebox";
import { ERROR_STATUSES } from "../../../../core/error-statuses.ts";
import { DomainError } from "../../../../core/errors.ts";
import {
  createErrors,
  createHeaderRefs,
  describeErrorResponses,
  describeParameters,
  UNKNOWN_NAME,
  type ErrorExamples,
} from "../operation.ts";
import { CommonHeaders } from "../parameters.ts";
import common from "../reference.json" with { type: "json" };
import { createUnknownParameterError } from "../query-names.ts";
import { createSchemaRef, isSchemaName } from "../schemas.ts";
import { ADMIN_PATH_PARAMETERS, findAdminQuery } from "./parameters.ts";
import reference from "./reference.json" with { type: "json" };

/** The texts and examples of an operation. */
interface AdminOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The name of a schema, `lines` of JSON, or a `file` of SQLite. */
  readonly body?: string;
  readonly request?: unknown;
  readonly result: {
    readonly schema: string;
    readonly description: string;
    readonly status?: number;
  };
  readonly response: unknown;
  readonly csv?: string;
  readonly errors: ErrorExamples;
}

const OPERATIONS: Readonly<Record<string, AdminOperation>> = reference.operations;

/** The media type of SQLite files. */
export const BACKUP_TYPE = "application/vnd.sqlite3";

const TAG = reference.tag.name;
export const ADMIN_TAG = reference.tag;
export const ADMIN_SECURITY_SCHEMES = { adminToken: reference.securityScheme };

/** The names of the schemas of all operations. */
export const ADMIN_SCHEMA_NAMES: readonly (string | undefined)[] = Object.values(
  OPERATIONS,
).flatMap(({ body, result }) => [body, result.schema]);

/** Whether a path belongs to this section. */
export function isAdminOperation(path: string): boolean {
  return path.startsWith("/admin/");
}

/** @throws {Error} If it is missing in the reference. */
export function describeAdminOperation(path: string, method: string) {
  const operation = OPERATIONS[`${method.toUpperCase()} ${path}`];
  if (operation === undefined) throw new Error(`${method} ${path} is missing in reference.json`);
  const { operationId, summary, description, body, result, csv } = operation;
  const { status = 200 } = result;
  const query = findAdminQuery(path, method);
  const success = {
    description: result.description,
    headers: createHeaderRefs([
      ...listHeaders(status),
      ...(result.schema === "file" ? ["Content-Disposition"] : []),
    ]),
    content: {
      ...describeContent(result.schema, operation.response),
      ...(csv !== undefined && { "text/csv": { schema: { type: "string" }, example: csv } }),
    },
  };
  return {
    operationId,
    tags: [TAG],
    summary,
    description,
    security: [{ adminToken: [] }],
    parameters: [
      ...describeParameters("path", ADMIN_PATH_PARAMETERS[operationId]),
      ...describeParameters("query", query),
      ...describeParameters("header", CommonHeaders),
    ],
    ...(body !== undefined && {
      requestBody: { required: true, content: describeContent(body, operation.request) },
    }),
    responses: {
      [status]: success,
      ...(operationId === "adminAddCreator" && { 200: success }),
      ...describeErrorResponses(path, listErrors(operation, path, query), listHeaders),
    },
  };
}

function listHeaders(status: number): string[] {
  const names = ["X-Request-Id", "Vary", "Cache-Control"];
  if (status === 200) names.push("Content-Encoding");
  if (status === 429 || status === 503) names.push("Retry-After");
  return names;
}

function describeContent(schema: string, example: unknown) {
  if (isSchemaName(schema)) {
    return { "application/json": { schema: createSchemaRef(schema), example } };
  }
  if (schema === "file")
    return { [BACKUP_TYPE]: { schema: { type: "string", format: "binary" }, example } };
  return { "application/x-ndjson": { schema: { type: "string" }, example } };
}

/** Lists an example of each error, those of the operation itself first. */
function listErrors(
  { operationId, errors, body }: AdminOperation,
  path: string,
  query: TObject | undefined,
) {
  const withBody =
    body === undefined || body === "lines" ? undefined : reference.commonErrors.withBody;
  const parameters = ADMIN_PATH_PARAMETERS[operationId]?.properties;
  const examplePath = path.replace(/\{(\w+)\}/, (_, name) => parameters?.[name]?.["examples"][0]);
  const unknownPath = new DomainError("Not Found", `There is no path ${examplePath}`);
  const listed = [errors, withBody, reference.commonErrors.always, common.commonErrors.always];
  const names = Object.keys(query?.properties ?? {});
  const unknownName = createUnknownParameterError(names, UNKNOWN_NAME);
  return [...listed.flatMap(createErrors), unknownName, unknownPath].toSorted(
    (a, b) => ERROR_STATUSES[a.code] - ERROR_STATUSES[b.code],
  );
}
