/**
 * Describes an operation for the OpenAPI document. What it has and how it can fail follows from its
 * path, its declaration, the schemas and the error table.
 */
import { Type, type TObject } from "@sinclair/typebox";
import { ERROR_STATUSES, isErrorCode } from "../../../core/error-statuses.ts";
import { createInsufficientCreditsError, DomainError } from "../../../core/errors.ts";
import { createMissingScopeError } from "../admission.ts";
import type { NamedError } from "../../../core/responses/errors.ts";
import { formatErrorResponse } from "../errors.ts";
import { parsePathParameters } from "../route-matcher.ts";
import { READ_COST } from "../reads/charge.ts";
import { ChargedReadHeaders, CommonHeaders, PATH_PARAMETERS, findQuery } from "./parameters.ts";
import { createServiceErrorSchema, createVideoErrorSchema } from "./error-schemas.ts";
import {
  API_PARTS,
  isOperationId,
  OPERATIONS,
  type OperationFacts,
  type OperationId,
} from "./operations.ts";
import reference from "./reference.json" with { type: "json" };
import { createUnknownParameterError } from "./query-names.ts";
import { createSchemaRef } from "./schemas.ts";

/** Messages by error code. */
export type ErrorExamples = Readonly<Record<string, string>>;

/** The texts and examples of an operation. */
interface OperationReference {
  readonly summary: string;
  readonly description: string;
  /** If it does not cost what its part of the API costs. */
  readonly price?: {
    readonly text: string;
    /** What the example request costs, in credits. */
    readonly example: number;
  };
  readonly result: {
    readonly description: string;
    /** Headers that not every operation has. */
    readonly headers?: readonly string[];
  };
  /** Example bodies; tests send them, and compare them with what the service responds. */
  readonly request?: unknown;
  readonly response: unknown;
  /** An example of the response as CSV, if the operation has that. */
  readonly csv?: string;
  /** Examples of the errors that only this operation has; Eden takes their names from here. */
  readonly errors?: ErrorExamples;
}

/** The example of a query parameter that no operation has. */
export const UNKNOWN_NAME = "timezone";

const REFERENCES: Readonly<Record<OperationId, OperationReference>> = reference.operations;

interface Operation extends OperationReference {
  /** As OpenAPI writes it: `/api/video/{channel}/details`. */
  readonly path: string;
  readonly method: string;
  readonly hasBody: boolean;
  readonly isCharged: boolean;
  /** The names of its query parameters. */
  readonly queryNames: readonly string[];
  readonly needsApiKey: boolean;
}

export const TAGS = Object.entries(API_PARTS).map(([name, { cost, about }]) => ({
  name,
  description: `${about} ${describePrice(cost)}`,
}));

function describePrice(cost: number): string {
  if (cost === 0) return "Free.";
  return cost === 1 ? "1 credit." : `${cost} credits.`;
}

/** Whether clients can cache the responses of a charged read. */
const isCacheable = ({ method, isCharged }: Pick<Operation, "method" | "isCharged">) =>
  isCharged && method === "get";

/** The headers that a read may have: one whose response is not cached has no `If-None-Match`. */
function selectReadHeaders(operation: Operation): TObject | undefined {
  if (isCacheable(operation)) return ChargedReadHeaders;
  return operation.isCharged ? Type.Pick(ChargedReadHeaders, ["Idempotency-Key"]) : undefined;
}

/**
 * Describes an operation.
 *
 * @param path As OpenAPI writes it: `/api/video/{channel}/details`.
 * @throws {Error} If it is not in the table of operations.
 */
