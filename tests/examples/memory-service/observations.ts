/** Keeps observations in memory, merged into entities. */
import {
  DomainError,
  EMPTY_ENTITY,
  listHistoryPoints,
  mergeObservations,
  parseObservationLine,
  type Entity,
  type EntityKind,
  type HistoryPoint,
  type Observation,
  type ObservationStore,
  type RejectedLine,
} from "@creator-metrics/core";

/** The entities of each kind, by identifier. */
export type Entities = Readonly<Record<EntityKind, Map<string, Entity>>>;

/** The points of an entity, oldest first. */
export function listPoints(entities: Entities, kind: EntityKind, id: string): HistoryPoint[] {
  return listHistoryPoints(kind, entities[kind].get(id) ?? EMPTY_ENTITY);
}

export function createObservations(now: () => number): ObservationStore & { entities: Entities } {
  const entities = { channel: new Map(), short: new Map(), user: new Map(), tweet: new Map() };

  function parse(lines: readonly string[]) {
    const observations: Observation[] = [];
    const rejected: RejectedLine[] = [];
    for (const [index, line] of lines.entries()) {
      if (line.trim() === "") continue;
      try {
        observations.push(parseObservationLine(line, now()));
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        rejected.push({ line: index + 1, reason: error.message });
      }
    }
    return { observations, rejected };
  }

  function merge(observations: readonly Observation[]) {
    const totals = { new: 0, changed: 0, unchanged: 0 };
    for (const group of groupByEntity(observations)) {
      const [{ kind, entityId }] = group;
      const known = entities[kind].get(entityId) ?? EMPTY_ENTITY;
      const { entity, outcomes } = mergeObservations(known, group);
      entities[kind].set(entityId, entity);
      for (const name of ["new", "changed", "unchanged"] as const) totals[name] += outcomes[name];
    }
    return totals;
  }

  return {
    entities,
    async importObservations(lines) {
      const { observations, rejected } = parse(new TextDecoder().decode(lines).split("\n"));
      return { read: observations.length + rejected.length, rejected, ...merge(observations) };
    },
  };
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
