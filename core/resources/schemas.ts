/**
 * TypeBox schemas of resources, requests, errors and observations. Needs `@sinclair/typebox`.
 *
 * @module @creator-metrics/core/schema
 */
export * from "./account.ts";
export * from "./creators.ts";
export { CursorPagination, Pagination, ServiceError, VideoError } from "./fields.ts";
export * from "./items.ts";
export * from "./metrics.ts";
export * from "./microblog.ts";
export * from "./observations.ts";
export * from "./owners.ts";
export * from "./saved-lists.ts";
export * from "./tables.ts";
export * from "./video.ts";
export type { Nullable, ResourceSchemas } from "./generated/schemas.ts";
