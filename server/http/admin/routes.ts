/**
 * The administration API. The command line is its client: in process, or through the socket of the
 * process that owns the database file. To holders of a token, it is also served over HTTP.
 */
import { Elysia, t } from "elysia";
import type { BackupResult, OnFailure, OwnerDescription } from "../../ports/process.ts";
import type { AdminTokenAdministration } from "../../ports/administration.ts";
import { createErrorHandler } from "../errors.ts";
import { createAdminAccountRoutes } from "./accounts.ts";
import { createAuditRoutes, recordChange } from "./audit.ts";
import { COMMAND_LINE, setAdminCaller } from "./caller.ts";
import { createAdminCollectionRoutes } from "./collection.ts";
import { createAdminKeyRoutes } from "./keys.ts";
import { createNoticeRoutes } from "./notices.ts";
import { createAdminObservationRoutes } from "./observations.ts";
import type { AdminOptions } from "./options.ts";
import { createAdminStatementRoutes } from "./statement.ts";
import { createAdminTokenRoutes } from "./tokens.ts";
import { jsonBodyParser } from "./validation.ts";

/** Creates the routes below `/admin`. */
export function createAdminRoutes(options: AdminOptions) {
  return new Elysia({ name: "admin", prefix: "/admin", detail: { hide: true } })
    .use(createAdminObservationRoutes(options))
    .use(createAdminAccountRoutes(options))
    .use(createAdminStatementRoutes(options))
    .use(createAdminKeyRoutes(options))
    .use(createAdminCollectionRoutes(options))
    .use(createNoticeRoutes(options))
    .use(createAuditRoutes(options));
}

/** The type of the owner's API, for its typed clients. */
export type OwnerApp = ReturnType<typeof createOwnerApp>;

/**
 * Creates the API on the socket of the process that owns a database file: administration,
 * tokens of administrators, and backups. It has no authentication: the file mode of the socket says who may use it.
 */
export function createOwnerApp(
  options: AdminOptions & {
    readonly onFailure: OnFailure;
    readonly tokens: AdminTokenAdministration;
    describe(): OwnerDescription;
    backUp(file: string): Promise<BackupResult>;
  },
) {
  const ownerRoutes = new Elysia({ name: "owner", prefix: "/admin" })
    .use(jsonBodyParser)
    .get("/owner", () => options.describe())
    .post(
      "/backup",
      ({ body: { file }, request }) =>
        recordChange(options, request, { action: "backup", target: file }, async () => {
          const result = await options.backUp(file);
          return { result, details: { bytes: result.bytes } };
        }),
      { body: t.Object({ file: t.String({ minLength: 1, maxLength: 4096 }) }) },
    )
    .use(createAdminTokenRoutes(options));
  return new Elysia()
    .onRequest(({ request }) => setAdminCaller(request, COMMAND_LINE))
    .use(createErrorHandler({ onFailure: options.onFailure, isTrusted: true }))
    .use(createAdminRoutes(options))
    .use(ownerRoutes);
}
