/**
 * The monitoring list of creators, and the names of channels.
 *
 * @module
 */
export * from "../channels.ts";
export * from "../creators.ts";
