/**
 * The routes of the administration API, and the endpoints that only the command line has: they
 * describe the process that owns the database file, compute figures, manage tokens, and back up to
 * any path. Commands also read what the API reads, without a charge. The command line is a client of
 * the API, in process or through the owner's socket. To holders of a token, the API is also served
 * over HTTP.
 */
import { KindGuard, Type, type Static, type TObject, type TProperties } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { createInvalidRequestError, DomainError, quoteValue } from "../../../core/errors.ts";
import {
  Count,
  Instant,
  InstantOrNull,
  strictObject,
  TextOrNull,
} from "../../../core/resources/fields.ts";
import type { OnFailure } from "../../log.ts";
import type { AdminTokenStore } from "../../store/administration/admin-tokens.ts";
import type { createBatchImporter } from "../../store/observations/import.ts";
import type { DerivedMetrics } from "../derived-figures.ts";
import { decodeBatchMessage } from "../../observation-batches/batch-message.ts";
import type { EndpointDescription } from "../endpoints/endpoint.ts";
import { addRoute } from "../endpoints/mod.ts";
import { createErrorHandler } from "../errors.ts";
import { readBody } from "../request-body.ts";
import { getPath, getQuery } from "../request-url.ts";
import { ADMIN_ACCOUNT_ENDPOINTS } from "./accounts.ts";
import { recordChange, recordImport } from "./audit.ts";
import { ADMIN_TOKEN_ACTOR, admitCommand, getAdminCaller } from "./authentication.ts";
import { ADMIN_BACKUP_ENDPOINTS } from "./backups.ts";
import { createBodyCheck } from "./validation.ts";
import { ADMIN_COLLECTION_ENDPOINTS } from "./collection.ts";
import { DIAGNOSIS_ENDPOINTS, type DiagnosisOptions } from "./diagnosis.ts";
import { createDefine, type AdminEndpoint, type AdminOptions } from "./endpoint.ts";
import { ADMIN_KEY_ENDPOINTS } from "./keys.ts";
import { ADMIN_PAGE_ENDPOINTS } from "./paged-lists.ts";
import { ADMIN_OBSERVATION_ENDPOINTS, IMPORT_MAX_BYTES } from "./observations.ts";
import { PositiveInteger, RESOURCES } from "./resources.ts";
import { ADMIN_SESSION_ENDPOINTS } from "./sessions.ts";
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
  Omit<EndpointDescription, "part" | "price">)[] = [
  ...SHARED_ENDPOINTS,
  ...ADMIN_BACKUP_ENDPOINTS,
  ...ADMIN_SESSION_ENDPOINTS,
];

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

interface OwnerOptions extends DiagnosisOptions {
  readonly tokens: AdminTokenStore;
  readonly importBatches: ReturnType<typeof createBatchImporter>;
  describe(): OwnerDescription;
  /** Computes all stale figures of lists. */
  refreshFigures(): Promise<void>;
  /** The platforms whose derived figures are given. */
  readonly derivedMetrics: DerivedMetrics;
}

const defineOwner = createDefine<OwnerOptions, unknown>();

/** Begins with a letter, unlike an id, and not as keys, tokens and sessions do. */
const NAME_PATTERN = /^(?!cm[as]?_)[A-Za-z][A-Za-z0-9._-]{0,63}$/;

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
 * The endpoints of the owner's socket alone: the process that owns the database file and its
 * diagnosis, figures, which
 * a service computes by itself, tokens of administrators, because no token can make another token,
 * backups to any path, because clients of the socket may write files anyway, and observations that
 * the client has parsed and checked.
 */
const OWNER_ENDPOINTS = [
  ...DIAGNOSIS_ENDPOINTS,
  defineOwner({
    operation: "POST /admin/observation-batches",
    body: Type.String({ contentMediaType: "application/octet-stream" }),
    result: { schema: strictObject({ new: Count, changed: Count, unchanged: Count }) },
    handle: async (options, { request }) => {
      const bytes = await readBody(request, IMPORT_MAX_BYTES);
      const { batches, ...lines } = await decodeBatchMessage(bytes);
      const outcomes = await recordImport(options, request, async () => ({
        ...lines,
        ...(await options.importBatches(batches)),
      }));
      // Frees the bytes at once: garbage collections are rare here.
      if (bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
      return { new: outcomes.new, changed: outcomes.changed, unchanged: outcomes.unchanged };
    },
  }),
  defineOwner({
    operation: "GET /admin/owner",
    result: { schema: Owner },
    handle: ({ describe }) => describe(),
  }),
  defineOwner({
    operation: "POST /admin/figures",
    result: { schema: strictObject({ derived_metrics: Type.Array(Type.String()) }) },
    async handle({ describe, refreshFigures, derivedMetrics }) {
      // A process that serves computes them in the background.
      if (describe().address === null) await refreshFigures();
      return { derived_metrics: [...derivedMetrics] };
    },
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
      `must not be ${ADMIN_TOKEN_ACTOR}, nor begin with cm_, cma_ or cms_, got ${quoteValue(name)}`,
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
        record: (change, make, describe) =>
          recordChange(options, getAdminCaller(request), change, make, describe),
      });
    addRoute(app, endpoint, handle, assertBody);
  }
  return app;
}

/** Creates the API on the owner's socket, whose file mode decides which users may connect. */
export function createOwnerApp(
  options: OwnerOptions & {
    readonly onFailure: OnFailure;
    /** Serves a read of the API without a charge; returns `undefined` for any other request. */
    serveUncharged(request: Request): Promise<Response> | undefined;
  },
) {
  // Elysia handles rejections of functions only that are `async`.
  const serveRead = async ({ request }: { readonly request: Request }) => {
    const response = await options.serveUncharged(request);
    if (response !== undefined) return response;
    throw new DomainError("Not Found", `There is no path ${getPath(request)} for commands`);
  };
  return new Elysia()
    .onRequest(({ request }) => admitCommand(request))
    .use(createErrorHandler({ onFailure: options.onFailure, isTrusted: true }))
    .use(createAdminRoutes<OwnerOptions>([...SHARED_ENDPOINTS, ...OWNER_ENDPOINTS], options))
    .all("/api/*", serveRead, { parse: "none" });
}
