/**
 * The administration API. The command line is its client: in process, or through the socket of the
 * process that owns the database file. To holders of a token, it is also served over HTTP.
 */
import {
  KindGuard,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
} from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { OnFailure } from "../../log.ts";
import type { EndpointDescription } from "../endpoints/endpoint.ts";
import { addRoute } from "../endpoints/mod.ts";
import { createErrorHandler } from "../errors.ts";
import { getQuery } from "../request-url.ts";
import { ADMIN_ACCOUNT_ENDPOINTS } from "./accounts.ts";
import { ADMIN_AUDIT_ENDPOINTS, recordChange } from "./audit.ts";
import { admitCommand } from "./authentication.ts";
import { ADMIN_BACKUP_ENDPOINTS } from "./backups.ts";
import { createBodyCheck } from "./validation.ts";
import { ADMIN_COLLECTION_ENDPOINTS } from "./collection.ts";
import type { AdminEndpoint, AdminOptions } from "./endpoint.ts";
import { ADMIN_KEY_ENDPOINTS } from "./keys.ts";
import { ADMIN_NOTICE_ENDPOINTS } from "./notices.ts";
import { ADMIN_OBSERVATION_ENDPOINTS } from "./observations.ts";
import { OWNER_ENDPOINTS, type OwnerOptions } from "./owner.ts";

const SHARED_ENDPOINTS = [
  ...ADMIN_OBSERVATION_ENDPOINTS,
  ...ADMIN_ACCOUNT_ENDPOINTS,
  ...ADMIN_KEY_ENDPOINTS,
  ...ADMIN_COLLECTION_ENDPOINTS,
  ...ADMIN_NOTICE_ENDPOINTS,
  ...ADMIN_AUDIT_ENDPOINTS,
] as const;

/** The endpoints over HTTP, in the order of the OpenAPI document. */
export const ADMIN_ENDPOINTS: readonly (AdminEndpoint<AdminOptions> &
  Omit<EndpointDescription, "part" | "price">)[] = [...SHARED_ENDPOINTS, ...ADMIN_BACKUP_ENDPOINTS];

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
  (Endpoint extends { readonly operation: `${string}{${infer Name}}${string}` }
    ? { readonly parameters: Readonly<Record<Name, string | number>> }
    : unknown);

/** The requests and the results of a table of endpoints, by method and path. */
type AdminCalls<Table extends readonly unknown[]> = {
  readonly [
    Endpoint in Table[number] as Endpoint extends { readonly operation: infer Declared }
      ? Declared & string
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

/** The requests on the owner's socket and their results, by method and path. */
export type OwnerCalls = AdminCalls<[...typeof SHARED_ENDPOINTS, ...typeof OWNER_ENDPOINTS]>;

export function createAdminRoutes<Options extends AdminOptions>(
  endpoints: readonly AdminEndpoint<Options>[],
  options: Options,
) {
  const app = new Elysia();
  for (const endpoint of endpoints) {
    const assertBody = KindGuard.IsObject(endpoint.body)
      ? createBodyCheck(endpoint.body)
      : undefined;
    const handle: Parameters<typeof addRoute>[2] = ({ request, params, body, set }) =>
      endpoint.handle(options, {
        request,
        query: getQuery(request),
        parameters: params,
        // The check has compared it with its schema.
        body: body as never,
        setStatus: (code) => void (set.status = code),
        record: (change, make, describe) => recordChange(options, request, change, make, describe),
      });
    addRoute(app, endpoint, handle, assertBody);
  }
  return app;
}

/**
 * Creates the API on the socket of the process that owns a database file. It has no authentication:
 * the file mode of the socket decides which users may connect.
 */
export function createOwnerApp(options: OwnerOptions & { readonly onFailure: OnFailure }) {
  return new Elysia()
    .onRequest(({ request }) => admitCommand(request))
    .use(createErrorHandler({ onFailure: options.onFailure, isTrusted: true }))
    .use(createAdminRoutes<OwnerOptions>([...SHARED_ENDPOINTS, ...OWNER_ENDPOINTS], options));
}
