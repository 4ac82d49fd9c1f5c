import { defineConfig } from "drizzle-kit";

/** `bun run migration` writes the next migration from what changed in the tables. */
export default defineConfig({
  dialect: "sqlite",
  schema: "./server/store/tables/*-tables.ts",
  out: "./server/store/tables/migrations",
});
