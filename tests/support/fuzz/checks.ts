/** Checks the response to a fuzz request: its status, headers and body, and who may get it. */
import { expect } from "bun:test";
import { ERROR_STATUSES } from "../../../core/errors.ts";
import { REQUEST_ID_PATTERN } from "../../../server/http/admission.ts";
import { createOpenApiValidator } from "../openapi-contract.ts";
import type { OpenApiDocument } from "../openapi-examples.ts";
import type { Credential, FuzzRequest } from "./requests.ts";

/** What a credential may do; nothing if it is not valid. Every key may replace itself. */
const SCOPES: Partial<Record<Credential, readonly string[]>> = {
  rich: ["read", "creators", "lists", "account", "key"],
  poor: ["read", "creators", "lists", "account", "key"],
  readOnly: ["read", "account", "key"],
  creatorsOnly: ["creators", "key"],
  session: ["read", "session"],
  admin: ["admin"],
};

/** What a request needs to be allowed. */
function findNeeded({ method, credential }: FuzzRequest, path: string): string {
  if (path.startsWith("/admin/")) return "admin";
  if (path === "/api/session") return "session";
  if (path === "/api/account/keys/rotate") return "key";
  if (path === "/api/account") return "account";
  if (/^\/api\/lists(?:\/|$)/.test(path)) return "lists";
  const isSessionRead = credential === "session" && (method === "GET" || method === "HEAD");
  return path === "/api/creators" && !isSessionRead ? "creators" : "read";
}

/** Statuses of a path that is no operation: a page, one of its files, or nothing. */
const PAGE_STATUSES = [200, 204, 304, 308, 400, 401, 404, 405];

/** Headers that HTTP itself explains. */
const TRANSPORT_HEADERS =
  /^(?:content-type|content-length|transfer-encoding|connection|date|allow|location)$/;

const PAGE_HEADERS = new Set([
  "etag",
  "vary",
  "content-encoding",
  "cache-control",
  "x-request-id",
  "content-security-policy",
  "referrer-policy",
  "x-content-type-options",
]);

/** The path of a request as it was sent, and as the service sees it. */
function parsePaths({ target, headers }: FuzzRequest) {
  const [sentPath = ""] = target.split("?");
  const [, host = ""] = headers.find(([name]) => name === "Host") ?? [];
  // Bun does not normalize a path if the host is invalid.
  if (host !== "" && !URL.canParse(`http://${host}`)) return { sentPath, path: sentPath };
  const text = Buffer.from(target, "latin1").toString();
  return { sentPath, path: new URL(`http://localhost${text}`).pathname };
}

const mayNameList = ({ target, content }: FuzzRequest): boolean =>
  /[?&]list=/.test(target) || JSON.stringify(content ?? "").includes("list");

/** Checks that a credential may get a status, and only at a path that begins as it was sent. */
function checkAccess(request: FuzzRequest, response: Response): void {
  const { status } = response;
  const { sentPath, path } = parsePaths(request);
  const needed = findNeeded(request, path);
  const scopes = SCOPES[request.credential];
  const isPrivate = /^\/(?:api|admin)\//.test(path);
  const isAllowed = scopes?.includes(needed) ?? false;
  const isServed = status < 400 && request.method !== "OPTIONS";
  if (isServed && isPrivate) expect({ needed, isAllowed }).toEqual({ needed, isAllowed: true });
  if (isServed) expect(sentPath.split("/")[1]).toBe(path.split("/")[1]);
  if (status === 401) expect(isPrivate && isAllowed).toBe(false);
  // A read of a saved list needs the scope lists, too.
  const lacksLists = needed === "read" && mayNameList(request) && !scopes?.includes("lists");
  if (status === 403)
    expect([isAllowed && !lacksLists, scopes]).toEqual([false, expect.anything()]);
  if (status === 402) expect(request.credential).toBe("poor");
}

/** Checks that an error has the name of its status, or below `/api/video` a sentence. */
function checkError(path: string, status: number, body: unknown): void {
  const { error, ...rest } = Object(body) as Readonly<Record<string, unknown>>;
  const names = Object.entries(ERROR_STATUSES).flatMap(([name, of]) => (of === status ? name : []));
  if ("message" in rest) {
    expect({ status, body }).toEqual({ status, body: { error, message: expect.any(String) } });
    return expect(names).toContain(String(error));
  }
  expect([path.startsWith("/api/video"), rest]).toEqual([true, {}]);
  const isNotFound = status === 404 && / not found(?: for channel |$)/.test(String(error));
  const isNamed = isNotFound || names.some((name) => String(error).startsWith(name));
  expect([status, error, isNamed]).toEqual([status, error, true]);
}

/** Checks the headers that every response has, and those of documents. */
function checkCommonHeaders(request: FuzzRequest, { status, headers }: Response): void {
  const [, requestId = ""] = request.headers.find(([name]) => name === "X-Request-Id") ?? [];
  const isOwnId = REQUEST_ID_PATTERN.test(requestId);
  expect(headers.get("x-request-id")).toMatch(isOwnId ? requestId : REQUEST_ID_PATTERN);
  expect(headers.get("cache-control")).not.toBeNull();
  if (status === 308) expect(headers.get("location")).toMatch(/^\/\w/);
  if (headers.get("content-type")?.startsWith("text/html") !== true) return;
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
}

/** Creates the check of responses against a document. */
export function createResponseCheck(document: OpenApiDocument) {
  const contract = createOpenApiValidator(document);

  return async (request: FuzzRequest, response: Response): Promise<void> => {
    const { method } = request;
    const { status, headers } = response;
    const { sentPath, path } = parsePaths(request);
    expect(status).toBeLessThan(500);
    checkCommonHeaders(request, response);
    checkAccess(request, response);
    const type = headers.get("content-type") ?? "";
    const isJson = type.startsWith("application/json");
    if (status >= 400 && isJson && method !== "HEAD") {
      checkError(path, status, await response.clone().json());
    }
    // The path of another route: `/swagger/../admin/status`.
    if (sentPath !== path && status === 404) return;
    const documented = contract.listDocumented(method, path, status);
    if (documented.isPathDocumented) await contract.check({ method, path, response });
    else expect(PAGE_STATUSES).toContain(status);
    const isKnown = (name: string) =>
      TRANSPORT_HEADERS.test(name) ||
      (documented.isDocumented ? documented.headers.includes(name) : PAGE_HEADERS.has(name));
    expect({ status, unknown: [...headers.keys()].filter((name) => !isKnown(name)) }).toEqual({
      status,
      unknown: [],
    });
    if (!documented.isDocumented || type === "") return;
    const matches = documented.types.filter((documentedType) => type.startsWith(documentedType));
    expect([type, matches.length > 0]).toEqual([type, true]);
  };
}
