/** Builds the OpenAPI document from endpoint declarations and fixed parts in reference.json. */
import { Type, type StringOptions, type TProperties, type TSchema } from "@sinclair/typebox";
import { version } from "../../../package.json" with { type: "json" };
import { ERROR_STATUSES, isErrorCode } from "../../../core/errors.ts";
import { Day, Instant } from "../../../core/resources/fields.ts";
import * as resources from "../../../core/resources/schemas.ts";
import { FREE_REPEATS_MAX } from "../../../core/limits.ts";
import { ADMIN_ENDPOINTS } from "../admin/routes.ts";
import { REQUEST_ID_PATTERN } from "../admission.ts";
import { API_PARTS, parseOperation, type EndpointDescription } from "../endpoints/endpoint.ts";
import { ENDPOINTS } from "../endpoints/mod.ts";
import { PATH_PARAMETERS } from "../endpoints/parameters.ts";
import { IDEMPOTENCY_KEY_PATTERN } from "../reads/charges.ts";
import { describeErrors } from "./error-responses.ts";
import reference from "./reference.json" with { type: "json" };

/** The document has the administration API even without a token: it is the same everywhere. */
const ALL_ENDPOINTS: readonly EndpointDescription[] = [
  ...ENDPOINTS,
  ...Array.from(ADMIN_ENDPOINTS, (endpoint) => ({ ...endpoint, part: "Administration" as const })),
];

/** Formats by pattern, for generators of clients. TypeBox knows no formats: core has patterns. */
const FORMATS = new Map<unknown, string>([
  [Day.pattern, "date"],
  [Instant.pattern, "date-time"],
]);

/** Copies a document; adds the formats of patterns, and drops `$id` and patterns of an `enum`. */
function refineSchemas<Document extends object>(document: Document): Document {
  const describe = (_key: string, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    if (!("pattern" in value || "$id" in value)) return value;
    const { pattern, $id: _id, ...others } = value as { pattern?: unknown; $id?: unknown };
    if (pattern === undefined || "enum" in value) return others;
    const format = FORMATS.get(pattern);
    return { ...others, pattern, ...(format !== undefined && { format }) };
  };
  return JSON.parse(JSON.stringify(document, describe));
}

/** @param publicUrl Where clients reach the service; by default, where they found the document. */
export function createDocument(publicUrl?: string) {
  const { document, securitySchemes, headers } = reference;
  const paths = Map.groupBy(ALL_ENDPOINTS, (endpoint) => parseOperation(endpoint).path);
  const schemas = ALL_ENDPOINTS.flatMap(({ result, body }) => [result.schema, body ?? []]).flat();
  return refineSchemas({
    ...document,
    ...(publicUrl !== undefined && {
      servers: [{ url: publicUrl, description: "This service" }],
    }),
    info: { ...document.info, version },
    tags: Object.entries(API_PARTS).map(([name, { cost, about }]) => ({
      name,
      description: `${about} ${describePrice(cost)}`,
    })),
    components: {
      schemas: Object.fromEntries(
        [...schemas, resources.VideoError, resources.ServiceError].flatMap((schema) => {
          const name = findSchemaName(schema);
          return name === undefined ? [] : [[name, schema]];
        }),
      ),
      securitySchemes,
      headers,
    },
    paths: Object.fromEntries(
      Array.from(paths, ([path, endpoints]) => [
        path,
        Object.fromEntries(
          endpoints.map((endpoint) => [
            parseOperation(endpoint).method.toLowerCase(),
            describeOperation(endpoint),
          ]),
        ),
      ]),
    ),
  });
}

const LONG_EXAMPLES: Readonly<Record<string, EndpointDescription["examples"]>> = reference.examples;

const CORE_NAMES: ReadonlyMap<unknown, string> = new Map(
  Object.entries<unknown>(resources).map(([name, schema]) => [schema, name]),
);

/** The name of a schema: its `$id`, or its name in core; `undefined` for the schema of a text. */
const findSchemaName = (schema: TSchema): string | undefined =>
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
      "again. With another URL or body, or other names in its saved list, it is 400.",
  }),
  "X-Request-Id": createHeaderParameter({
    pattern: REQUEST_ID_PATTERN.source,
    description: "Your identifier of the request. The response repeats it, or has a new one.",
  }),
};

function selectHeaders(endpoint: EndpointDescription): TProperties {
  const { "If-None-Match": _ifNoneMatch, ...uncacheable } = HEADERS;
  const { "Idempotency-Key": _idempotencyKey, ...free } = HEADERS;
  if (isCharged(endpoint)) return isCacheable(endpoint) ? HEADERS : uncacheable;
  return isCacheable(endpoint) ? free : { "X-Request-Id": HEADERS["X-Request-Id"] };
}

function describePrice(cost: number): string {
  if (cost === 0) return "Free.";
  return cost === 1 ? "1 credit." : `${cost} credits.`;
}

const isKey = (security: string | undefined) =>
  security === "apiKey" || security === "adminSession";

const isCharged = ({ part }: EndpointDescription) => API_PARTS[part].cost > 0;

/** All charged reads have an entity tag, and so do other endpoints that declare it. */
const isCacheable = (endpoint: EndpointDescription) =>
  (isCharged(endpoint) && endpoint.operation.startsWith("GET ")) ||
  endpoint.result.headers?.includes("ETag") === true;

function describeOperation(endpoint: EndpointDescription) {
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

/** Whether a 404 is charged. That of a saved list, which is read before the debit, is free. */
const isNotFoundPaid = ({ errors = {} }: EndpointDescription) =>
  Object.keys(errors).some(
    (name) => name !== "List Not Found" && isErrorCode(name) && ERROR_STATUSES[name] === 404,
  );

function createHeaderRefs(endpoint: EndpointDescription, status: number) {
  const { part, result } = endpoint;
  const isSuccess = status < 400;
  const isPaid = isCharged(endpoint) && (isSuccess || (status === 404 && isNotFoundPaid(endpoint)));
  const names = ["X-Request-Id", "Vary", "Cache-Control"];
  if (isSuccess) names.push("Content-Encoding", ...(result.headers ?? []));
  // Requests are counted once they are authenticated, before anything else can fail.
  if (isKey(API_PARTS[part].security) && status !== 401) {
    names.push("RateLimit", "RateLimit-Policy");
  }
  if (isPaid) names.push("X-Credits-Cost");
  if (isPaid || status === 402) names.push("X-Credits-Remaining");
  if (status === 402) names.push("Link");
  if (isCacheable(endpoint) && isSuccess) names.push("ETag");
  if (status === 429 || status === 503) names.push("Retry-After");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