export function describeOperation(path: string, method: string, operationId: string) {
  if (!isOperationId(operationId)) {
    throw new Error(`${operationId} of ${path} is missing in operations.ts`);
  }
  const { part, body, result, status = 200 }: OperationFacts = OPERATIONS[operationId];
  const texts = REFERENCES[operationId];
  const { cost } = API_PARTS[part];
  const query = findQuery(operationId);
  const operation: Operation = {
    ...texts,
    path,
    method,
    hasBody: body !== undefined,
    isCharged: cost > 0,
    queryNames: Object.keys(query.properties),
    needsApiKey: part !== "Operation",
  };
  const headers = createHeaderRefs(listHeaders(200, operation));
  return {
    operationId,
    tags: [part],
    summary: texts.summary,
    description: `${texts.description} ${texts.price?.text ?? describePrice(cost)}`,
    security: operation.needsApiKey ? [{ apiKey: [] }] : [],
    parameters: [
      ...describeParameters("path", selectPathParameters(path)),
      ...describeParameters("query", query),
      ...describeParameters("header", selectReadHeaders(operation)),
      ...describeParameters("header", CommonHeaders),
    ],
    ...(body !== undefined && {
      requestBody: { required: true, content: describeContent(body, texts.request) },
    }),
    responses: {
      [status]: {
        description: texts.result.description,
        headers,
        content: {
          ...describeContent(result, texts.response),
          ...(texts.csv !== undefined && {
            "text/csv": { schema: { type: "string" }, example: texts.csv },
          }),
        },
      },
      ...(isCacheable(operation) && {
        304: { description: "The response that you have is still current", headers },
      }),
      ...describeErrors(operation),
    },
  };
}

function listPathParameters(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
}

/** @throws {Error} If a parameter has no schema. */
function selectPathParameters(path: string): TObject {
  const properties = listPathParameters(path).map((name) => {
    const schema = PATH_PARAMETERS[name];
    if (schema === undefined) throw new Error(`The parameter ${name} has no schema`);
    return [name, schema] as const;
  });
  return Type.Object(Object.fromEntries(properties));
}

/** Describes the properties of a schema as parameters. */
export function describeParameters(
  location: "path" | "query" | "header",
  schema: Pick<TObject, "properties" | "required"> | undefined,
) {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, examples: [example] = [], ...parameter } = property;
    const required = schema?.required?.includes(name) ?? false;
    return { name, in: location, required, description, schema: parameter, example };
  });
}

function describeContent(schema: OperationFacts["result"], example: unknown) {
  return schema === "text"
    ? { "text/plain": { schema: { type: "string" }, example } }
    : { "application/json": { schema: createSchemaRef(schema), example } };
}

export function createHeaderRefs(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Lists the headers of the responses with a status. */
function listHeaders(status: number, operation: Operation): string[] {
  const { isCharged, needsApiKey, result, csv } = operation;
  const isSuccess = status < 400;
  const names = [
    "X-Request-Id",
    "Vary",
    "Cache-Control",
    ...(isSuccess ? (result.headers ?? []) : []),
  ];
  if (status === 200) names.push("Content-Encoding");
  if (csv !== undefined && isSuccess) names.push("Content-Disposition");
  // Requests are counted once they are authenticated, before anything else can fail.
  if (needsApiKey && status !== 401) names.push("RateLimit", "RateLimit-Policy");
  if (isCharged && (isSuccess || status === 404)) names.push("X-Credits-Cost");
  if (isCharged && (isSuccess || status === 404 || status === 402)) {
    names.push("X-Credits-Remaining");
  }
  if (isCacheable(operation) && isSuccess) names.push("ETag");
  if (status === 429 || status === 503) names.push("Retry-After");
  return names;
}

function describeErrors(operation: Operation) {
  return describeErrorResponses(operation.path, listErrors(operation), (status) =>
    listHeaders(status, operation),
  );
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

/** Lists an example of each error, those of the operation itself first. */
function listErrors(operation: Operation): NamedError[] {
  const { withApiKey, withBody, always } = reference.commonErrors;
  const fromExamples = [
    operation.errors,
    operation.hasBody ? withBody : undefined,
    operation.needsApiKey ? withApiKey : undefined,
    operation.isCharged ? createChargedErrors(operation) : undefined,
    always,
  ].flatMap(createErrors);
  const scopeErrors = operation.needsApiKey ? [createMissingScopeError(operation.path)] : [];
  const nameError = createUnknownParameterError(operation.queryNames, UNKNOWN_NAME);
  return [...createPathErrors(operation.path), nameError, ...scopeErrors, ...fromExamples];
}

function createChargedErrors({ price }: Operation): ErrorExamples {
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
