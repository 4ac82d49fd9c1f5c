/** How an operation is described in the reference: parameters, answers, headers, examples. */
import type { DocumentDecoration } from "elysia";
import { DomainError, type ErrorCode } from "../../../core/errors.ts";
import { IDENTIFIER_MAX_CHARACTERS, type IntegerRange } from "../../../core/limits.ts";
import { formatErrorResponse, ERROR_STATUSES } from "../errors.ts";
import type { HeaderName } from "./headers.ts";

/** A parameter, with its type and its bounds. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: object;
  readonly example?: unknown;
}

/** A named example of an error: its code and its sentence. */
export type ErrorExample = readonly [code: ErrorCode, message: string];

/** What describes an operation. */
export interface Operation {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** An example path, which tells the interface whose errors these are. */
  readonly path: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: { readonly schema: string; readonly example: unknown };
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly schema: string;
    readonly example: unknown;
    readonly headers?: readonly HeaderName[];
  };
  /** The errors of this operation, beside those that every one has. */
  readonly errors?: readonly ErrorExample[];
  readonly isCharged?: boolean;
  readonly isPublic?: boolean;
}

const CREDIT_HEADERS: readonly HeaderName[] = ["X-Credits-Cost", "X-Credits-Remaining"];

const RATE_LIMIT_HEADERS: readonly HeaderName[] = ["RateLimit", "RateLimit-Policy"];

/** What every answer carries; those that need no key may be stored by caches as usual. */
const COMMON_HEADERS: readonly HeaderName[] = ["X-Request-Id", "Vary"];
const AUTHENTICATED_HEADERS: readonly HeaderName[] = [...COMMON_HEADERS, "Cache-Control"];

const AUTHENTICATED_ERRORS: readonly ErrorExample[] = [
  ["Missing API Key", "Send your API key in the X-API-Key header"],
  ["Invalid API Key", "The key in the X-API-Key header is not valid"],
  ["Too Many Requests", "The key has used its requests for now; the next one is in 2 s"],
];

const READ_ERRORS: readonly ErrorExample[] = [
  ["Invalid Request", "The Idempotency-Key order-7 paid for another URL within 24 hours"],
  ["Insufficient Credits", "This request costs 1 credit, the balance is 0"],
  ["Service Unavailable", "Too many long answers are being sent to slow clients right now"],
];

const SERVER_ERRORS: readonly ErrorExample[] = [
  ["Internal Error", "Something went wrong here; the request id is logged"],
  ["Service Unavailable", "The database cannot be reached right now"],
];

/** A path parameter: an identifier. */
export function describePathParameter(
  name: string,
  description: string,
  example: string,
): Parameter {
  return {
    name,
    in: "path",
    required: true,
    description: `${description} Percent-encoded, without control characters.`,
    schema: { type: "string", minLength: 1, maxLength: IDENTIFIER_MAX_CHARACTERS },
    example,
  };
}

/** A query parameter that may be left out. */
export function describeQueryParameter(
  name: string,
  description: string,
  schema: object,
): Parameter {
  return { name, in: "query", required: false, description, schema };
}

/** The schema of a whole number within its limits. */
export function createIntegerSchema({ min, max, default: initial }: IntegerRange) {
  return { type: "integer", minimum: min, maximum: max, default: initial };
}

/** What a path parameter is refused with that is no identifier. */
export function describeBadParameter(name: string): ErrorExample {
  const wanted = `1 to ${IDENTIFIER_MAX_CHARACTERS} characters of valid UTF-8`;
  const message = `${name} must be ${wanted} without control characters, got "a\\u0000b"`;
  return ["Invalid Request", message];
}

