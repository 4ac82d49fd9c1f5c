/** The names of the sources, as a type: each has a fake platform. */
export const SOURCE_NAMES = ["youtube", "x", "bluesky"] as const;

/** The name of a source. */
export type SourceName = (typeof SOURCE_NAMES)[number];
