/** Checks that responses and the OpenAPI document have the same statuses, headers and fields. */
import { expect } from "bun:test";
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { readCsvRows } from "./csv-rows.ts";

interface ReceivedResponse {
  readonly method: string;
  readonly path: string;
  readonly response: Response;
}

type Json = Readonly<Record<string, unknown>>;

const DOCUMENTED_METHODS = new Set(["GET", "HEAD", "POST", "PATCH", "DELETE"]);

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

/** The nested value at a path of property names, or `undefined`. */
function valueAt(value: unknown, ...steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (parent, step) => (isJson(parent) ? parent[step] : undefined),
    value,
  );
}

/** Checks that shared caches do not store a response that needs a key or a token. */
export function expectPrivateCaching(path: string, headers: Headers): void {
  const [pathname = ""] = path.split("?");
  if (!/^\/(?:api|admin)(?:\/|$)/.test(pathname)) return;
  const isNoStore = /^\/(?:admin|api\/(?:account|creators|lists|session))(?:\/|$)/.test(pathname);
  const isPicture = pathname.startsWith("/api/pictures/") && headers.has("etag");
  const usual = isPicture ? "private, max-age=86400" : "private, no-cache";
  const expected = isNoStore ? "no-store" : usual;
  expect([path, headers.get("cache-control")]).toEqual([path, expected]);
  expect(headers.get("vary")?.split(", ")).toContain("X-API-Key");
}

const isCsv = ({ headers }: Response) =>
  headers.get("content-type") === "text/csv; charset=utf-8; header=present";

/** Checks that all rows of a CSV have as many cells as its header. */
function expectRows(text: string): void {
  const lengths = readCsvRows(text).map((row) => row.length);
  expect(lengths).toEqual(lengths.map(() => Number(lengths[0])));
}

/** Creates the check from the OpenAPI document of a service. */
export function createOpenApiValidator(document: unknown) {
  // tests/http/openapi/document.test.ts checks that the schemas are schemas.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, meta: false });
  addFormats(ajv);
  ajv.addSchema({ $id: "openapi", components: valueAt(document, "components") });
  const validators = new Map<string, ValidateFunction>();
  const headers = (valueAt(document, "components", "headers") as Json | undefined) ?? {};
  const paths = Object.keys((valueAt(document, "paths") as Json | undefined) ?? {}).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
  }));

  async function checkBody(schema: unknown, response: Response, text: string): Promise<void> {
    expect(response.headers.get("content-type")).toStartWith("application/json");
    const schemaText = JSON.stringify(schema).replaceAll('"#/', '"openapi#/');
    const validate = validators.get(schemaText) ?? ajv.compile(Object(JSON.parse(schemaText)));
    validators.set(schemaText, validate);
    const isValid = validate(JSON.parse(text));
    expect({ isValid, errors: validate.errors, text: isValid ? "" : text }).toEqual({
      isValid: true,
      errors: null,
      text: "",
    });
  }

  /** The operation of a request, if it is documented, and whether its path is. */
  function findOperation(method: string, path: string) {
    const [pathname = ""] = path.split("?");
    const matchedPath = paths.find(({ pattern }) => pattern.test(pathname));
    const documentMethod = method === "HEAD" ? "get" : method.toLowerCase();
    const operation = matchedPath && valueAt(document, "paths", matchedPath.path, documentMethod);
    return { isPathDocumented: matchedPath !== undefined, operation };
  }

  return {
    /** The names of headers and media types that a response may have; none if it is not documented. */
    listDocumented(method: string, path: string, status: number) {
      const { isPathDocumented, operation } = findOperation(method, path);
      const response = valueAt(operation, "responses", String(status));
      const listNames = (name: string) => Object.keys(Object(valueAt(response, name)));
      return {
        isPathDocumented,
        isDocumented: response !== undefined,
        headers: listNames("headers").map((name) => name.toLowerCase()),
        types: listNames("content"),
      };
    },

    /** Checks a response. Its body can still be read afterwards. */
    async check({ method, path, response }: ReceivedResponse): Promise<void> {
      expect(response.headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
      expectPrivateCaching(path, response.headers);
      const [pathname = ""] = path.split("?");
      const text = await response.clone().text();
      if (method === "OPTIONS" && response.status === 204) return expect(text).toBe("");
      const { operation } = findOperation(method, path);
      const documentedResponse = valueAt(operation, "responses", String(response.status));
      if (documentedResponse === undefined) {
        // Errors outside of operations have the common format too.
        const isVideo = pathname.startsWith("/api/video");
        expect([401, 404, 405, 413]).toContain(response.status);
        if (DOCUMENTED_METHODS.has(method) && operation !== undefined) {
          throw new Error(`${method} ${path}: ${response.status} is not documented`);
        }
        if (method === "HEAD") return expect(text).toBe("");
        const schema = `#/components/schemas/${isVideo ? "VideoError" : "ServiceError"}`;
        return checkBody({ $ref: schema }, response, text);
      }
      const documentedHeaders = Object.keys(
        (valueAt(documentedResponse, "headers") as Json | undefined) ?? {},
      );
      for (const [name, header] of Object.entries(headers)) {
        const isPresent = response.headers.has(name);
        if (isPresent || valueAt(header, "required") === true)
          expect([name, isPresent]).toEqual([name, documentedHeaders.includes(name)]);
      }
      if (method === "HEAD") return expect(text).toBe("");
      if (valueAt(documentedResponse, "content", "text/csv") !== undefined && isCsv(response)) {
        return expectRows(text);
      }
      const schema = valueAt(documentedResponse, "content", "application/json", "schema");
      if (schema !== undefined) await checkBody(schema, response, text);
    },
  };
}
