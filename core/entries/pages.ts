/**
 * Pages: by number, by cursor, and of sorted lists, with the parameters that ask for them.
 *
 * @module @creator-metrics/core/pages
 */
export * from "../cursor.ts";
export * from "../days.ts";
export * from "../list-pages.ts";
export * from "../lists.ts";
export * from "../pagination.ts";
export * from "../parameters.ts";
