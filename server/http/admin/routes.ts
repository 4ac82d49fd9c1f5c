/**
 * The administration API. The command line is its client: in process, or through the socket of the
 * process that owns the database file. To holders of a token, it is also served over HTTP.
 */
import { Elysia } from "elysia";
import type { OnFailure } from "../../log.ts";
import type { AdminTokenAdministration } from "../../metering/admin-tokens.ts";
import { createErrorHandler } from "../errors.ts";
import { createAdminAccountRoutes } from "./accounts.ts";
import { createAuditRoutes } from "./audit.ts";
import { createOwnerBackupRoutes } from "./backups.ts";
import { COMMAND_LINE, setAdminCaller } from "./caller.ts";
import { createAdminCollectionRoutes } from "./collection.ts";
import { createAdminKeyRoutes } from "./keys.ts";
import { createNoticeRoutes } from "./notices.ts";
import { createAdminObservationRoutes } from "./observations.ts";
import type { AdminOptions } from "./options.ts";
import { createAdminStatusRoutes } from "./status.ts";
import { createAdminTokenRoutes } from "./tokens.ts";
import { createAdminUsageRoutes } from "./usage.ts";

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

/** Creates the routes below `/admin`. */
export function createAdminRoutes(options: AdminOptions) {
  return new Elysia({ name: "admin", prefix: "/admin" })
    .use(createAdminObservationRoutes(options))
    .use(createAdminAccountRoutes(options))
    .use(createAdminUsageRoutes(options))
    .use(createAdminKeyRoutes(options))
    .use(createAdminCollectionRoutes(options))
    .use(createAdminStatusRoutes(options))
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
  },
) {
  const ownerRoutes = new Elysia({ name: "owner", prefix: "/admin" })
    .get("/owner", () => options.describe())
    .use(createAdminTokenRoutes(options));
  return new Elysia()
    .onRequest(({ request }) => setAdminCaller(request, COMMAND_LINE))
    .use(createErrorHandler({ onFailure: options.onFailure, isTrusted: true }))
    .use(createAdminRoutes(options))
    .use(createOwnerBackupRoutes(options))
    .use(ownerRoutes);
}
