/**
 * The domain of creator metrics as pure functions: observations, pages, growth, credits, the
 * monitoring list. They read no clock, network or disk.
 *
 * @example
 * import { applyObservation, paginate, parseObservationLine, EMPTY_ENTITY } from "@creator-metrics/core";
 *
 * const now = Date.parse("2026-11-20T12:00:00Z");
 * const line = '{"kind":"user","observedAt":"2026-11-20","username":"NASA","followers_count":7}';
 * const { entity, outcome } = applyObservation(EMPTY_ENTITY, parseObservationLine(line, now));
 * console.log(outcome, entity.attributes["username"]?.value); // new NASA
 * console.log(paginate(0, 50, entity.points.size).page_count); // 1
 *
 * @module @creator-metrics/core
 */
export * from "./entries/creators.ts";
export * from "./entries/errors.ts";
export * from "./entries/growth.ts";
export * from "./entries/ledger.ts";
export * from "./entries/limits.ts";
export * from "./entries/observations.ts";
export * from "./entries/pages.ts";
export * from "./entries/resources.ts";
export * from "./entries/retention.ts";
export * from "./entries/stores.ts";
export * from "./entries/time.ts";
