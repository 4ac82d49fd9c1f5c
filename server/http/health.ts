/** What a machine asks of the service: whether it lives, whether it can serve, its numbers. */
import { Elysia } from "elysia";
import pTimeout from "p-timeout";
import { Gauge, Registry, collectDefaultMetrics } from "prom-client";
import { DomainError } from "../../core/errors.ts";
import type { Health, Readiness, SourceReadiness } from "../../core/schema/health.ts";
import { formatInstantOrNull } from "../../core/time.ts";
import { formatErrorResponse } from "./errors.ts";
import { createRequestMetrics } from "./metrics/request-metrics.ts";
import type { SourceStatus } from "../ports/collection.ts";
import { registerSourceMetrics, createSourceSnapshot } from "./metrics/source-metrics.ts";

/** What Node tells of itself and Bun does not, or not rightly. */
const UNSUPPORTED_METRICS = /^(?:process_heap_bytes$|nodejs_(?:active_|gc_|heap_space_|version_))/;

/** How long `/readyz` waits for the database; a check of health rarely waits for more than 1 s. */
const READY_TIMEOUT_MS = 800;

/** What the numbers are made of. */
export interface MetricsOptions {
  /** How the sources of observations are. */
  readSources(): Promise<SourceStatus[]>;
  /** Why nothing is sent to the database; `undefined` while it is. */
  getOutage(): Error | undefined;
  /** The clock, in milliseconds. */
  now(): number;
}

/** What the service counts of itself, as Prometheus reads it; always answered from memory. */
export function createMetrics({ readSources, getOutage, now }: MetricsOptions) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (UNSUPPORTED_METRICS.test(name)) registry.removeSingleMetric(name);
  }
  const snapshot = createSourceSnapshot(readSources, now);
  registerSourceMetrics(registry, snapshot);
  const databaseAwayGauge: Gauge = new Gauge({
    name: "database_away",
    help: "1 while a libSQL server does not answer and nothing but probes is sent to it, else 0",
    registers: [registry],
    collect: () => databaseAwayGauge.set(getOutage() === undefined ? 0 : 1),
  });
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    recordRequest: createRequestMetrics(registry),
    /** How the sources are now; the numbers tell it from then on. */
    sources: snapshot.refresh,
    close: snapshot.close,
  };
}

/** The numbers of the service. */
export type Metrics = ReturnType<typeof createMetrics>;

/** What tells of the health of the service. */
export interface HealthOptions {
  readonly metrics: Metrics;
  /** Throws while the service cannot serve. */
  check(): Promise<void>;
}

/**
 * The routes of health and numbers; they need no key.
 *
 * @param isStopping Whether the service stops, so that no new clients may come.
 */
export function createHealthRoutes({ metrics, check }: HealthOptions, isStopping: () => boolean) {
  const ready = async (): Promise<Readiness> => {
    await check();
    return { status: "ok", sources: (await metrics.sources()).map(toSourceReadiness) };
  };
  return new Elysia({ name: "health" })
    .get("/livez", (): Health => ({ status: "ok" }), { detail: { operationId: "live" } })
    .get(
      "/readyz",
      async (): Promise<Readiness | Response> => {
        if (isStopping()) return createStoppingResponse();
        try {
          return await pTimeout(ready(), { milliseconds: READY_TIMEOUT_MS });
        } catch (cause) {
          const message = "The database does not answer or cannot be written";
          throw new DomainError("Service Unavailable", message, { cause });
        }
      },
      { detail: { operationId: "ready" } },
    )
    .get(
      "/metrics",
      async ({ set }) => {
        set.headers["content-type"] = metrics.contentType;
        return metrics.text();
      },
      { detail: { operationId: "metrics" } },
    );
}

/** It is no failure, so it is not thrown, which would log it. */
function createStoppingResponse(): Response {
  const error = new DomainError("Service Unavailable", "The service is stopping");
  const { status, headers, body } = formatErrorResponse(error, "/readyz");
  return new Response(body, { status, headers });
}

function toSourceReadiness({ source, stopped, failing }: SourceStatus): SourceReadiness {
  const problem = stopped ?? failing;
  const status = stopped !== undefined ? "stopped" : failing !== undefined ? "failing" : "ok";
  return {
    source,
    status,
    reason: problem?.reason ?? null,
    since: formatInstantOrNull(problem?.since ?? null),
    until: formatInstantOrNull(stopped?.until ?? null),
  };
}
