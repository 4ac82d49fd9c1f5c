/**
 * A store of observations in memory: core's rules, applied to the observations. The suites
 * compare stores with it, and the tests of a service can run on it.
 */
import type { MicroblogStore, ObservationStore, VideoStore } from "../stores.ts";
import { createMemoryObservations } from "./memory-observations.ts";
import { createMicroblogReads, createVideoReads } from "./memory-reads.ts";

/**
 * Creates an empty store of observations in memory. Each read looks at all of them, so it is for
 * tests.
 *
 * @param now The clock, in milliseconds since 1970 UTC: observations of the future are rejected.
 *
 * @example
 * const store = createMemoryStore(() => Date.UTC(2026, 0, 2));
 * const line = '{"kind":"user","username":"nasa","observedAt":"2026-01-01","followers_count":5}';
 * (await store.importObservations(new TextEncoder().encode(line))).new; // 1
 * (await store.user("NASA")).body.followers_count; // 5
 */
export function createMemoryStore(
  now: () => number,
): ObservationStore & VideoStore & MicroblogStore {
  const { entities, importObservations } = createMemoryObservations(now);
  return { importObservations, ...createVideoReads(entities), ...createMicroblogReads(entities) };
}
