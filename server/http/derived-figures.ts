/**
 * Leaves out derived figures where the operator turned them off: DERIVED_METRICS lists the platforms
 * that have them. Derived are the metrics that the catalog says, and of responses with metrics the
 * fields `trend`, `projection`, `milestone` and `ageComparison`. Counts by age stay, and so do the
 * daily counts in the `trend` of a row of a list: a source told them.
 */
import { createInvalidRequestError } from "../../core/errors.ts";
import type { EntityKind } from "../../core/kinds.ts";
import { METRICS } from "../../core/metrics/catalog.ts";
import { ESTIMATES } from "../../core/metrics/estimate-catalog.ts";
import type { Platform } from "../collectors/collector.ts";

/** The platforms whose derived figures are given. */
export type DerivedMetrics = readonly Platform[];

const KIND_PLATFORMS: Readonly<Record<EntityKind, Platform>> = {
  channel: "video",
  short: "video",
  user: "microblog",
  tweet: "microblog",
};

/** Whether a field of a response, or a sort of a list, is a derived figure. */
export function isDerivedFigure(kind: EntityKind, name: string): boolean {
  if (name === "ageComparison") return true;
  const definitions = new Map<string, { readonly isDerived: boolean }>([
    ...Object.entries(METRICS[kind]),
    ...Object.entries(ESTIMATES),
  ]);
  return definitions.get(name)?.isDerived === true;
}

/** Replaces all derived figures by `null`, unless they are given for the platform of the kind. */
export function hideDerivedFigures<Body extends object>(
  kind: EntityKind,
  body: Body,
  derivedMetrics: DerivedMetrics,
): Body {
  if (derivedMetrics.includes(KIND_PLATFORMS[kind])) return body;
  const hidden = Object.entries(body).map(([name, value]) => {
    if (isDerivedFigure(kind, name)) return [name, null];
    return [name, name === "metrics" ? hideDerivedFigures(kind, value, []) : value];
  });
  // Each derived field of a response can be null.
  return Object.fromEntries(hidden) as Body;
}

/**
 * Refuses to sort by a derived figure that is not given: the order would tell it.
 *
 * @throws {DomainError} `Invalid Request`.
 */
export function assertSortIsGiven(
  kind: EntityKind,
  sort: string,
  derivedMetrics: DerivedMetrics,
): void {
  const platform = KIND_PLATFORMS[kind];
  if (derivedMetrics.includes(platform) || !isDerivedFigure(kind, sort)) return;
  throw createInvalidRequestError(
    `sort must be a figure that this service gives, got ${JSON.stringify(sort)}: its operator ` +
      `turned derived figures of ${platform} off (DERIVED_METRICS)`,
  );
}
