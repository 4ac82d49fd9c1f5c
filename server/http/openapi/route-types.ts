/**
 * The types of the routes, which Eden reads from the type of the app. Elysia does not check requests
 * with them: the parsers do, and their errors say what is allowed.
 */
import type { Static, TUnsafe } from "@sinclair/typebox";
import type { Elysia } from "elysia";
import type {
  ERROR_STATUSES,
  ErrorCode,
  VIDEO_ERROR_SENTENCES,
} from "../../../core/error-statuses.ts";
import type { API_PARTS, OperationId, OPERATIONS } from "./operations.ts";
import type { QUERIES } from "./parameters.ts";
import type reference from "./reference.json";
import type { SchemaName, Schemas } from "./schemas.ts";

type Texts = typeof reference.operations;
type CommonErrors = typeof reference.commonErrors;
type Part<Id extends OperationId> = (typeof OPERATIONS)[Id]["part"];

/** The names of the errors with some statuses. */
type ErrorNameByStatus<Status extends number> = {
  [Name in ErrorCode]: (typeof ERROR_STATUSES)[Name] extends Status ? Name : never;
}[ErrorCode];

/** The names of the errors of an operation. */
type ErrorName<Id extends OperationId> = Extract<
  | "Invalid Request"
  | keyof CommonErrors["always"]
  | (Texts[Id] extends { errors: infer Errors } ? keyof Errors : never)
  | ((typeof OPERATIONS)[Id] extends { body: string } ? keyof CommonErrors["withBody"] : never)
  | (Part<Id> extends "Operation" ? never : keyof CommonErrors["withApiKey"] | "Forbidden")
  | ((typeof API_PARTS)[Part<Id>]["cost"] extends 0
      ? never
      : keyof CommonErrors["charged"] | "Insufficient Credits"),
  ErrorCode
>;

/** A status, if an operation has errors with it. */
type ErrorStatus<Id extends OperationId, Status extends number> = Status extends number
  ? [ErrorName<Id> & ErrorNameByStatus<Status>] extends [never]
    ? never
    : Status
  : never;

/** The body of an error; in the video API, a text where it is more than a name. */
type ErrorBody<Id extends OperationId, Name extends ErrorCode> =
  Part<Id> extends "Video"
    ? {
        error: Name extends keyof typeof VIDEO_ERROR_SENTENCES | ErrorNameByStatus<400>
          ? string
          : Name;
      }
    : { error: Name; message: string };

type Body<Name> = Name extends SchemaName ? Static<Schemas[Name]> : string;

type SuccessStatus<Id extends OperationId> = (typeof OPERATIONS)[Id] extends {
  status: infer Status extends number;
}
  ? Status
  : 200;

type ErrorStatuses = 400 | 401 | 402 | 403 | 404 | 409 | 413 | 415 | 429 | 500 | 503;

/** The options of a route, with the types of its operation. CSV has no type: `format` is left out. */
interface RouteOptions<Id extends OperationId> {
  readonly detail: { readonly operationId: Id };
  readonly response: {
    [Status in SuccessStatus<Id>]: TUnsafe<Body<(typeof OPERATIONS)[Id]["result"]>>;
  } & {
    [Status in ErrorStatus<Id, ErrorStatuses>]: TUnsafe<
      ErrorBody<Id, ErrorName<Id> & ErrorNameByStatus<Status>>
    >;
  };
  readonly query: TUnsafe<
    Id extends keyof typeof QUERIES ? Omit<Static<(typeof QUERIES)[Id]>, "format"> : unknown
  >;
  readonly body: (typeof OPERATIONS)[Id] extends { body: infer Name }
    ? TUnsafe<Body<Name>>
    : TUnsafe<unknown>;
}

/**
 * An app without the errors of Elysia's own checks, status 422. Elysia adds them to the type of every
 * route with a schema.
 */
export type WithoutValidation<App> =
  App extends Elysia<
    infer Prefix,
    infer Singleton,
    infer Definitions,
    infer Metadata,
    infer Routes,
    infer Ephemeral,
    infer Volatile
  >
    ? Elysia<
        Prefix,
        Singleton,
        Definitions,
        Metadata,
        OmitValidationErrors<Routes>,
        Ephemeral,
        Volatile
      >
    : never;

type OmitValidationErrors<Routes> = {
  [Name in keyof Routes]: Routes[Name] extends { response: infer Responses }
    ? Omit<Routes[Name], "response"> & { response: Omit<Responses, 422> }
    : OmitValidationErrors<Routes[Name]>;
};

/** Creates the options of the route of an operation. */
export function describeRoute<Id extends OperationId>(operationId: Id): RouteOptions<Id> {
  // The schemas exist as types only; with real ones, Elysia would check requests and responses.
  return { detail: { operationId } } as RouteOptions<Id>;
}
