/**
 * The administration API. The command line is its client: in process, or through the socket of the
 * process that owns the database file. With ADMIN_TOKEN, it is also served over HTTP.
 */
import { Elysia } from "elysia";
import { createAdminAccountRoutes } from "./accounts.ts";
import { createAdminCollectionRoutes } from "./collection.ts";
import { createAdminKeyRoutes } from "./keys.ts";
import { createAdminObservationRoutes } from "./observations.ts";
import type { AdminOptions } from "./options.ts";
import { createAdminRetentionRoutes } from "./retention.ts";

/** Creates the routes below `/admin`. */
export function createAdminRoutes(options: AdminOptions) {
  return new Elysia({ name: "admin", prefix: "/admin", detail: { hide: true } })
    .use(createAdminObservationRoutes(options))
    .use(createAdminAccountRoutes(options))
    .use(createAdminKeyRoutes(options))
    .use(createAdminCollectionRoutes(options))
    .use(createAdminRetentionRoutes(options));
}
