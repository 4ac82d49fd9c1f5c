/** Sends the example requests of the OpenAPI document, and compares example responses. */

/** A schema, as far as tests read it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly pattern?: string;
}

interface Content {
  readonly "text/csv"?: { readonly example: string };
  readonly "application/json"?: {
    readonly schema: JsonSchema;
    readonly example?: unknown;
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: JsonSchema;
    readonly example?: string;
  }[];
  readonly requestBody?: {
    readonly content: Content & Readonly<Record<string, { readonly schema?: JsonSchema }>>;
  };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** The OpenAPI document, as far as its examples need it. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, { readonly example: string }>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
}

/** An operation with its method and path. */
export interface DescribedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Lists the operations of a document by `operationId`. */
export function listOperations({ paths }: OpenApiDocument) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([verb, operation]) => {
      const described: DescribedOperation = { method: verb.toUpperCase(), path, operation };
      return [operation.operationId, described] as const;
    }),
  );
}

/** A comparison needs names, or a saved list in place of them. */
const isNames = (name: string) => name === "channels" || name === "usernames";

/** Fills the example parameters of an operation into its path and query, or other values. */
export function buildPath(
  { path, operation }: DescribedOperation,
  overrides: Readonly<Record<string, string>> = {},
) {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const example = operation.parameters.find((parameter) => parameter.name === name)?.example;
    return overrides[name] ?? String(example);
  });
  return operation.parameters
    .filter(({ in: place, name, required, example }) => {
      return place === "query" && (required || (isNames(name) && example !== undefined));
    })
    .reduce((url, { name, example }) => addToQuery(url, `${name}=${example}`), filled);
}

/** Adds a parameter to the query of a URL. */
export const addToQuery = (url: string, parameter: string) =>
  `${url}${url.includes("?") ? "&" : "?"}${parameter}`;

/** The method and the example body of an operation. */
export function buildRequestInit({ method, operation }: DescribedOperation): RequestInit {
  const body = operation.requestBody?.content["application/json"]?.example;
  if (body === undefined) return { method };
  const headers = { "content-type": "application/json" };
  return { method, headers, body: JSON.stringify(body) };
}

/** Whether no list, map or page in a response is empty. */
export function hasItems(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(hasItems);
  if (typeof value !== "object" || value === null) return true;
  const values = Object.values(value);
  return values.length > 0 && values.every(hasItems);
}

/** Whether a response has all that an example has; a list may have more items. */
export function isSubset(example: unknown, response: unknown): boolean {
  if (Array.isArray(example)) {
    return (
      Array.isArray(response) &&
      example.every((item) => response.some((other: unknown) => isSubset(item, other)))
    );
  }
  if (typeof example !== "object" || example === null) return Object.is(example, response);
  if (typeof response !== "object" || response === null) return false;
  return Object.entries(example).every(([name, value]) =>
    isSubset(value, Reflect.get(response, name)),
  );
}
