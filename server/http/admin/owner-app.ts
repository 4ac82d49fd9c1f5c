/** What the owner of a database file answers on its socket: the administrator's interface. */
import { Elysia, t } from "elysia";
import { createAdminRoutes, type AdminOptions } from "./routes.ts";
import { jsonBodyParser } from "./body-parser.ts";
import type { BackupResult, OnFailure, OwnerDescription } from "../../ports/process.ts";
import { createErrorHandler } from "../errors.ts";

/** What the owner needs beside the administrator's interface. */
export interface OwnerAppOptions extends AdminOptions {
  readonly onFailure: OnFailure;
  describe(): OwnerDescription;
  backUp(file: string): Promise<BackupResult>;
}

/** The type of the owner's interface, for its typed clients. */
export type OwnerApp = ReturnType<typeof createOwnerApp>;

/** Makes the owner's interface; the socket's file mode says who may use it. */
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
