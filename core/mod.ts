/**
 * The domain of creator metrics: pure functions over channels, shorts, users, tweets, followers,
 * credits and creators. Nothing here reads a clock, a network or a disk.
 *
 * @example
 * import { applyObservation, paginate, parseObservationLine, EMPTY_ENTITY } from "creator-metrics";
 *
 * const now = Date.parse("2026-11-20T12:00:00Z");
 * const line = '{"kind":"user","observedAt":"2026-11-20","username":"NASA","followers_count":7}';
 * const { entity, outcome } = applyObservation(EMPTY_ENTITY, parseObservationLine(line, now));
 * console.log(outcome, entity.attributes["username"]?.value); // new NASA
 * console.log(paginate(0, 50, entity.points.size).page_count); // 1
 *
 * @module
 */
export * from "./channels.ts";
export * from "./creators.ts";
export * from "./ledger.ts";
export * from "./cursor.ts";
export * from "./days.ts";
export * from "./errors.ts";
export * from "./growth.ts";
export * from "./history.ts";
export * from "./entity-kinds.ts";
export * from "./limits.ts";
export * from "./observations.ts";
export * from "./pagination.ts";
export * from "./parameters.ts";
export * from "./token-bucket.ts";
export * from "./retention.ts";
export * from "./text.ts";
export * from "./time.ts";
export type * from "./schema/account.ts";
export type * from "./schema/creators.ts";
export type * from "./schema/errors.ts";
export type * from "./schema/microblog.ts";
export type * from "./schema/observations.ts";
export type * from "./schema/video.ts";
