/**
 * Observations: parses them, and merges them into entities.
 *
 * @module
 */
export * from "../entities.ts";
export * from "../entity-kinds.ts";
export * from "../observations.ts";
