/** Fuzz requests: generated from the operations of the OpenAPI document, and from other routes. */
import * as fc from "fast-check";
import type { DescribedOperation, JsonSchema } from "../openapi-examples.ts";
import { createJsonBody, observationLines, type ByteText } from "./bodies.ts";
import { createParameterValue, HOSTILE_SEGMENTS, type KnownValues } from "./values.ts";

/** Whose API key or token a request has. */
export const CREDENTIALS = [
  "rich",
  "readOnly",
  "creatorsOnly",
  "poor",
  "expired",
  "revoked",
  "unknown",
  "none",
  "session",
  "admin",
  "wrongToken",
] as const;
export type Credential = (typeof CREDENTIALS)[number];

/** A request, so that it can be printed and sent again. */
export interface FuzzRequest {
  /** The operation that it is made for, or `other`. */
  readonly name: string;
  readonly method: string;
  /** As it is sent; each character is a byte. */
  readonly target: string;
  readonly credential: Credential;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly content: FuzzContent | undefined;
}

interface FuzzContent {
  readonly body: ByteText;
  readonly type: string;
  readonly isChunked: boolean;
}

/** What requests are generated from. */
export interface FuzzSources {
  readonly operations: readonly DescribedOperation[];
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly known: KnownValues;
  /** The paths that are not in the document, such as `/channels/:channel`. */
  readonly otherPaths: readonly string[];
}

const weighted = <T>(...options: readonly (readonly [number, fc.Arbitrary<T>])[]) =>
  fc.oneof(...options.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const hostile = fc.constantFrom(...HOSTILE_SEGMENTS);

const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "TRACE"];

const chooseMethod = (usual: string) =>
  weighted([12, fc.constant(usual)], [1, fc.constantFrom(...METHODS)], [1, fc.constant("HEAD")]);

/** Each header is left out most of the time. */
const HEADER_VALUES: Readonly<Record<string, readonly string[]>> = {
  "Idempotency-Key": ["a", "b", "x".repeat(255), "x".repeat(256), "a b", "", "\xff", "__proto__"],
  "If-None-Match": ["*", "*", "*", '"a"', 'W/"a", "b"', "", ",", "x".repeat(4096), "\xff"],
  Accept: ["text/csv", "text/html", "application/json", "*/*;q=0", "text/csv;q=0.1,*/*", ",;", ""],
  "Accept-Encoding": ["gzip", "zstd, gzip;q=0.5", "identity;q=0", "*;q=0", "br", ";;", "gzip;q=x"],
  "X-Request-Id": ["a-request.1", "a b", "x".repeat(129), "", "__proto__"],
  Origin: ["https://example.com", "null", ""],
  Host: ["example.com", "", "[", "a:99999", "a/../b"],
  "X-Forwarded-Host": ["example.com"],
  Range: ["bytes=0-1"],
};

const extraHeaders = fc
  .tuple(
    ...Object.entries(HEADER_VALUES).map(([name, values]) =>
      weighted<readonly (readonly [string, string])[]>(
        [7, fc.constant([])],
        [1, fc.constantFrom(...values).map((value) => [[name, value]])],
      ),
    ),
  )
  .map((lists) => lists.flat());

const CONTENT_TYPES = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "",
];

/** The query of an operation: its parameters, sometimes repeated, and others. */
function createQuery(
  parameters: DescribedOperation["operation"]["parameters"],
  known: KnownValues,
): fc.Arbitrary<string> {
  const declared = parameters
    .filter((parameter) => parameter.in === "query")
    .map((parameter) => {
      const pair = createParameterValue(parameter, known).map(
        (value) => `${parameter.name}=${value}`,
      );
      const [absent, times] = parameter.required ? [1, 30] : [14, 6];
      return weighted(
        [absent, fc.constant<string[]>([])],
        [times, pair.map((text) => [text])],
        [1, fc.tuple(pair, pair)],
      );
    });
  const others = ["_=1", "_x[]=%FF", "x=1", "__proto__=1", "Limit=1", "=", "%", "a", "limt=5", "&"];
  const undeclared = weighted(
    [20, fc.constant<string[]>([])],
    [1, fc.constantFrom(...others).map((text) => [text])],
  );
  return fc.tuple(...declared, undeclared).map((lists) => {
    const pairs = lists.flat();
    return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  });
}

