/**
 * The declaration of an endpoint of the administration API. Each is declared once, in
 * `server/http/admin`: routes, checks of queries and bodies, the OpenAPI document and the client of
 * the commands follow.
 */
import { Type, type Static, type TObject, type TProperties, type TSchema } from "@sinclair/typebox";
import type { EndpointDescription, ErrorExamples } from "./endpoint.ts";

/** Lines of JSON: a body that is no JSON value. */
export const Lines = Type.String({ description: "Lines of JSON" });

/** The media type of SQLite files. */
export const DATABASE_FILE_TYPE = "application/vnd.sqlite3";

/** A file of SQLite. */
export const DatabaseFile = Type.String({ format: "binary" });

/** A value that is not changed: handlers may return one that others hold. */
type Immutable<Value> = Value extends object
  ? { readonly [Field in keyof Value]: Immutable<Value[Field]> }
  : Value;

/** A request to an endpoint. */
export interface AdminRequest<Body = unknown> {
  readonly request: Request;
  readonly query: URLSearchParams;
  /** The parameters of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The body, which matches its schema. */
  readonly body: Body;
  /** Sets the status of the response, if the endpoint has several. */
  setStatus(status: number): void;
}

/** The texts of an endpoint in the OpenAPI document. */
interface AdminDocument {
  /** `operationId`. */
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly errors?: ErrorExamples;
}

/** The declaration of an endpoint. */
interface AdminDescription<
  Method extends EndpointDescription["method"] = EndpointDescription["method"],
  Path extends string = string,
  Query extends TProperties = TProperties,
  Body extends TSchema = TSchema,
  Result extends TSchema = TSchema,
> {
  readonly method: Method;
  /** `/admin/keys/{id}/rotate`. */
  readonly path: Path;
  /** Absent on the owner's socket, which is not in the OpenAPI document. */
  readonly document?: AdminDocument;
  /** The parameters of the path by name. */
  readonly parameters?: TProperties;
  readonly query?: Query;
  /** An object, which is checked; any other schema means that the handler reads the body. */
  readonly body?: Body;
  readonly result: {
    /** A schema with a name in the OpenAPI document, or `Lines` or `DatabaseFile`. */
    readonly schema: Result;
    readonly description?: string;
    /** The status of a success; by default 200. With several, the handler sets one. */
    readonly statuses?: readonly number[];
  };
}

/** An endpoint of the administration API. */
export interface AdminEndpoint<Options> extends AdminDescription {
  handle(options: Options, request: AdminRequest<never>): unknown;
}

/** Creates the function that defines endpoints with some options. */
export const createDefine =
  <Options>() =>
  <
    const Method extends EndpointDescription["method"],
    const Path extends string,
    Query extends TProperties,
    Body extends TSchema,
    Result extends TSchema,
  >(
    endpoint: AdminDescription<Method, Path, Query, Body, Result> & {
      handle(
        options: Options,
        request: AdminRequest<Static<Body>>,
      ): Immutable<Static<Result>> | Response | Promise<Immutable<Static<Result>> | Response>;
    },
  ) =>
    endpoint;

/** The parsed parts of a request to an endpoint. */
type InputOf<Endpoint> = (Endpoint extends { readonly query?: infer Query extends TProperties }
  ? string extends keyof Query
    ? unknown
    : { readonly query: Static<TObject<Query>> }
  : unknown) &
  (Endpoint extends { readonly body?: infer Body extends TObject }
    ? string extends keyof Body["properties"]
      ? unknown
      : { readonly body: Static<Body> }
    : unknown) &
  (Endpoint extends { readonly path: `${string}{${infer Name}}${string}` }
    ? { readonly parameters: Readonly<Record<Name, string | number>> }
    : unknown);

/** The requests and the results of a table of endpoints, by method and path. */
export type AdminCalls<Table extends readonly unknown[]> = {
  readonly [
    Endpoint in Table[number] as Endpoint extends {
      readonly method: infer Method extends string;
      readonly path: infer Path extends string;
    }
      ? `${Method} ${Path}`
      : never
  ]: {
    readonly input: InputOf<Endpoint>;
    readonly result: Endpoint extends {
      readonly result: { readonly schema: infer Result extends TSchema };
    }
      ? Static<Result>
      : never;
  };
};
