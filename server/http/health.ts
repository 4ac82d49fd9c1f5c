/** What a machine asks of the service: whether it lives, whether it can serve, its numbers. */
import { Elysia } from "elysia";
import { Registry, collectDefaultMetrics, Counter, Histogram } from "prom-client";
import { DomainError } from "../../core/errors.ts";
import { HEALTH_OPERATIONS } from "./operations/health.ts";

/** What the service counts of itself, as Prometheus reads it. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "http_requests_total",
    help: "Answered requests by route, method and status",
    labelNames: ["route", "method", "status"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request to its answer, by route",
    labelNames: ["route"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  });
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    count(route: string, method: string, status: number, ms: number): void {
      requests.inc({ route, method, status });
      seconds.observe({ route }, ms / 1000);
    },
  };
}

/** The numbers of the service. */
export type Metrics = ReturnType<typeof createMetrics>;

/** The routes of health and numbers; they need no key. */
export function health(metrics: Metrics, check: () => Promise<void>) {
  return new Elysia({ name: "health" })
    .get("/livez", () => ({ status: "ok" }), { detail: HEALTH_OPERATIONS.live })
    .get(
      "/readyz",
      async () => {
        try {
          await check();
        } catch (cause) {
          const error = new DomainError("Service Unavailable", "The database does not answer");
          throw Object.assign(error, { cause });
        }
        return { status: "ok" };
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
