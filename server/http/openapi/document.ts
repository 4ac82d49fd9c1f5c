/** The OpenAPI document of the routes; its texts and examples are in reference.json. */
import { version } from "../../../package.json" with { type: "json" };
import { Day, Instant } from "../../../core/resources/fields.ts";
import {
  ADMIN_SCHEMA_NAMES,
  ADMIN_SECURITY_SCHEMES,
  ADMIN_TAG,
  describeAdminOperation,
  isAdminOperation,
} from "./admin/operation.ts";
import { describeOperation, TAGS } from "./operation.ts";
import { OPERATIONS, type OperationFacts } from "./operations.ts";
import reference from "./reference.json" with { type: "json" };
import { selectSchemas } from "./schemas.ts";

/** The operations of the routes, as the plugin lists them: by path and method. */
export interface ListedOperations {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>;
}

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
export function createDocument({ paths }: ListedOperations) {
  const describedPaths = Object.entries(paths).map(([path, operations]) => {
    const described = Object.entries(operations).map(
      ([method, { operationId }]) =>
        [
          method,
          isAdminOperation(path)
            ? describeAdminOperation(path, method)
            : describeOperation(path, method, operationId),
        ] as const,
    );
    return [path, Object.fromEntries(described)] as const;
  });
  const { document, securitySchemes, headers } = reference;
  const operations: readonly OperationFacts[] = Object.values(OPERATIONS);
  const schemas = selectSchemas([
    ...operations.flatMap(({ result, body }) => [result, body]),
    ...ADMIN_SCHEMA_NAMES,
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
    paths: Object.fromEntries(describedPaths),
  });
}
