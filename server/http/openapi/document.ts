/** The OpenAPI document of all endpoints; its examples are in reference.json. */
import { version } from "../../../package.json" with { type: "json" };
import { Day, Instant } from "../../../core/resources/fields.ts";
import { ADMIN_ENDPOINTS } from "../admin/routes.ts";
import { ADMIN_SECURITY_SCHEMES, ADMIN_TAG, listAdminOperations } from "./admin/operation.ts";
import { ENDPOINTS } from "../endpoints/mod.ts";
import { describeOperation, TAGS } from "./operation.ts";
import reference from "./reference.json" with { type: "json" };
import { findSchemaName, selectSchemas } from "./schemas.ts";

/** Core's schemas have patterns alone, because TypeBox knows no formats; generators read these. */
const FORMATS = new Map<unknown, string>([
  [Day.pattern, "date"],
  [Instant.pattern, "date-time"],
]);

/** Copies a document, with the formats that patterns mean, and without patterns that repeat `enum`. */
function describeTexts<Document extends object>(document: Document): Document {
  const describe = (_key: string, value: unknown) => {
    if (typeof value !== "object" || value === null || !("pattern" in value)) return value;
    const { pattern, ...others } = value;
    if ("enum" in value) return others;
    const format = FORMATS.get(pattern);
    return format === undefined ? value : { ...value, format };
  };
  return JSON.parse(JSON.stringify(document, describe));
}

/** Creates the document. */
export function createDocument() {
  const operations = [
    ...ENDPOINTS.map((endpoint) => ({ ...endpoint, operation: describeOperation(endpoint) })),
    ...listAdminOperations(),
  ];
  const paths = Array.from(
    Map.groupBy(operations, ({ path }) => path),
    ([path, samePath]) => [
      path,
      Object.fromEntries(
        samePath.map(({ method, operation }) => [method.toLowerCase(), operation]),
      ),
    ],
  );
  const { document, securitySchemes, headers } = reference;
  const schemas = selectSchemas([
    ...[...ENDPOINTS, ...ADMIN_ENDPOINTS]
      .flatMap(({ result, body }) => [result.schema, body])
      .map(findSchemaName),
    "VideoError",
    "ServiceError",
  ]);
  return describeTexts({
    ...document,
    info: { ...document.info, version },
    tags: [...TAGS, ADMIN_TAG],
    components: {
      schemas,
      securitySchemes: { ...securitySchemes, ...ADMIN_SECURITY_SCHEMES },
      headers,
    },
    paths: Object.fromEntries(paths),
  });
}
