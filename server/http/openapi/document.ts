/** The OpenAPI document of the routes; its texts and examples are in reference.json. */
import { version } from "../../../package.json" with { type: "json" };
import { describeOperation, TAGS } from "./operation.ts";
import { OPERATIONS, type OperationFacts } from "./operations.ts";
import reference from "./reference.json" with { type: "json" };
import { selectSchemas } from "./schemas.ts";

/** The operations of the routes, as the plugin lists them: by path and method. */
export interface ListedOperations {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>;
}

/** Creates the document. */
export function createDocument({ paths }: ListedOperations) {
  const describedPaths = Object.entries(paths).map(([path, operations]) => {
    const described = Object.entries(operations).map(
      ([method, { operationId }]) =>
        [method, describeOperation(path, method, operationId)] as const,
    );
    return [path, Object.fromEntries(described)] as const;
  });
  const { document, securitySchemes, headers } = reference;
  const operations: readonly OperationFacts[] = Object.values(OPERATIONS);
  const schemas = selectSchemas([
    ...operations.flatMap(({ result, body }) => [result, body]),
    "VideoError",
    "ServiceError",
  ]);
  return {
    ...document,
    info: { ...document.info, version },
    tags: TAGS,
    components: { schemas, securitySchemes, headers },
    paths: Object.fromEntries(describedPaths),
  };
}
