/** The endpoints of health checks and metrics: `/livez`, `/readyz` and `/metrics`. */
import { Type, type Static } from "@sinclair/typebox";
import pTimeout from "p-timeout";
import { DomainError } from "../../../core/errors.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { SourceStatus } from "../../collectors/source-health.ts";
import { resource, SourceReadiness } from "../admin/resources.ts";
import { formatErrorResponse } from "../errors.ts";
import { defineFree, type EndpointSources, type FreeEndpoint } from "./endpoint.ts";

/** Load balancers rarely wait longer than 1 s for a health check. */
const READY_TIMEOUT_MS = 800;

/** The service is ready even if a source fails or is stopped. */
const Readiness = resource("Readiness", {
  status: Type.Literal("ok"),
  sources: Type.Array(SourceReadiness, {
    description:
      "The sources that the service collects from. A stop without `until` lasts until the " +
      "settings change",
  }),
});

async function readReadiness({ check, metrics }: EndpointSources) {
  try {
    const reading = check().then(() => metrics.refreshSources());
    const sources = await pTimeout(reading, { milliseconds: READY_TIMEOUT_MS });
    return { status: "ok" as const, sources: sources.map(toSourceReadiness) };
  } catch (cause) {
    const message = "The database does not answer or cannot be written";
    throw new DomainError("Service Unavailable", message, { cause });
  }
}

export const HEALTH_ENDPOINTS: readonly FreeEndpoint[] = [
  defineFree({
    id: "live",
    operation: "GET /livez",
    part: "Operation",
    summary: "Whether the process is alive",
    description: "200 as long as the process answers at all.",
    result: { schema: resource("Health", { status: Type.String() }), description: "It is alive" },
    createHandler: () => () => ({ status: "ok" }),
  }),
  defineFree({
    id: "ready",
    operation: "GET /readyz",
    part: "Operation",
    summary: "Whether the service is ready",
    description:
      "200 if the database answers and can be written, else 503, within a second; also 503 while the " +
      "service stops. A source of observations that fails or is stopped is listed with the reason and " +
      "the start; it does not make the service unready.",
    result: { schema: Readiness, description: "It is ready" },
    createHandler: (sources) => () =>
      sources.isStopping() ? createStoppingResponse() : readReadiness(sources),
  }),
  defineFree({
    id: "metrics",
    operation: "GET /metrics",
    part: "Operation",
    summary: "Metrics of the service",
    description: "In Prometheus' text format, from memory: also while the database is away.",
    result: { schema: Type.String(), description: "The metrics" },
    createHandler:
      ({ metrics }) =>
      ({ headers }) => {
        headers["content-type"] = metrics.contentType;
        return metrics.text();
      },
  }),
];

/** Stopping is no failure, so this error is not thrown: throwing would log it. */
function createStoppingResponse(): Response {
  const error = new DomainError("Service Unavailable", "The service is stopping");
  const { body, ...init } = formatErrorResponse(error, "/readyz");
  return new Response(body, init);
}

export function toSourceReadiness({ source, stopped, failing }: SourceStatus) {
  const problem = stopped ?? failing;
  const status: Static<typeof SourceReadiness>["status"] =
    stopped !== undefined ? "stopped" : failing !== undefined ? "failing" : "ok";
  return {
    source,
    status,
    reason: problem?.reason ?? null,
    since: formatInstantOrNull(problem?.since ?? null),
    until: formatInstantOrNull(stopped?.until ?? null),
  };
}
