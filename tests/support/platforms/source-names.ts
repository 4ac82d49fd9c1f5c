/** The names of the sources, and their platforms. */
import { SOURCES } from "../../../server/collectors/sources.ts";
import type { Platform } from "../../../server/collectors/collector.ts";

/** The names of the sources, as a type: each has a fake platform. */
export const SOURCE_NAMES = ["youtube", "x", "bluesky"] as const;

/** The name of a source. */
export type SourceName = (typeof SOURCE_NAMES)[number];

/** Returns the source of a name. */
export function findSource(name: SourceName) {
  const source = SOURCES.find((candidate) => candidate.name === name);
  if (source === undefined) throw new Error(`There is no source ${name}`);
  return source;
}

/** Returns the platform of a source. */
export const platformOf = (name: SourceName): Platform => findSource(name).platform;
