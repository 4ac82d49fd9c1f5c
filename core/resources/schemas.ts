/**
 * A TypeBox schema of each resource, error and observation. Needs `@sinclair/typebox`.
 *
 * @module @creator-metrics/core/schema
 */
export * from "./account.ts";
export * from "./batch.ts";
export * from "./creators.ts";
export * from "./errors.ts";
export { CursorPagination, Pagination } from "./fields.ts";
export * from "./history.ts";
export * from "./microblog.ts";
export * from "./observations.ts";
export * from "./video.ts";
export type { Nullable, ResourceSchemas } from "./generated/schemas.ts";
