/** Keeps observations in memory, merged into entities. */
import type { HistoryPoint } from "../buckets.ts";
import { EMPTY_ENTITY, applyObservations, type Entity } from "../entities.ts";
import type { EntityKind } from "../kinds.ts";
import { createInvalidRequestError, DomainError } from "../errors.ts";
import { OBSERVATION_LINE_MAX_BYTES } from "../limits.ts";
import { parseObservationLine, type Observation } from "../observations.ts";
import { createRejectionCollector } from "../rejections.ts";
import { listHistoryPoints } from "../responses/entity-fields.ts";
import type { ObservationStore } from "../stores.ts";
import { decodeUtf8 } from "../utf8.ts";

const NEWLINE = 0x0a;

/** The entities of each kind, by identifier. */
export type Entities = Readonly<Record<EntityKind, Map<string, Entity>>>;

/** The points of an entity, oldest first. */
export function listPoints(entities: Entities, kind: EntityKind, id: string): HistoryPoint[] {
  return listHistoryPoints(kind, entities[kind].get(id) ?? EMPTY_ENTITY);
}

/** Creates an empty store of observations, and the entities that it merges them into. */
export function createMemoryObservations(
  now: () => number,
): ObservationStore & { readonly entities: Entities } {
  const entities = { channel: new Map(), short: new Map(), user: new Map(), tweet: new Map() };

  function merge(observations: readonly Observation[]) {
    const totals = { new: 0, changed: 0, unchanged: 0 };
    for (const group of groupByEntity(observations)) {
      const [{ kind, entityId }] = group;
      const known = entities[kind].get(entityId) ?? EMPTY_ENTITY;
      const { entity, outcomes } = applyObservations(known, group);
      entities[kind].set(entityId, entity);
      for (const name of ["new", "changed", "unchanged"] as const) totals[name] += outcomes[name];
    }
    return totals;
  }

  return {
    entities,
    async importObservations(bytes) {
      const { read, observations, ...rejections } = parseLines(bytes, now());
      return { read, ...rejections, ...merge(observations) };
    },
  };
}

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

/** Groups observations by their entity: merging many at once is faster. */
function groupByEntity(observations: readonly Observation[]) {
  const groups = new Map<string, [Observation, ...Observation[]]>();
  for (const observation of observations) {
    const entity = `${observation.kind} ${observation.entityId}`;
    const group = groups.get(entity);
    if (group === undefined) groups.set(entity, [observation]);
    else group.push(observation);
  }
  return groups.values();
}
