/** What a machine asks of the service: whether it lives, whether it can serve, its numbers. */
import { Elysia } from "elysia";
import { Registry, collectDefaultMetrics } from "prom-client";
import { DomainError } from "../../core/errors.ts";
import { HEALTH_OPERATIONS } from "./operations/health.ts";
import { countRequests } from "./request-metrics.ts";

/** What the service counts of itself, as Prometheus reads it. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    count: countRequests(registry),
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
