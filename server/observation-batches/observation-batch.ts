/**
 * Builds batches of observations. A batch has the observations of one kind, by entity, as columns:
 * typed arrays move between threads without a copy, and no number (a block of lines holds a hundred
 * thousand) needs an object.
 */
import { ENTITY_FIELDS, ENTITY_KINDS, mapKinds, type EntityKind } from "../../core/kinds.ts";
import type { Observation } from "../../core/observations.ts";

type AttributeValues = Observation["attributes"];

/** Observations of a kind: those of one entity follow one another, in the order they came in. */
export interface ObservationBatch {
  readonly kind: EntityKind;
  readonly entityIds: readonly string[];
  readonly attributeSets: readonly AttributeValues[];
  /** By entity: the index after its last observation. */
  readonly ends: Uint32Array;
  /** By observation: milliseconds since 1970 UTC. */
  readonly instants: Float64Array;
  /** By observation: its counts in the order of the kind; NaN is unknown. */
  readonly counts: Float64Array;
  /** By observation: the index of its attributes in `attributeSets`. */
  readonly attributeIndexes: Uint32Array;
}

/** An entity of a builder, with attributes that it was observed with. */
export interface ObservedEntity {
  readonly kind: EntityKind;
  readonly entityIndex: number;
  readonly attributeIndex: number;
}

/** Counts as numbers in any order. */
interface IndexedCounts {
  readonly numbers: Float64Array;
  /** By count, in the order of the kind: the index of its number, -1 if it is unknown. */
  readonly indexes: readonly number[];
}

/** About what an entity or a set of attributes takes, beside its texts. */
const OBJECT_BYTES = 200;

export type BatchBuilder = ReturnType<typeof createBatchBuilder>;

/** Creates a builder, which groups the observations that it gets by entity. */
export function createBatchBuilder() {
  const builders = mapKinds(createKindBatchBuilder);
  const listFilled = () =>
    ENTITY_KINDS.map((kind) => builders[kind]).filter(({ countEntities }) => countEntities() > 0);
  return {
    add: (observation: Observation): ObservedEntity => builders[observation.kind].add(observation),

    /** Adds an observation of an entity with the same attributes again. */
    addCounts: (entity: ObservedEntity, observedAt: number, counts: IndexedCounts): void =>
      builders[entity.kind].addCounts(entity, observedAt, counts),

    /** About how much memory the observations take. */
    countBytes: () => listFilled().reduce((sum, { countBytes }) => sum + countBytes(), 0),

    /** Builds a batch of each kind. */
    build: (): ObservationBatch[] =>
      listFilled().map(({ build, countEntities }) => build(0, countEntities())),

    /** Builds batches in parts of about a size; all observations of an entity are in one part. */
    *buildParts(maxBytes: number): Generator<ObservationBatch[]> {
      let part: ObservationBatch[] = [];
      let byteCount = 0;
      for (const builder of listFilled()) {
        const entityCount = builder.countEntities();
        for (let from = 0; from < entityCount;) {
          let to = from;
          while (to < entityCount && byteCount < maxBytes) byteCount += builder.countBytesOf(to++);
          part.push(builder.build(from, to));
          from = to;
          if (byteCount < maxBytes) continue;
          yield part;
          [part, byteCount] = [[], 0];
        }
      }
      if (part.length > 0) yield part;
    },
  };
}

/** The observations of a kind, in the order they came in. */
function createKindBatchBuilder(kind: EntityKind) {
  const { counts: countNames } = ENTITY_FIELDS[kind];
  const observationBytes = Float64Array.BYTES_PER_ELEMENT * (2 + countNames.length);
  const entities = createEntityList();
  const entityIndexes = createColumn(Uint32Array);
  const instants = createColumn(Float64Array);
  const counts = createColumn(Float64Array);
  const attributeIndexes = createColumn(Uint32Array);
  /** Computed for the first batch after an observation was added. */
  let sorted: ReturnType<typeof sortByEntity> | undefined;

  function addPoint({ entityIndex, attributeIndex }: ObservedEntity, observedAt: number): void {
    entities.countObservation(entityIndex);
    attributeIndexes.push(attributeIndex);
    entityIndexes.push(entityIndex);
    instants.push(observedAt);
    sorted = undefined;
  }

  return {
    countEntities: () => entities.ids.length,

    countBytes: (): number => entities.countBytes() + instants.length() * observationBytes,

    countBytesOf: (entity: number): number =>
      entities.countBytesOf(entity) + (entities.sizes[entity] ?? 0) * observationBytes,

    add({ entityId, attributes, observedAt, counts: values }: Observation): ObservedEntity {
      const entityIndex = entities.add(entityId);
      const attributeIndex = entities.addAttributes(entityIndex, attributes);
      const entity = { kind, entityIndex, attributeIndex };
      addPoint(entity, observedAt);
      for (const name of countNames) counts.push(values[name] ?? Number.NaN);
      return entity;
    },

    addCounts(
      entity: ObservedEntity,
      observedAt: number,
      { numbers, indexes }: IndexedCounts,
    ): void {
      addPoint(entity, observedAt);
      for (const index of indexes) counts.push(numbers[index] ?? Number.NaN);
    },

    /** Builds a batch of the entities from an index on, up to another one. */
    build(fromEntity: number, toEntity: number): ObservationBatch {
      sorted ??= sortByEntity(entityIndexes.values(), entities.sizes);
      const { ends, order } = sorted;
      const from = ends[fromEntity - 1] ?? 0;
      return {
        kind,
        entityIds: entities.ids.slice(fromEntity, toEntity),
        ends: ends.slice(fromEntity, toEntity).map((end) => end - from),
        ...pickObservations(order.subarray(from, ends[toEntity - 1] ?? 0), {
          instants: instants.values(),
          counts: counts.values(),
          attributeIndexes: attributeIndexes.values(),
          attributeSets: entities.attributeSets,
        }),
      };
    },
  };
}

