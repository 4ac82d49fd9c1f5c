/**
 * Observations: parses them, and merges them into entities.
 *
 * @module @creator-metrics/core/observations
 */
export type { ErrorCode } from "../error-statuses.ts";
export { DomainError } from "../errors.ts";
export { applyObservation, EMPTY_ENTITY, findNewestCounts, mergeAttributes } from "../entities.ts";
export { mergeCounts, mergeObservations } from "../entities.ts";
export type { Attribute, Attributes, Entity, MergeableObservation } from "../entities.ts";
export type { ObservationOutcome } from "../entities.ts";
export { ENTITY_FIELDS, ENTITY_KINDS } from "../entity-kinds.ts";
export type { EntityFields, EntityKind, FieldType } from "../entity-kinds.ts";
export { listRoundedNumbers } from "../json-numbers.ts";
export { createRejectionCollector } from "../rejections.ts";
export type { RejectionCollector } from "../rejections.ts";
export { parseObservation, parseObservationLine } from "../observations.ts";
export type { Counts, FieldValue, Observation } from "../observations.ts";
