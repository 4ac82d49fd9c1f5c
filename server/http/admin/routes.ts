/**
 * The routes of the administration API, and the endpoints that only the command line has: they
 * describe the process that owns the database file, manage tokens, and back up to any path. The
 * command line is a client of the API, in process or through the owner's socket. To holders of a
 * token, the API is also served over HTTP.
 */
import { KindGuard, Type, type Static, type TObject, type TProperties } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import {
  Count,
  Instant,
  InstantOrNull,
  strictObject,
  TextOrNull,
} from "../../../core/resources/fields.ts";
import type { OnFailure } from "../../log.ts";
import type { AdminTokenStore } from "../../store/administration/admin-tokens.ts";
import type { EndpointDescription } from "../endpoints/endpoint.ts";
import { addRoute } from "../endpoints/mod.ts";
import { createErrorHandler } from "../errors.ts";
import { getQuery } from "../request-url.ts";
import { ADMIN_ACCOUNT_ENDPOINTS } from "./accounts.ts";
import { recordChange } from "./audit.ts";
import { ADMIN_TOKEN_ACTOR, admitCommand } from "./authentication.ts";
import { ADMIN_BACKUP_ENDPOINTS } from "./backups.ts";
import { createBodyCheck } from "./validation.ts";
import { ADMIN_COLLECTION_ENDPOINTS } from "./collection.ts";
import { createDefine, type AdminEndpoint, type AdminOptions } from "./endpoint.ts";
import { ADMIN_KEY_ENDPOINTS } from "./keys.ts";
import { ADMIN_PAGE_ENDPOINTS } from "./paged-lists.ts";
import { ADMIN_OBSERVATION_ENDPOINTS } from "./observations.ts";
import { PositiveInteger, RESOURCES } from "./resources.ts";
import { toResource } from "./rows.ts";

const SHARED_ENDPOINTS = [
  ...ADMIN_OBSERVATION_ENDPOINTS,
  ...ADMIN_ACCOUNT_ENDPOINTS,
  ...ADMIN_KEY_ENDPOINTS,
  ...ADMIN_COLLECTION_ENDPOINTS,
  ...ADMIN_PAGE_ENDPOINTS,
] as const;

/** The endpoints over HTTP, in the order of the OpenAPI document. */
export const ADMIN_ENDPOINTS: readonly (AdminEndpoint<AdminOptions> &
  Omit<EndpointDescription, "part" | "price">)[] = [...SHARED_ENDPOINTS, ...ADMIN_BACKUP_ENDPOINTS];

export type OwnerDescription = Static<typeof Owner>;

const Owner = strictObject({
  pid: Count,
  /** The command that it runs: `serve`, `import`. */
  verb: Type.String(),
  /** The URL where it serves; `null` when it does not. */
  address: TextOrNull,
  /** When it opened the database, in ISO 8601. */
  since: Type.String(),
});

interface OwnerOptions extends AdminOptions {
  readonly tokens: AdminTokenStore;
  describe(): OwnerDescription;
}

const defineOwner = createDefine<OwnerOptions, unknown>();

/** Begins with a letter, unlike an id, and not with `cm_` or `cma_`, unlike keys and tokens. */
const NAME_PATTERN = /^(?!cma?_)[A-Za-z][A-Za-z0-9._-]{0,63}$/;

const Token = strictObject({
  id: Count,
  name: Type.String(),
  begins_with: Type.String(),
  created_at: Instant,
  last_used_at: InstantOrNull,
  revoked_at: InstantOrNull,
});

const RevokedToken = strictObject({ id: Count, name: Type.String(), revoked_at: Instant });

/**
 * The endpoints of the owner's socket alone: the process that owns the database file, tokens of
 * administrators, because no token can make another token, and backups to any path, because clients
 * of the socket may write files anyway.
 */
const OWNER_ENDPOINTS = [
  defineOwner({
    operation: "GET /admin/owner",
    result: { schema: Owner },
    handle: ({ describe }) => describe(),
  }),
  defineOwner({
    operation: "POST /admin/backup",
    body: strictObject({ file: Type.String({ minLength: 1, maxLength: 4096 }) }),
    result: { schema: RESOURCES.Backup },
    handle: ({ backUp }, { body: { file }, record }) =>
      record(
        { action: "backup", target: file },
        () => backUp(file),
        ({ bytes }) => ({ bytes }),
      ),
  }),
  defineOwner({
    operation: "GET /admin/tokens",
    result: { schema: Type.Array(Token) },
    handle: async ({ tokens }) => (await tokens.list()).map((token) => toResource(Token, token)),
  }),
  defineOwner({
    operation: "POST /admin/tokens",
    body: strictObject({ name: Type.String() }),
    result: { schema: strictObject({ id: Count, token: Type.String() }), statuses: [201] },
    handle: ({ tokens }, { body: { name }, record }) => {
      assertTokenName(name);
      return record(
        { action: "tokens create", target: name },
        () => tokens.create(name),
        ({ id }) => ({ id }),
      );
    },
  }),
  defineOwner({
    operation: "DELETE /admin/tokens",
    body: strictObject({ token: Type.Union([PositiveInteger, Type.String()]) }),
    result: { schema: RevokedToken },
    handle: async ({ tokens }, { body: { token }, record }) => {
      const target = typeof token === "number" ? `token ${token}` : token;
      const revoked = await record(
        { action: "tokens revoke", target },
        () => tokens.revoke(token),
        ({ id, name }) => ({ id, name }),
      );
      return toResource(RevokedToken, revoked);
    },
  }),
] as const;

function assertTokenName(name: string): void {
  if (NAME_PATTERN.test(name) && name !== ADMIN_TOKEN_ACTOR) return;
  throw createInvalidRequestError(
    "name must be 1 to 64 letters, digits, dots, hyphens or underscores, the first a letter; it " +
      `must not be ${ADMIN_TOKEN_ACTOR}, nor begin with cm_ or cma_, got ${quoteValue(name)}`,
  );
}

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

type OwnerEndpoint = (typeof SHARED_ENDPOINTS | typeof OWNER_ENDPOINTS)[number];

/** The requests on the owner's socket and their results, by method and path. */
export type OwnerCalls = {
  readonly [Endpoint in OwnerEndpoint as Endpoint["operation"]]: {
    readonly input: InputOf<Endpoint>;
    readonly result: Static<Endpoint["result"]["schema"]>;
  };
};

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
        // The check has compared the body with its schema.
        body: body as never,
        setStatus: (code) => void (set.status = code),
        record: (change, make, describe) => recordChange(options, request, change, make, describe),
      });
    addRoute(app, endpoint, handle, assertBody);
  }
  return app;
}

/** Creates the API on the owner's socket, whose file mode decides which users may connect. */
export function createOwnerApp(options: OwnerOptions & { readonly onFailure: OnFailure }) {
  return new Elysia()
    .onRequest(({ request }) => admitCommand(request))
    .use(createErrorHandler({ onFailure: options.onFailure, isTrusted: true }))
    .use(createAdminRoutes<OwnerOptions>([...SHARED_ENDPOINTS, ...OWNER_ENDPOINTS], options));
}
