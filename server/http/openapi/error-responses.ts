/** Describes an endpoint's error responses for OpenAPI: by status, an example of each error. */
import type { TProperties } from "@sinclair/typebox";
import {
  ERROR_STATUSES,
  isErrorCode,
  VIDEO_ERROR_SENTENCES,
  createInsufficientCreditsError,
  DomainError,
  type ErrorCode,
  type createServiceError,
} from "../../../core/errors.ts";
import { ServiceError, VideoError } from "../../../core/resources/fields.ts";
import { createMissingScopeError, findRequiredScope } from "../admission.ts";
import {
  API_PARTS,
  parseOperation,
  type EndpointDescription,
  type ErrorExamples,
} from "../endpoints/endpoint.ts";
import { formatErrorResponse } from "../errors.ts";
import { createUnknownParameterError } from "../request-url.ts";
import { READ_COST } from "../reads/charges.ts";
import { parsePathParameters } from "../route-matcher.ts";
import reference from "./reference.json" with { type: "json" };

type NamedError = Parameters<typeof createServiceError>[0];

const UNKNOWN_NAME = "timezone";

export function describeErrors(endpoint: EndpointDescription) {
  const { path } = parseOperation(endpoint);
  const byStatus = Map.groupBy(listErrors(endpoint), ({ code }) => ERROR_STATUSES[code]);
  return Array.from(byStatus, ([status, errors]) => {
    const names = Array.from(new Set(errors.map(({ code }) => code)));
    const schema = path.startsWith("/api/video/")
      ? createVideoErrorSchema(names)
      : createErrorSchema(ServiceError, { enum: names });
    return {
      status,
      description: names.join(" or "),
      content: { "application/json": { schema, examples: createExamples(errors, path) } },
    };
  });
}

function listErrors(endpoint: EndpointDescription): NamedError[] {
  const { part, query = {}, body, errors, price } = endpoint;
  const { path } = parseOperation(endpoint);
  const { cost, security } = API_PARTS[part];
  const { withBody, charged, always, ...authentication } = reference.commonErrors;
  const scope = security === "apiKey" ? findRequiredScope(path) : undefined;
  const credits = createInsufficientCreditsError(0, price?.example ?? READ_COST);
  return [
    ...createPathErrors(endpoint),
    createUnknownParameterError(Object.keys(query), UNKNOWN_NAME),
    ...(scope === undefined ? [] : [createMissingScopeError(scope)]),
    ...createErrors(errors),
    ...(body === undefined || "contentMediaType" in body ? [] : createErrors(withBody)),
    ...(security === undefined ? [] : createErrors(authentication[security])),
    ...(cost > 0 ? [...createErrors(charged), credits] : []),
    ...createErrors(always),
    ...(security === "adminToken" ? [createMissingPathError(path, endpoint.parameters)] : []),
  ];
}

function createErrors(messages: ErrorExamples = {}): NamedError[] {
  return Object.entries(messages).map(([name, message]) => {
    if (!isErrorCode(name)) throw new Error(`${name} is no error code`);
    return { code: name, message };
  });
}

/** The error of a path whose first parameter holds a control character. */
function createPathErrors({ operation, parameters }: EndpointDescription): NamedError[] {
  const [, name] = /\{(\w+)\}/.exec(operation) ?? [];
  if (name === undefined || parameters !== undefined) return [];
  try {
    parsePathParameters({ parameters: [{ name, segment: 0 }] }, "a%00b");
  } catch (error) {
    if (error instanceof DomainError) return [error];
  }
  throw new Error(`The parameter ${name} may hold control characters`);
}

/** The error of a path of the administration API while there is no token. */
function createMissingPathError(path: string, parameters: TProperties = {}): NamedError {
  const filled = path.replace(/\{(\w+)\}/, (_, name) => parameters[name]?.["examples"][0]);
  return { code: "Not Found", message: `There is no path ${filled}` };
}

function createVideoErrorSchema(names: readonly ErrorCode[]) {
  const patterns = names.map(findPattern).filter((pattern) => pattern !== undefined);
  const plainNames = names.filter((name) => findPattern(name) === undefined);
  const alternatives = [
    ...(plainNames.length === 0 ? [] : [{ enum: plainNames }]),
    ...patterns.map((pattern) => ({ pattern })),
  ];
  const [only = {}, ...others] = alternatives;
  return createErrorSchema(VideoError, others.length === 0 ? only : { anyOf: alternatives });
}

function findPattern(name: ErrorCode): string | undefined {
  const sentences: Readonly<Record<string, RegExp>> = VIDEO_ERROR_SENTENCES;
  return sentences[name]?.source ?? (ERROR_STATUSES[name] === 400 ? `^${name}: ` : undefined);
}

const createErrorSchema = (
  { properties, ...schema }: typeof VideoError | typeof ServiceError,
  narrowed: object,
) => ({ ...schema, properties: { ...properties, error: { ...properties.error, ...narrowed } } });

/** Names the examples by their codes: `InvalidRequest`, `InvalidRequest2`. */
function createExamples(errors: readonly NamedError[], path: string) {
  const counts = new Map<string, number>();
  return Object.fromEntries(
    errors.map((error) => {
      const count = (counts.get(error.code) ?? 0) + 1;
      counts.set(error.code, count);
      const name = error.code.replaceAll(" ", "") + (count === 1 ? "" : String(count));
      const value: unknown = JSON.parse(formatErrorResponse(error, path).body);
      return [name, { value }];
    }),
  );
}
