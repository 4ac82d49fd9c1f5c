import { defineConfig } from "drizzle-kit";

/**
 * What drizzle-kit reads to generate a migration. `bun run migration` runs it; a test sets the
 * folder.
 */
export default defineConfig({
  dialect: "sqlite",
  schema: "./server/store/tables/*-tables.ts",
  out: process.env["MIGRATIONS_FOLDER"] ?? "./server/store/tables/migrations",
});
