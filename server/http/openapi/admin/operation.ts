/**
 * Describes the endpoints of the administration API for the OpenAPI document. They are a section of
 * the one document, whether or not the service has a token: then the document is the same everywhere.
 */
import type { TSchema } from "@sinclair/typebox";
import { ERROR_STATUSES } from "../../../../core/error-statuses.ts";
import { DomainError } from "../../../../core/errors.ts";
import type { AdminOptions } from "../../admin/options.ts";
import { ADMIN_ENDPOINTS } from "../../admin/routes.ts";
import {
  DATABASE_FILE_TYPE,
  DatabaseFile,
  Lines,
  type AdminEndpoint,
} from "../../endpoints/admin-endpoint.ts";
import type { EndpointExamples } from "../../endpoints/endpoint.ts";
import {
  createErrors,
  createHeaderRefs,
  describeErrorResponses,
  describeParameters,
  UNKNOWN_NAME,
} from "../operation.ts";
import { createUnknownParameterError } from "../query-names.ts";
import common from "../reference.json" with { type: "json" };
import { COMMON_HEADERS } from "../request-headers.ts";
import { createSchemaRef, findSchemaName } from "../schemas.ts";
import reference from "./reference.json" with { type: "json" };

type Endpoint = AdminEndpoint<AdminOptions>;

const EXAMPLES: Readonly<Record<string, EndpointExamples>> = reference.examples;

const TAG = reference.tag.name;
export const ADMIN_TAG = reference.tag;
export const ADMIN_SECURITY_SCHEMES = { adminToken: reference.securityScheme };

/** The operations by path and method. */
export const listAdminOperations = () =>
  ADMIN_ENDPOINTS.map((endpoint) => {
    const { method, path } = endpoint;
    return { method, path, operation: describeAdminOperation(endpoint) };
  });

/** @throws {Error} If an endpoint has no texts or no examples. */
function describeAdminOperation(endpoint: Endpoint) {
  const { path, document, parameters = {}, query = {}, body, result } = endpoint;
  const examples = EXAMPLES[document?.id ?? ""];
  if (document === undefined || examples === undefined) {
    throw new Error(`${path} has no texts or no examples`);
  }
  const { id: operationId, summary, description } = document;
  const { statuses = [200] } = result;
  const success = {
    description: result.description,
    headers: createHeaderRefs([
      ...listHeaders(statuses[0] ?? 200),
      ...(result.schema === DatabaseFile ? ["Content-Disposition"] : []),
    ]),
    content: {
      ...describeContent(result.schema, examples.response),
      ...(examples.csv !== undefined && {
        "text/csv": { schema: { type: "string" }, example: examples.csv },
      }),
    },
  };
  return {
    operationId,
    tags: [TAG],
    summary,
    description,
    security: [{ adminToken: [] }],
    parameters: [
      ...describeParameters("path", parameters),
      ...describeParameters("query", query),
      ...describeParameters("header", COMMON_HEADERS),
    ],
    ...(body !== undefined && {
      requestBody: { required: true, content: describeContent(body, examples.request) },
    }),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, success])),
      ...describeErrorResponses(path, listErrors(endpoint), listHeaders),
    },
  };
}

function listHeaders(status: number): string[] {
  const names = ["X-Request-Id", "Vary", "Cache-Control"];
  if (status === 200) names.push("Content-Encoding");
  if (status === 429 || status === 503) names.push("Retry-After");
  return names;
}

function describeContent(schema: TSchema, example: unknown) {
  const name = findSchemaName(schema);
  if (schema === Lines) return { "application/x-ndjson": { schema: { type: "string" }, example } };
  return name === undefined || schema === DatabaseFile
    ? { [DATABASE_FILE_TYPE]: { schema: { type: "string", format: "binary" }, example } }
    : { "application/json": { schema: createSchemaRef(name), example } };
}

/** Lists an example of each error, those of the endpoint itself first. */
function listErrors({ document, path, parameters = {}, query = {}, body }: Endpoint) {
  const withBody =
    body === undefined || body === Lines ? undefined : reference.commonErrors.withBody;
  const examplePath = path.replace(/\{(\w+)\}/, (_, name) => parameters[name]?.["examples"][0]);
  const unknownPath = new DomainError("Not Found", `There is no path ${examplePath}`);
  const listed = [
    document?.errors,
    withBody,
    reference.commonErrors.always,
    common.commonErrors.always,
  ];
  const unknownName = createUnknownParameterError(Object.keys(query), UNKNOWN_NAME);
  return [...listed.flatMap(createErrors), unknownName, unknownPath].toSorted(
    (a, b) => ERROR_STATUSES[a.code] - ERROR_STATUSES[b.code],
  );
}
