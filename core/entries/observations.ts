/**
 * Observations: parses them, and merges them into entities.
 *
 * @module @creator-metrics/core/observations
 */
export * from "../entities.ts";
export * from "../entity-kinds.ts";
export * from "../observations.ts";
