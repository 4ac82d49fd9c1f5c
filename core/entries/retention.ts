/**
 * Which observations are kept, and which points of a long history are listed.
 *
 * @module @creator-metrics/core/retention
 */
export * from "../history.ts";
export * from "../retention.ts";
