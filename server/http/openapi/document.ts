/** The OpenAPI document of the routes. */
import { version } from "../../../package.json" with { type: "json" };
import { RESPONSE_HEADERS } from "./headers.ts";
import { describeOperation } from "./operation.ts";
import { describePrice, OPERATIONS, API_PARTS } from "./operations.ts";
import { selectSchemas } from "./schemas.ts";

const BASE_DOCUMENT = {
  openapi: "3.1.0",
  info: {
    title: "Creator metrics",
    version,
    license: { name: "MIT", identifier: "MIT" },
    description:
      "The history of public numbers: channels and shorts of a video platform; users, tweets and " +
      "followers of a microblog platform; and the list of monitored creators.\n\n" +
      "Every request needs an API key. Each read of the video and microblog interfaces costs one " +
      "credit: responses with status 200, 304 and 404 are charged, all others are free. A value " +
      "that no source gave is null, never 0. All bodies are JSON.",
  },
  servers: [{ url: "/", description: "This service" }],
  tags: API_PARTS.map(({ tag, cost, about }) => ({
    name: tag,
    description: `${about} ${describePrice(cost)}`,
  })),
  components: {
    schemas: selectSchemas([
      ...Object.values(OPERATIONS).flatMap(({ result, body }) => [result.schema, body]),
      "VideoError",
      "ServiceError",
    ]),
    securitySchemes: {
      apiKey: {
        type: "apiKey",
        in: "header",
        name: "X-API-Key",
        description: "Your API key. This browser remembers it.",
      },
    },
    headers: RESPONSE_HEADERS,
  },
};

/** The operations of the routes, as the plugin lists them: by path and method. */
export interface ListedOperations {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>;
}

/** Creates the document. Throws if an operation is not declared, or has no example. */
export function createDocument({ paths }: ListedOperations) {
  const describedPaths = Object.entries(paths).map(([path, operations]) => {
    const described = Object.entries(operations).map(
      ([method, { operationId }]) => [method, describeOperation(path, operationId)] as const,
    );
    return [path, Object.fromEntries(described)] as const;
  });
  return { ...BASE_DOCUMENT, paths: Object.fromEntries(describedPaths) };
}
