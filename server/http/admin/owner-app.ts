/** The API on the socket of the process that owns a database file: administration, and backups. */
import { Elysia, t } from "elysia";
import type { BackupResult, OnFailure, OwnerDescription } from "../../ports/process.ts";
import { createErrorHandler } from "../errors.ts";
import type { AdminOptions } from "./options.ts";
import { createAdminRoutes } from "./routes.ts";
import { jsonBodyParser } from "./validation.ts";

/** What the owner's API depends on. */
export interface OwnerAppOptions extends AdminOptions {
  readonly onFailure: OnFailure;
  describe(): OwnerDescription;
  backUp(file: string): Promise<BackupResult>;
}

/** The type of the owner's API, for its typed clients. */
export type OwnerApp = ReturnType<typeof createOwnerApp>;

/** Creates the owner's API. It has no authentication: the file mode of the socket says who may use it. */
export function createOwnerApp(options: OwnerAppOptions) {
  const ownerRoutes = new Elysia({ name: "owner", prefix: "/admin" })
    .use(jsonBodyParser)
    .get("/owner", () => options.describe())
    .post("/backup", ({ body }) => options.backUp(body.file), {
      body: t.Object({ file: t.String({ minLength: 1, maxLength: 4096 }) }),
    });
  return new Elysia()
    .use(createErrorHandler({ onFailure: options.onFailure, isTrusted: true }))
    .use(createAdminRoutes(options))
    .use(ownerRoutes);
}
