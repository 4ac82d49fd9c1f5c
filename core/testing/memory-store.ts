/** A store in memory, with which the suites compare other stores: imports, merges and reads. */
import { applyObservations, EMPTY_ENTITY } from "../entities.ts";
import { createInvalidRequestError, DomainError } from "../errors.ts";
import { OBSERVATION_LINE_MAX_BYTES } from "../limits.ts";
import { parseObservationLine, type Observation } from "../observations.ts";
import { createRejectionCollector } from "../rejections.ts";
import type { MicroblogStore, ObservationStore, VideoStore } from "../stores.ts";
import { decodeUtf8 } from "../text.ts";
import { createMemoryReads } from "./memory-reads.ts";

/**
 * Creates an empty store in memory, for tests: each read looks at all entities.
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
  const entities = { channel: new Map(), short: new Map(), user: new Map(), tweet: new Map() };
  return {
    async importObservations(bytes) {
      const { observations, ...report } = parseLines(bytes, now());
      return { ...report, ...merge(entities, observations) };
    },
    ...createMemoryReads(entities),
  };
}

/** Merges observations into their entities: all of an entity at once, which is faster. */
function merge(
  entities: Parameters<typeof createMemoryReads>[0],
  observations: readonly Observation[],
) {
  const totals = { new: 0, changed: 0, unchanged: 0 };
  const groups = new Map<string, [Observation, ...Observation[]]>();
  for (const observation of observations) {
    const key = `${observation.kind} ${observation.entityId}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [observation]);
    else group.push(observation);
  }
  for (const group of groups.values()) {
    const [{ kind, entityId }] = group;
    const known = entities[kind].get(entityId) ?? EMPTY_ENTITY;
    const { entity, outcomes } = applyObservations(known, group);
    entities[kind].set(entityId, entity);
    for (const name of ["new", "changed", "unchanged"] as const) totals[name] += outcomes[name];
  }
  return totals;
}

const NEWLINE = 0x0a;

function parseLines(bytes: Uint8Array, now: number) {
  const observations: Observation[] = [];
  const rejections = createRejectionCollector();
  let read = 0;
  for (let start = 0, line = 1; start <= bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    try {
      const text = decodeLine(bytes.subarray(start, end));
      if (text.trim() !== "") {
        observations.push(parseObservationLine(text, now));
        read++;
      }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      rejections.add({ line, reason: error.message });
      read++;
    }
    start = end + 1;
  }
  return { read, observations, ...rejections.report() };
}

/** Decodes a line; a byte order mark is left out. */
function decodeLine(bytes: Uint8Array): string {
  if (bytes.length > OBSERVATION_LINE_MAX_BYTES) {
    throw createInvalidRequestError(`A line has at most ${OBSERVATION_LINE_MAX_BYTES} bytes`);
  }
  try {
    return decodeUtf8(bytes).replace(/^\uFEFF/, "");
  } catch {
    throw createInvalidRequestError("The line must be valid UTF-8");
  }
}
