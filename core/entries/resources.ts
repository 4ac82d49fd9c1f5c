/**
 * The resources of the HTTP interface: their types, and how they are created from entities.
 *
 * @module @creator-metrics/core/resources
 */
export * from "../resources/creator-resources.ts";
export * from "../resources/entity-fields.ts";
export * from "../resources/error-resources.ts";
export * from "../resources/history-resources.ts";
export * from "../resources/list-resources.ts";
export * from "../resources/microblog-resources.ts";
export * from "../resources/mod.ts";
export * from "../resources/video-resources.ts";
