/**
 * Describes an endpoint for the OpenAPI document. Its responses and errors follow from its
 * declaration, the schemas and the error table.
 */
import { Type, type TProperties, type TSchema } from "@sinclair/typebox";
import { ERROR_STATUSES, isErrorCode } from "../../../core/error-statuses.ts";
import { createInsufficientCreditsError, DomainError } from "../../../core/errors.ts";
import { createMissingScopeError } from "../admission.ts";
import type { NamedError } from "../../../core/responses/errors.ts";
import { formatErrorResponse } from "../errors.ts";
import { parsePathParameters } from "../route-matcher.ts";
import { READ_COST } from "../reads/charges.ts";
import {
  API_PARTS,
  type EndpointDescription,
  type ErrorExamples,
  type EndpointExamples,
} from "../endpoints/endpoint.ts";
import { PATH_PARAMETERS } from "../endpoints/parameters.ts";
import { createServiceErrorSchema, createVideoErrorSchema } from "./error-schemas.ts";
import reference from "./reference.json" with { type: "json" };
import { createUnknownParameterError } from "./query-names.ts";
import { CHARGED_READ_HEADERS, COMMON_HEADERS } from "./request-headers.ts";
import { createSchemaRef, findSchemaName } from "./schemas.ts";

const LONG_EXAMPLES: Readonly<Record<string, EndpointExamples>> = reference.examples;

/** @throws {Error} If there are none. */
function findExamples({ id, examples = LONG_EXAMPLES[id] }: EndpointDescription): EndpointExamples {
  if (examples === undefined) throw new Error(`The endpoint ${id} has no examples`);
  return examples;
}

/** The example of a query parameter that no operation has. */
export const UNKNOWN_NAME = "timezone";

export const TAGS = Object.entries(API_PARTS).map(([name, { cost, about }]) => ({
  name,
  description: `${about} ${describePrice(cost)}`,
}));

function describePrice(cost: number): string {
  if (cost === 0) return "Free.";
  return cost === 1 ? "1 credit." : `${cost} credits.`;
}

const isCharged = ({ part }: EndpointDescription) => API_PARTS[part].cost > 0;
const needsApiKey = ({ part }: EndpointDescription) => part !== "Operation";

/** Whether clients can cache the responses of a charged read. */
const isCacheable = (endpoint: EndpointDescription) =>
  isCharged(endpoint) && endpoint.method === "GET";

/** The headers that a read may have: one whose response is not cached has no `If-None-Match`. */
function selectReadHeaders(endpoint: EndpointDescription): TProperties {
  const { "Idempotency-Key": key } = CHARGED_READ_HEADERS;
  if (isCacheable(endpoint)) return CHARGED_READ_HEADERS;
  return isCharged(endpoint) && key !== undefined ? { "Idempotency-Key": key } : {};
}

/** Describes the operation of an endpoint. */
export function describeOperation(endpoint: EndpointDescription) {
  const { id, path, part, summary, description, query = {}, body, result, price } = endpoint;
  const examples = findExamples(endpoint);
  const headers = createHeaderRefs(listHeaders(200, endpoint));
  return {
    operationId: id,
    tags: [part],
    summary,
    description: `${description} ${price?.text ?? describePrice(API_PARTS[part].cost)}`,
    security: needsApiKey(endpoint) ? [{ apiKey: [] }] : [],
    parameters: [
      ...describeParameters("path", selectPathParameters(path)),
      ...describeParameters("query", query),
      ...describeParameters("header", selectReadHeaders(endpoint)),
      ...describeParameters("header", COMMON_HEADERS),
    ],
    ...(body !== undefined && {
      requestBody: { required: true, content: describeContent(body, examples.request) },
    }),
    responses: {
      [result.status ?? 200]: {
        description: result.description,
        headers,
        content: {
          ...describeContent(result.schema, examples.response),
          ...(examples.csv !== undefined && {
            "text/csv": { schema: { type: "string" }, example: examples.csv },
          }),
        },
      },
      ...(isCacheable(endpoint) && {
        304: { description: "The response that you have is still current", headers },
      }),
      ...describeErrorResponses(path, listErrors(endpoint), (status) =>
        listHeaders(status, endpoint),
      ),
    },
  };
}

function listPathParameters(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
}

/** @throws {Error} If a parameter has no schema. */
function selectPathParameters(path: string): TProperties {
  const properties = listPathParameters(path).map((name) => {
    const schema = PATH_PARAMETERS[name];
    if (schema === undefined) throw new Error(`The parameter ${name} has no schema`);
    return [name, schema] as const;
  });
  return Object.fromEntries(properties);
}