/** Describes an operation as the reference wants it. */
export function describeOperation(operation: Operation): DocumentDecoration {
  const { success, isPublic = false, isCharged = false, body } = operation;
  const errors = [
    ...(operation.errors ?? []),
    ...(isPublic ? [] : AUTHENTICATED_ERRORS),
    ...(isCharged ? READ_ERRORS : []),
    ...SERVER_ERRORS,
  ];
  const headers: readonly HeaderName[] = [
    ...(isPublic ? COMMON_HEADERS : [...AUTHENTICATED_HEADERS, ...RATE_LIMIT_HEADERS]),
    ...(isCharged ? [...CREDIT_HEADERS, "ETag" as const] : []),
    ...(success.headers ?? []),
  ];
  const decoration = {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    security: isPublic ? [] : [{ apiKey: [] }],
    parameters: [
      ...(operation.parameters ?? []),
      ...(isCharged ? READ_PARAMETERS : []),
      REQUEST_ID_PARAMETER,
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              "application/json": { schema: createSchemaRef(body.schema), example: body.example },
            },
          },
        }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: createHeaderRefs(headers),
        content: describeContent(success),
      },
      ...(isCharged ? { 304: describeNotModified(success.headers) } : {}),
      ...describeErrors(operation, errors),
    },
  };
  return decoration;
}

const REQUEST_ID_PARAMETER: Parameter = {
  name: "X-Request-Id",
  in: "header",
  required: false,
  description: "Your own name for the request, given back in the answer; else one is made.",
  schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
};

const READ_PARAMETERS: readonly Parameter[] = [
  {
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "The ETag of the answer that you have: 304 while it holds, charged the same.",
    schema: { type: "string", maxLength: 4096 },
  },
  {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "A name of your own for what you ask: within 24 hours it is charged once, however often it " +
      "is sent. Another URL under it is 400.",
    schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,255}$" },
  },
];

function createSchemaRef(schema: string) {
  return { $ref: `#/components/schemas/${schema}` };
}

function createHeaderRefs(names: readonly HeaderName[]) {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const),
  );
}

/** @param own The headers of the operation's answer: they come without its body as well. */
function describeNotModified(own: readonly HeaderName[] = []) {
  return {
    description: "The answer that you have still holds",
    headers: createHeaderRefs([
      ...AUTHENTICATED_HEADERS,
      ...RATE_LIMIT_HEADERS,
      ...CREDIT_HEADERS,
      "ETag",
      ...own,
    ]),
  };
}

function describeContent({ schema, example }: Operation["success"]) {
  if (schema === "text") {
    return { "text/plain": { schema: { type: "string" as const }, example } };
  }
  return { "application/json": { schema: createSchemaRef(schema), example } };
}

function describeErrors(operation: Operation, errors: readonly ErrorExample[]) {
  const byStatus = Map.groupBy(errors, ([code]) => ERROR_STATUSES[code]);
  const schema = operation.path.startsWith("/api/video") ? "VideoError" : "ServiceError";
  return Object.fromEntries(
    Array.from(byStatus, ([status, statusErrors]) => {
      const headerNames = [
        ...(operation.isPublic === true ? COMMON_HEADERS : AUTHENTICATED_HEADERS),
      ];
      if (status === 402) headerNames.push("X-Credits-Remaining");
      if (status === 404 && operation.isCharged) headerNames.push(...CREDIT_HEADERS);
      // The rate limit comes after the key, and before all else that can be wrong.
      if (operation.isPublic !== true && status !== 401) headerNames.push(...RATE_LIMIT_HEADERS);
      if (status === 429 || status === 503) headerNames.push("Retry-After");
      const examples = Object.fromEntries(
        statusErrors.map(([code, message], index) => {
          const { body } = formatErrorResponse(new DomainError(code, message), operation.path);
          const isFirst = statusErrors.findIndex(([other]) => other === code) === index;
          const name = code.replaceAll(" ", "") + (isFirst ? "" : String(index + 1));
          return [name, { value: JSON.parse(body) }] as const;
        }),
      );
      const response = {
        description: [...new Set(statusErrors.map(([code]) => code))].join(" or "),
        headers: createHeaderRefs(headerNames),
        content: { "application/json": { schema: createSchemaRef(schema), examples } },
      };
      return [status, response] as const;
    }),
  );
}
