/**
 * Holds every answer against the reference: a status, a header or a field that one of them has and
 * the other lacks is a failure.
 */
import { expect } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

interface Answered {
  readonly method: string;
  readonly path: string;
  readonly response: Response;
}

type Json = Readonly<Record<string, unknown>>;

const METHODS_WITH_OPERATIONS = new Set(["GET", "HEAD", "PATCH", "DELETE"]);

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

/** The value at the end of some steps into an object, or `undefined`. */
function at(value: unknown, ...steps: readonly string[]): unknown {
  return steps.reduce<unknown>((held, step) => (isJson(held) ? held[step] : undefined), value);
}

/** What a key or a token opens is never for a cache that others share. */
export function checkCaching(path: string, headers: Headers): void {
  const [bare = ""] = path.split("?");
  if (!/^\/(?:api|admin)(?:\/|$)/.test(bare)) return;
  const isUnstored = /^\/(?:admin|api\/(?:account|creators))(?:\/|$)/.test(bare);
  const wanted = isUnstored ? "no-store" : "private, no-cache";
  expect([path, headers.get("cache-control")]).toEqual([path, wanted]);
  expect(headers.get("vary")?.split(", ")).toContain("X-API-Key");
}

/** Makes the check from the document that the service itself answers. */
export function createContract(document: unknown) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  ajv.addSchema({ ...(isJson(document) ? document : {}), $id: "reference" });
  const headers = (at(document, "components", "headers") as Json | undefined) ?? {};
  const paths = Object.keys((at(document, "paths") as Json | undefined) ?? {}).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
  }));

  async function checkBody(schema: unknown, response: Response, text: string): Promise<void> {
    expect(response.headers.get("content-type")).toStartWith("application/json");
    const reference = at(schema, "$ref");
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
    async check({ method, path, response }: Answered): Promise<void> {
      expect(response.headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
      checkCaching(path, response.headers);
      const [bare = ""] = path.split("?");
      const known = paths.find(({ pattern }) => pattern.test(bare));
      const text = await response.clone().text();
      if (method === "OPTIONS" && response.status === 204) return expect(text).toBe("");
      const verb = method === "HEAD" ? "get" : method.toLowerCase();
      const operation = known && at(document, "paths", known.path, verb);
      const described = at(operation, "responses", String(response.status));
      if (described === undefined) {
        // What belongs to no operation is still an error of the one shape.
        const isVideo = bare.startsWith("/api/video");
        expect([401, 404, 405, 413]).toContain(response.status);
        if (METHODS_WITH_OPERATIONS.has(method) && operation !== undefined) {
          throw new Error(`${method} ${path}: ${response.status} is not described`);
        }
        if (method === "HEAD") return expect(text).toBe("");
        const schema = `#/components/schemas/${isVideo ? "VideoError" : "ServiceError"}`;
        return checkBody({ $ref: schema }, response, text);
      }
      const named = Object.keys((at(described, "headers") as Json | undefined) ?? {});
      for (const [name, header] of Object.entries(headers)) {
        const isThere = response.headers.has(name);
        if (isThere || at(header, "required") === true)
          expect([name, isThere]).toEqual([name, named.includes(name)]);
      }
      if (method === "HEAD") return expect(text).toBe("");
      const schema = at(described, "content", "application/json", "schema");
      if (schema !== undefined) await checkBody(schema, response, text);
    },
  };
}
