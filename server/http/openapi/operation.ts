/**
 * Describes an endpoint for the OpenAPI document. Its parameters, responses and headers follow from
 * its declaration.
 */
import { Type, type StringOptions, type TProperties, type TSchema } from "@sinclair/typebox";
import { FREE_REPEATS_MAX } from "../../../core/limits.ts";
import * as account from "../../../core/resources/account.ts";
import * as batch from "../../../core/resources/batch.ts";
import * as creators from "../../../core/resources/creators.ts";
import * as errors from "../../../core/resources/errors.ts";
import * as history from "../../../core/resources/history.ts";
import * as microblog from "../../../core/resources/microblog.ts";
import * as video from "../../../core/resources/video.ts";
import { REQUEST_ID_PATTERN } from "../admission.ts";
import { API_PARTS, type EndpointDescription } from "../endpoints/endpoint.ts";
import { PATH_PARAMETERS } from "../endpoints/parameters.ts";
import { IDEMPOTENCY_KEY_PATTERN } from "../reads/charges.ts";
import { describeErrors } from "./error-responses.ts";
import reference from "./reference.json" with { type: "json" };

const LONG_EXAMPLES: Readonly<Record<string, EndpointDescription["examples"]>> = reference.examples;

const CORE_NAMES: ReadonlyMap<unknown, string> = new Map(
  [account, batch, creators, errors, history, microblog, video]
    .flatMap((module) => Object.entries<unknown>(module))
    .map(([name, schema]) => [schema, name]),
);

/** The name of a schema: its `$id`, or its name in core; `undefined` if it is of a text. */
export const findSchemaName = (schema: TSchema): string | undefined =>
  schema.$id ?? CORE_NAMES.get(schema);

const createHeaderParameter = (options: StringOptions) => Type.Optional(Type.String(options));

const HEADERS = {
  "If-None-Match": createHeaderParameter({
    maxLength: 4096,
    description:
      "The ETag of the response that you have: 304 if it is still current, at the same cost.",
  }),
  "Idempotency-Key": createHeaderParameter({
    pattern: IDEMPOTENCY_KEY_PATTERN.source,
    description:
      "A key of your choice. The first request with it is charged, and within 24 hours up to " +
      `${FREE_REPEATS_MAX} repeats are free, so a retry costs nothing; the next one is charged ` +
      "again. With another URL or body it is 400.",
  }),
  "X-Request-Id": createHeaderParameter({
    pattern: REQUEST_ID_PATTERN.source,
    description: "Your identifier of the request. The response repeats it, or has a new one.",
  }),
};

/** The headers that a request may have. */
function selectHeaders(endpoint: EndpointDescription): TProperties {
  const { "If-None-Match": _ifNoneMatch, ...uncacheable } = HEADERS;
  if (isCacheable(endpoint)) return HEADERS;
  return isCharged(endpoint) ? uncacheable : { "X-Request-Id": HEADERS["X-Request-Id"] };
}

export function describePrice(cost: number): string {
  if (cost === 0) return "Free.";
  return cost === 1 ? "1 credit." : `${cost} credits.`;
}

const isCharged = ({ part }: EndpointDescription) => API_PARTS[part].cost > 0;

/** Whether clients can cache the responses of a charged read. */
const isCacheable = (endpoint: EndpointDescription) =>
  isCharged(endpoint) && endpoint.operation.startsWith("GET ");

export function describeOperation(endpoint: EndpointDescription) {
  const { id, part, summary, description, query = {}, body, result, price } = endpoint;
  const { cost, security } = API_PARTS[part];
  const { examples = LONG_EXAMPLES[id] } = endpoint;
  if (examples === undefined) throw new Error(`The endpoint ${id} has no examples`);
  const headers = createHeaderRefs(endpoint, 200);
  const success = {
    description: result.description,
    headers,
    content: {
      ...describeContent(result.schema, examples.response),
      ...(examples.csv !== undefined && {
        "text/csv": { schema: { type: "string" }, example: examples.csv },
      }),
    },
  };
  return {
    operationId: id,
    tags: [part],
    summary,
    description:
      part === "Administration"
        ? description
        : `${description} ${price?.text ?? describePrice(cost)}`,
    security: security === undefined ? [] : [{ [security]: [] }],
    parameters: [
      ...describeParameters("path", selectPathParameters(endpoint)),
      ...describeParameters("query", query),
      ...describeParameters("header", selectHeaders(endpoint)),
    ],
    ...(body !== undefined && {
      requestBody: { required: true, content: describeContent(body, examples.request) },
    }),
    responses: {
      ...Object.fromEntries((result.statuses ?? [200]).map((status) => [status, success])),
      ...(isCacheable(endpoint) && {
        304: { description: "The response that you have is still current", headers },
      }),
      ...Object.fromEntries(
        describeErrors(endpoint).map(({ status, ...response }) => [
          status,
          { ...response, headers: createHeaderRefs(endpoint, status) },
        ]),
      ),
    },
  };
}

function selectPathParameters({ operation, parameters }: EndpointDescription): TProperties {
  const names = Array.from(operation.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
  return Object.fromEntries(
    names.map((name) => {
      const schema = parameters?.[name] ?? PATH_PARAMETERS[name];
      if (schema === undefined) throw new Error(`The parameter ${name} has no schema`);
      return [name, schema];
    }),
  );
}

function describeParameters(location: "path" | "query" | "header", schemas: TProperties) {
  const { required: requiredNames = [] } = Type.Object(schemas);
  return Object.entries(schemas).map(([name, schema]) => {
    const { description, examples: [example] = [], ...parameter } = schema;
    const required = requiredNames.includes(name);
    return { name, in: location, required, description, schema: parameter, example };
  });
}

function describeContent(schema: TSchema, example: unknown) {
  const name = findSchemaName(schema);
  if (name !== undefined) {
    return { "application/json": { schema: { $ref: `#/components/schemas/${name}` }, example } };
  }
  const { contentMediaType = "text/plain", type, format } = schema;
  return { [contentMediaType]: { schema: { type, format }, example } };
}

/** References to the headers of the responses with a status. */
function createHeaderRefs(endpoint: EndpointDescription, status: number) {
  const { part, result } = endpoint;
  const isSuccess = status < 400;
  const isPaid = isCharged(endpoint) && (isSuccess || status === 404);
  const names = ["X-Request-Id", "Vary", "Cache-Control"];
  if (isSuccess) names.push("Content-Encoding", ...(result.headers ?? []));
  // Requests are counted once they are authenticated, before anything else can fail.
  if (API_PARTS[part].security === "apiKey" && status !== 401) {
    names.push("RateLimit", "RateLimit-Policy");
  }
  if (isPaid) names.push("X-Credits-Cost");
  if (isPaid || status === 402) names.push("X-Credits-Remaining");
  if (isCacheable(endpoint) && isSuccess) names.push("ETag");
  if (status === 429 || status === 503) names.push("Retry-After");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
