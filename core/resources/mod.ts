/**
 * The resources of the HTTP interface and the lines of imports, as plain types. `schema/` has a TypeBox
 * schema of each. An instant is in UTC with milliseconds: `2026-11-20T08:15:30.123Z`.
 *
 * @module
 */
export type * from "./account.ts";
export type * from "./batch.ts";
export type * from "./creators.ts";
export type * from "./errors.ts";
export type * from "./history.ts";
export type * from "./microblog.ts";
export type * from "./observations.ts";
export type * from "./video.ts";
