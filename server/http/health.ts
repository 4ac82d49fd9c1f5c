/** What a machine asks of the service: whether it lives, whether it can serve, its numbers. */
import { Elysia } from "elysia";
import { Registry, collectDefaultMetrics } from "prom-client";
import { DomainError } from "../../core/errors.ts";
import type { Health, Readiness, SourceReadiness } from "../../core/schema/health.ts";
import { formatInstantOrNull } from "../../core/time.ts";
import { HEALTH_OPERATIONS } from "./operations/health.ts";
import { countRequests } from "./request-metrics.ts";
import { countSources, type SourceState } from "./source-metrics.ts";

/** What Node tells of itself and Bun does not, or not rightly. */
const OF_NODE = /^(?:process_heap_bytes$|nodejs_(?:active_|gc_|heap_space_|version_))/;

/**
 * What the service counts of itself, as Prometheus reads it.
 *
 * @param sources How the sources of observations are.
 */
export function createMetrics(sources: () => Promise<SourceState[]>) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (OF_NODE.test(name)) registry.removeSingleMetric(name);
  }
  countSources(registry, sources);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    count: countRequests(registry),
  };
}

/** The numbers of the service. */
export type Metrics = ReturnType<typeof createMetrics>;

/** What tells of the health of the service. */
export interface HealthParts {
  readonly metrics: Metrics;
  /** Throws while the service cannot serve. */
  check(): Promise<void>;
  /** How the sources of observations are. */
  sources(): Promise<SourceState[]>;
}

/** The routes of health and numbers; they need no key. */
export function health({ metrics, check, sources }: HealthParts) {
  return new Elysia({ name: "health" })
    .get("/livez", (): Health => ({ status: "ok" }), { detail: HEALTH_OPERATIONS.live })
    .get(
      "/readyz",
      async (): Promise<Readiness> => {
        try {
          await check();
          return { status: "ok", sources: (await sources()).map(sourceReadiness) };
        } catch (cause) {
          const message = "The database does not answer or cannot be written";
          throw new DomainError("Service Unavailable", message, { cause });
        }
      },
      { detail: HEALTH_OPERATIONS.ready },
    )
    .get(
      "/metrics",
      async ({ set }) => {
        set.headers["content-type"] = metrics.contentType;
        return metrics.text();
      },
      { detail: HEALTH_OPERATIONS.metrics },
    );
}

function sourceReadiness({ source, stopped, failing }: SourceState): SourceReadiness {
  const trouble = stopped ?? failing;
  const status = stopped !== undefined ? "stopped" : failing !== undefined ? "failing" : "ok";
  return {
    source,
    status,
    reason: trouble?.reason ?? null,
    since: formatInstantOrNull(trouble?.since ?? null),
    until: formatInstantOrNull(stopped?.until ?? null),
  };
}
