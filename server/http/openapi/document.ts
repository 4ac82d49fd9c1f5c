/** The OpenAPI document of all endpoints; its examples are in reference.json. */
import { version } from "../../../package.json" with { type: "json" };
import { ServiceError, VideoError } from "../../../core/resources/errors.ts";
import { Day, Instant } from "../../../core/resources/fields.ts";
import { ADMIN_ENDPOINTS } from "../admin/routes.ts";
import { API_PARTS, parseOperation, type EndpointDescription } from "../endpoints/endpoint.ts";
import { ENDPOINTS } from "../endpoints/mod.ts";
import { describeOperation, describePrice, findSchemaName } from "./operation.ts";
import reference from "./reference.json" with { type: "json" };

/**
 * The endpoints of the administration API are a part of the one document, whether or not the service
 * has a token: then the document is the same everywhere.
 */
const ALL_ENDPOINTS: readonly EndpointDescription[] = [
  ...ENDPOINTS,
  ...Array.from(ADMIN_ENDPOINTS, (endpoint) => ({ ...endpoint, part: "Administration" as const })),
];

/** Core's schemas have patterns alone, because TypeBox knows no formats; generators read these. */
const FORMATS = new Map<unknown, string>([
  [Day.pattern, "date"],
  [Instant.pattern, "date-time"],
]);

/**
 * Copies a document, with the formats that patterns mean, without patterns that repeat `enum`, and
 * without the names of schemas inside of others.
 */
function describeTexts<Document extends object>(document: Document): Document {
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

/** Creates the document. */
export function createDocument() {
  const { document, securitySchemes, headers } = reference;
  const paths = Map.groupBy(ALL_ENDPOINTS, (endpoint) => parseOperation(endpoint).path);
  const schemas = ALL_ENDPOINTS.flatMap(({ result, body }) => [result.schema, body ?? []]).flat();
  return describeTexts({
    ...document,
    info: { ...document.info, version },
    tags: Object.entries(API_PARTS).map(([name, { cost, about }]) => ({
      name,
      description: `${about} ${describePrice(cost)}`,
    })),
    components: {
      schemas: Object.fromEntries(
        [...schemas, VideoError, ServiceError].flatMap((schema) => {
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