/** Describes schemas as parameters, by name. */
export function describeParameters(location: "path" | "query" | "header", schemas: TProperties) {
  const { required: requiredNames = [] } = Type.Object(schemas);
  return Object.entries(schemas).map(([name, schema]) => {
    const { description, examples: [example] = [], ...parameter } = schema;
    const required = requiredNames.includes(name);
    return { name, in: location, required, description, schema: parameter, example };
  });
}

function describeContent(schema: TSchema, example: unknown) {
  const name = findSchemaName(schema);
  return name === undefined
    ? { "text/plain": { schema: { type: "string" }, example } }
    : { "application/json": { schema: createSchemaRef(name), example } };
}

export function createHeaderRefs(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Lists the headers of the responses with a status. */
function listHeaders(status: number, endpoint: EndpointDescription): string[] {
  const isSuccess = status < 400;
  const names = [
    "X-Request-Id",
    "Vary",
    "Cache-Control",
    ...(isSuccess ? (endpoint.result.headers ?? []) : []),
  ];
  if (status === 200) names.push("Content-Encoding");
  if (findExamples(endpoint).csv !== undefined && isSuccess) names.push("Content-Disposition");
  // Requests are counted once they are authenticated, before anything else can fail.
  if (needsApiKey(endpoint) && status !== 401) names.push("RateLimit", "RateLimit-Policy");
  if (isCharged(endpoint)) {
    const isPaid = isSuccess || status === 404;
    if (isPaid) names.push("X-Credits-Cost");
    if (isPaid || status === 402) names.push("X-Credits-Remaining");
  }
  if (isCacheable(endpoint) && isSuccess) names.push("ETag");
  if (status === 429 || status === 503) names.push("Retry-After");
  return names;
}

/** Describes the responses to errors, by status. */
export function describeErrorResponses(
  path: string,
  allErrors: readonly NamedError[],
  listStatusHeaders: (status: number) => readonly string[],
) {
  const byStatus = Map.groupBy(allErrors, ({ code }) => ERROR_STATUSES[code]);
  const createSchema = path.startsWith("/api/video/")
    ? createVideoErrorSchema
    : createServiceErrorSchema;
  return Object.fromEntries(
    Array.from(byStatus, ([status, errors]) => {
      const names = Array.from(new Set(errors.map(({ code }) => code)));
      const schema = createSchema(names);
      const response = {
        description: names.join(" or "),
        headers: createHeaderRefs(listStatusHeaders(status)),
        content: { "application/json": { schema, examples: createErrorExamples(errors, path) } },
      };
      return [status, response];
    }),
  );
}

/** Lists an example of each error, those of the endpoint itself first. */
function listErrors(endpoint: EndpointDescription): NamedError[] {
  const { path, query = {}, errors, body } = endpoint;
  const { withApiKey, withBody, always } = reference.commonErrors;
  const examples = [
    errors,
    body === undefined ? undefined : withBody,
    needsApiKey(endpoint) ? withApiKey : undefined,
    isCharged(endpoint) ? createChargedErrors(endpoint) : undefined,
    always,
  ].flatMap(createErrors);
  const scopeErrors = needsApiKey(endpoint) ? [createMissingScopeError(path)] : [];
  const nameError = createUnknownParameterError(Object.keys(query), UNKNOWN_NAME);
  return [...createPathErrors(path), nameError, ...scopeErrors, ...examples];
}

function createChargedErrors({ price }: EndpointDescription): ErrorExamples {
  const { code, message } = createInsufficientCreditsError(0, price?.example ?? READ_COST);
  return { ...reference.commonErrors.charged, [code]: message };
}

export function createErrors(messages: ErrorExamples = {}): NamedError[] {
  return Object.entries(messages).map(([name, message]) => {
    if (!isErrorCode(name)) throw new Error(`${name} is no error code`);
    return { code: name, message };
  });
}

/** The error of a path whose first parameter holds a control character. */
function createPathErrors(path: string): NamedError[] {
  const [name] = listPathParameters(path);
  if (name === undefined) return [];
  try {
    parsePathParameters({ parameters: [{ name, segment: 0 }] }, "a%00b");
  } catch (error) {
    if (error instanceof DomainError) return [error];
  }
  throw new Error(`The parameter ${name} may hold control characters`);
}

/** Names the examples by their codes: `InvalidRequest`, `InvalidRequest2`. */
function createErrorExamples(errors: readonly NamedError[], path: string) {
  const counts = new Map<string, number>();
  return Object.fromEntries(
    errors.map((error) => {
      const count = (counts.get(error.code) ?? 0) + 1;
      counts.set(error.code, count);
      const name = error.code.replaceAll(" ", "") + (count === 1 ? "" : String(count));
      const value: unknown = JSON.parse(formatErrorResponse(error, path).body);
      return [name, { value }];
    }),
  );
}