const fillPath = (path: string, values: readonly string[]) => {
  let next = 0;
  return path.replaceAll(/\{\w+\}|:\w+/g, () => values[next++] ?? "");
};

const isChunked = weighted([9, fc.constant(false)], [1, fc.constant(true)]);

/** Some content of operations that have none. */
const needlessContent = weighted<FuzzContent | undefined>(
  [20, fc.constant(undefined)],
  [1, fc.record({ body: fc.constantFrom("{}", "x"), type: fc.constant("text/plain"), isChunked })],
);

function createContent({ operation }: DescribedOperation, { schemas, known }: FuzzSources) {
  const [[type, content] = []] = Object.entries(operation.requestBody?.content ?? {});
  if (type === undefined || content === undefined) return needlessContent;
  const name = content.schema?.$ref?.replace(/.*\//, "") ?? "";
  const body =
    type === "application/json" ? createJsonBody(schemas[name] ?? {}, known) : observationLines;
  const types = weighted([20, fc.constant(type)], [1, fc.constantFrom(...CONTENT_TYPES)]);
  return fc.record({ body, type: types, isChunked });
}

/** Mostly the credential that a path needs. */
function chooseCredential(path: string): fc.Arbitrary<Credential> {
  const usual = path === "/api/session" ? "session" : path.startsWith("/admin/") ? "admin" : "rich";
  return weighted<Credential>(
    [160, fc.constant(usual)],
    [40, fc.constantFrom(...CREDENTIALS.filter((name) => name !== "wrongToken"))],
    // Few, because the service waits before it rejects one.
    [1, fc.constant("wrongToken")],
  );
}

function createOperationRequest(described: DescribedOperation, sources: FuzzSources) {
  const { operation, path } = described;
  const segments = operation.parameters
    .filter((parameter) => parameter.in === "path")
    .map((parameter) => createParameterValue(parameter, sources.known));
  const target = fc
    .tuple(fc.tuple(...segments), createQuery(operation.parameters, sources.known))
    .map(([values, query]) => fillPath(path, values) + query);
  return fc.record<FuzzRequest>({
    name: fc.constant(operation.operationId),
    method: chooseMethod(described.method),
    target,
    credential: chooseCredential(path),
    headers: extraHeaders,
    content: createContent(described, sources),
  });
}

/** Requests for pages, their files and paths that do not exist. */
function createOtherRequest({ operations, otherPaths }: FuzzSources): fc.Arbitrary<FuzzRequest> {
  const paths = [...otherPaths, ...operations.map(({ path }) => path)];
  const filled = fc
    .tuple(fc.constantFrom(...otherPaths), hostile, hostile)
    .map(([path, ...values]) => fillPath(path, values));
  const extended = fc
    .tuple(fc.constantFrom(...paths), fc.constantFrom("/", "/../", "%2f", "//", "\\", "?"), hostile)
    .map(([path, separator, segment]) => path + separator + segment);
  const escaping = fc
    .tuple(
      fc.constantFrom(...paths),
      fc.constantFrom("/..", "/%2e%2e", "\\..", "/.%2E", "/./.."),
      fc.constantFrom(...paths),
    )
    .map(([from, up, to]) => from + up.repeat(from.split("/").length - 1) + to);
  return fc.record({
    name: fc.constant("other"),
    method: chooseMethod("GET"),
    target: weighted([4, filled], [2, extended], [1, escaping]),
    credential: weighted<Credential>([1, fc.constant("none")], [1, fc.constant("rich")]),
    headers: extraHeaders.chain((headers) =>
      fc.constantFrom(headers, [...headers, ["Accept", "text/html,*/*"] as const]),
    ),
    content: fc.constant(undefined),
  });
}

/** Creates the arbitrary of all requests: each operation as often as any other. */
export function createRequests(sources: FuzzSources): fc.Arbitrary<FuzzRequest> {
  return weighted(
    [
      4,
      fc.oneof(
        ...sources.operations.map((described) => createOperationRequest(described, sources)),
      ),
    ],
    [1, createOtherRequest(sources)],
  );
}