/** Keeps attributes once if consecutive observations of an entity give the same. */
function createEntityList() {
  const indexById = new Map<string, number>();
  const attributeSets: AttributeValues[] = [];
  let byteCount = 0;
  // By entity.
  const ids: string[] = [];
  const sizes: number[] = [];
  const byteCounts: number[] = [];
  const lastAttributeIndexes: number[] = [];

  function countMemory(entity: number, bytes: number): void {
    byteCount += bytes;
    byteCounts[entity] = (byteCounts[entity] ?? 0) + bytes;
  }

  return {
    ids,
    /** How many observations of each entity were added. */
    sizes,
    attributeSets,
    countBytes: () => byteCount,
    countBytesOf: (entity: number) => byteCounts[entity] ?? 0,

    countObservation: (entity: number) => void (sizes[entity] = (sizes[entity] ?? 0) + 1),

    /** Returns the index of the entity. */
    add(id: string): number {
      let entity = indexById.get(id);
      if (entity === undefined) {
        entity = ids.push(id) - 1;
        indexById.set(id, entity);
        countMemory(entity, OBJECT_BYTES);
      }
      return entity;
    },

    /** Returns the index in `attributeSets`. */
    addAttributes(entity: number, attributes: AttributeValues): number {
      const lastIndex = lastAttributeIndexes[entity];
      if (lastIndex !== undefined && hasSameAttributes(attributeSets[lastIndex] ?? {}, attributes))
        return lastIndex;
      const texts = Object.values(attributes).filter((value) => typeof value === "string");
      countMemory(
        entity,
        texts.reduce((sum, { length }) => sum + length, OBJECT_BYTES),
      );
      return (lastAttributeIndexes[entity] = attributeSets.push(attributes) - 1);
    },
  };
}

/** Sorts the indexes of observations by entity; those of one entity stay in their order. */
function sortByEntity(entityIndexes: Uint32Array, sizes: readonly number[]) {
  const ends = Uint32Array.from(sizes);
  for (let entity = 1; entity < ends.length; entity++) {
    ends[entity] = (ends[entity] ?? 0) + (ends[entity - 1] ?? 0);
  }
  const nextIndexes = ends.map((end, entity) => end - (sizes[entity] ?? 0));
  const order = new Uint32Array(entityIndexes.length);
  for (let index = 0; index < order.length; index++) {
    const entity = entityIndexes[index] ?? 0;
    const to = nextIndexes[entity] ?? 0;
    nextIndexes[entity] = to + 1;
    order[to] = index;
  }
  return { ends, order };
}

type ObservationColumns = Pick<
  ObservationBatch,
  "instants" | "counts" | "attributeIndexes" | "attributeSets"
>;

/** Copies some observations, with the attributes that they have. */
function pickObservations(indexes: Uint32Array, all: ObservationColumns): ObservationColumns {
  const width = all.counts.length / all.instants.length;
  const size = indexes.length;
  const instants = new Float64Array(size);
  const counts = new Float64Array(size * width);
  const attributeIndexes = new Uint32Array(size);
  const attributeSets: AttributeValues[] = [];
  let lastAttributeIndex: number | undefined;
  for (let to = 0; to < size; to++) {
    const index = indexes[to] ?? 0;
    const attributeIndex = all.attributeIndexes[index] ?? 0;
    if (attributeIndex !== lastAttributeIndex) {
      attributeSets.push(all.attributeSets[attributeIndex] ?? {});
      lastAttributeIndex = attributeIndex;
    }
    attributeIndexes[to] = attributeSets.length - 1;
    instants[to] = all.instants[index] ?? 0;
    for (let nth = 0; nth < width; nth++) {
      counts[to * width + nth] = all.counts[index * width + nth] ?? Number.NaN;
    }
  }
  return { instants, counts, attributeIndexes, attributeSets };
}

const COLUMN_MIN_LENGTH = 64;

/** Creates a list of numbers in a typed array, which takes half of the memory of an array. */
function createColumn<Column extends Float64Array | Uint32Array>(
  Type: new (buffer: ArrayBuffer, offset?: number, length?: number) => Column,
) {
  let length = 0;
  let buffer = new ArrayBuffer(COLUMN_MIN_LENGTH * Float64Array.BYTES_PER_ELEMENT);
  let column = new Type(buffer);
  return {
    length: () => length,
    push(value: number): void {
      if (length === column.length) {
        buffer = buffer.transfer(2 * buffer.byteLength);
        column = new Type(buffer);
      }
      column[length++] = value;
    },
    values: () => new Type(buffer, 0, length),
  };
}

function hasSameAttributes(a: AttributeValues, b: AttributeValues): boolean {
  for (const name in a) if (a[name] !== b[name]) return false;
  for (const name in b) if (!(name in a)) return false;
  return true;
}
