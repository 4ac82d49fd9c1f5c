/**
 * The monitoring list of creators, and the names of channels.
 *
 * @module @creator-metrics/core/creators
 */
export * from "../channels.ts";
export * from "../creators.ts";
