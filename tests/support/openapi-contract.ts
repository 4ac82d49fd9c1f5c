/**
 * Holds every answer against the reference: a status, a header or a field that one of them has and
 * the other lacks is a failure.
 */
import { expect } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

interface ReceivedResponse {
  readonly method: string;
  readonly path: string;
  readonly response: Response;
}

type Json = Readonly<Record<string, unknown>>;

const DOCUMENTED_METHODS = new Set(["GET", "HEAD", "PATCH", "DELETE"]);

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

/** The value at the end of some steps into an object, or `undefined`. */
function valueAt(value: unknown, ...steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (parent, step) => (isJson(parent) ? parent[step] : undefined),
    value,
  );
}

/** What a key or a token opens is never for a cache that others share. */
export function expectPrivateCaching(path: string, headers: Headers): void {
  const [pathname = ""] = path.split("?");
  if (!/^\/(?:api|admin)(?:\/|$)/.test(pathname)) return;
  const isNoStore = /^\/(?:admin|api\/(?:account|creators))(?:\/|$)/.test(pathname);
  const expected = isNoStore ? "no-store" : "private, no-cache";
  expect([path, headers.get("cache-control")]).toEqual([path, expected]);
  expect(headers.get("vary")?.split(", ")).toContain("X-API-Key");
}

/** Makes the check from the document that the service itself answers. */
export function createOpenApiValidator(document: unknown) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  ajv.addSchema({ ...(isJson(document) ? document : {}), $id: "reference" });
  const headers = (valueAt(document, "components", "headers") as Json | undefined) ?? {};
  const paths = Object.keys((valueAt(document, "paths") as Json | undefined) ?? {}).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
  }));

  async function checkBody(schema: unknown, response: Response, text: string): Promise<void> {
    expect(response.headers.get("content-type")).toStartWith("application/json");
    const reference = valueAt(schema, "$ref");
    const validate = ajv.compile({ $ref: `reference${String(reference)}` });
    const isValid = validate(JSON.parse(text));
    expect({ isValid, errors: validate.errors, text: isValid ? "" : text }).toEqual({
      isValid: true,
      errors: null,
      text: "",
    });
  }

  return {
    /** Checks an answer; its body is read from a copy. */
    async check({ method, path, response }: ReceivedResponse): Promise<void> {
      expect(response.headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
      expectPrivateCaching(path, response.headers);
      const [pathname = ""] = path.split("?");
      const matchedPath = paths.find(({ pattern }) => pattern.test(pathname));
      const text = await response.clone().text();
      if (method === "OPTIONS" && response.status === 204) return expect(text).toBe("");
      const documentMethod = method === "HEAD" ? "get" : method.toLowerCase();
      const operation = matchedPath && valueAt(document, "paths", matchedPath.path, documentMethod);
      const documentedResponse = valueAt(operation, "responses", String(response.status));
      if (documentedResponse === undefined) {
        // What belongs to no operation is still an error of the one shape.
        const isVideo = pathname.startsWith("/api/video");
        expect([401, 404, 405, 413]).toContain(response.status);
        if (DOCUMENTED_METHODS.has(method) && operation !== undefined) {
          throw new Error(`${method} ${path}: ${response.status} is not described`);
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
      const schema = valueAt(documentedResponse, "content", "application/json", "schema");
      if (schema !== undefined) await checkBody(schema, response, text);
    },
  };
}
