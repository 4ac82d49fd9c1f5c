/**
 * The administration API. The command line is its client: in process, or through the socket of the
 * process that owns the database file. To holders of a token, it is also served over HTTP.
 */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Count, strictObject, TextOrNull } from "../../../core/resources/fields.ts";
import type { AdminTokenStore } from "../../store/administration/admin-tokens.ts";
import type { OnFailure } from "../../log.ts";
import { createDefine, type AdminCalls, type AdminEndpoint } from "../endpoints/admin-endpoint.ts";
import { createErrorHandler } from "../errors.ts";
import { getQuery } from "../request-url.ts";
import { ADMIN_ACCOUNT_ENDPOINTS } from "./accounts.ts";
import { ADMIN_AUDIT_ENDPOINTS } from "./audit.ts";
import { ADMIN_BACKUP_ENDPOINTS, OWNER_BACKUP_ENDPOINTS } from "./backups.ts";
import { COMMAND_LINE, setAdminCaller } from "./caller.ts";
import { ADMIN_COLLECTION_ENDPOINTS } from "./collection.ts";
import { ADMIN_KEY_ENDPOINTS } from "./keys.ts";
import { ADMIN_NOTICE_ENDPOINTS } from "./notices.ts";
import { ADMIN_OBSERVATION_ENDPOINTS } from "./observations.ts";
import type { AdminOptions } from "./options.ts";
import { ADMIN_STATUS_ENDPOINTS } from "./status.ts";
import { OWNER_TOKEN_ENDPOINTS } from "./tokens.ts";
import { ADMIN_USAGE_ENDPOINTS } from "./usage.ts";
import { createBodyHooks } from "./validation.ts";

/** The endpoints over HTTP and on the owner's socket. */
const SHARED_ENDPOINTS = [
  ...ADMIN_OBSERVATION_ENDPOINTS,
  ...ADMIN_ACCOUNT_ENDPOINTS,
  ...ADMIN_USAGE_ENDPOINTS,
  ...ADMIN_KEY_ENDPOINTS,
  ...ADMIN_COLLECTION_ENDPOINTS,
  ...ADMIN_STATUS_ENDPOINTS,
  ...ADMIN_NOTICE_ENDPOINTS,
  ...ADMIN_AUDIT_ENDPOINTS,
] as const;

/** The endpoints over HTTP, in the order of the OpenAPI document. */
export const ADMIN_ENDPOINTS: readonly AdminEndpoint<AdminOptions>[] = [
  ...SHARED_ENDPOINTS,
  ...ADMIN_BACKUP_ENDPOINTS,
];

/** The names of the query parameters of the endpoints over HTTP, by method and path. */
export const ADMIN_QUERY_NAMES: ReadonlyMap<string, readonly string[]> = new Map(
  ADMIN_ENDPOINTS.map(({ method, path, query = {} }) => [`${method} ${path}`, Object.keys(query)]),
);

/** The process that owns a database file. */
export interface OwnerDescription {
  readonly pid: number;
  /** The command that it runs: `serve`, `import`. */
  readonly verb: string;
  /** The URL where it serves; `null` when it does not. */
  readonly address: string | null;
  /** When it opened the database, in ISO 8601. */
  readonly since: string;
}

interface OwnerOptions {
  describe(): OwnerDescription;
}

const OWNER_ENDPOINTS = [
  createDefine<OwnerOptions>()({
    method: "GET",
    path: "/admin/owner",
    result: {
      schema: strictObject({
        pid: Count,
        verb: Type.String(),
        address: TextOrNull,
        since: Type.String(),
      }),
    },
    handle: ({ describe }) => describe(),
  }),
] as const;

/** The requests on the owner's socket and their results, by method and path. */
export type OwnerCalls = AdminCalls<
  [
    ...typeof SHARED_ENDPOINTS,
    ...typeof OWNER_BACKUP_ENDPOINTS,
    ...typeof OWNER_TOKEN_ENDPOINTS,
    ...typeof OWNER_ENDPOINTS,
  ]
>;

/** Creates the routes of endpoints. */
export function createAdminRoutes<Options>(
  endpoints: readonly AdminEndpoint<Options>[],
  options: Options,
) {
  const app = new Elysia();
  for (const endpoint of endpoints) addRoute(app, endpoint, options);
  return app;
}

function addRoute<Options>(app: Elysia, endpoint: AdminEndpoint<Options>, options: Options): void {
  const { statuses: [status, ...others] = [] } = endpoint.result;
  app.route(
    endpoint.method,
    endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    async ({ request, params, body, set }) => {
      const response = await endpoint.handle(options, {
        request,
        query: getQuery(request),
        parameters: params,
        // The hooks have compared it with its schema.
        body: body as never,
        setStatus: (code) => void (set.status = code),
      });
      if (status !== undefined && others.length === 0) set.status = status;
      return response;
    },
    createBodyHooks(endpoint.body),
  );
}

/**
 * Creates the API on the socket of the process that owns a database file: administration, tokens of
 * administrators, and backups. It has no authentication: the file mode of the socket decides which
 * users may connect.
 */
export function createOwnerApp(
  options: AdminOptions &
    OwnerOptions & {
      readonly onFailure: OnFailure;
      readonly tokens: AdminTokenStore;
    },
) {
  return new Elysia()
    .onRequest(({ request }) => setAdminCaller(request, COMMAND_LINE))
    .use(createErrorHandler({ onFailure: options.onFailure, isTrusted: true }))
    .use(createAdminRoutes(SHARED_ENDPOINTS, options))
    .use(createAdminRoutes(OWNER_BACKUP_ENDPOINTS, options))
    .use(createAdminRoutes(OWNER_ENDPOINTS, options))
    .use(createAdminRoutes(OWNER_TOKEN_ENDPOINTS, options));
}
