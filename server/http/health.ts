/** Health checks and metrics: `/livez`, `/readyz` and `/metrics`. They need no API key. */
import { Elysia } from "elysia";
import pTimeout from "p-timeout";
import { DomainError } from "../../core/errors.ts";
import type { Health, Readiness, SourceReadiness } from "./openapi/health-schema.ts";
import { formatInstantOrNull } from "../../core/time.ts";
import type { SourceStatus } from "../collectors/source-health.ts";
import { describeRoute } from "./openapi/route-types.ts";
import { formatErrorResponse } from "./errors.ts";
import type { Metrics } from "./metrics/registry.ts";

/** Load balancers rarely wait longer than 1 s for a health check. */
const READY_TIMEOUT_MS = 800;

/** What the health checks depend on. */
export interface HealthOptions {
  readonly metrics: Metrics;
  /** Rejects if the service cannot serve. */
  check(): Promise<void>;
}

/** Creates the routes of health checks and metrics. */
export function createHealthRoutes({ metrics, check }: HealthOptions, isStopping: () => boolean) {
  const readReadiness = async (): Promise<Readiness> => {
    await check();
    return { status: "ok", sources: (await metrics.refreshSources()).map(toSourceReadiness) };
  };
  const readReadinessInTime = async (): Promise<Readiness> => {
    try {
      return await pTimeout(readReadiness(), { milliseconds: READY_TIMEOUT_MS });
    } catch (cause) {
      const message = "The database does not answer or cannot be written";
      throw new DomainError("Service Unavailable", message, { cause });
    }
  };
  return new Elysia({ name: "health" })
    .get("/livez", (): Health => ({ status: "ok" }), describeRoute("live"))
    .get(
      "/readyz",
      () => (isStopping() ? createStoppingResponse() : readReadinessInTime()),
      describeRoute("ready"),
    )
    .get(
      "/metrics",
      async ({ set }) => {
        set.headers["content-type"] = metrics.contentType;
        return metrics.text();
      },
      describeRoute("metrics"),
    );
}

/** Stopping is no failure, so this error is not thrown: that would log it. */
function createStoppingResponse(): Response {
  const error = new DomainError("Service Unavailable", "The service is stopping");
  const { body, ...init } = formatErrorResponse(error, "/readyz");
  return new Response(body, init);
}

/** Describes how a source is doing. */
export function toSourceReadiness({ source, stopped, failing }: SourceStatus): SourceReadiness {
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
