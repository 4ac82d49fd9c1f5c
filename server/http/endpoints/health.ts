/** The endpoints of health checks and metrics: `/livez`, `/readyz` and `/metrics`. */
import { Type, type Static } from "@sinclair/typebox";
import pTimeout from "p-timeout";
import { DomainError } from "../../../core/errors.ts";
import { nullable, strictObject, TextOrNull } from "../../../core/resources/fields.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { SourceStatus } from "../../collectors/source-health.ts";
import { resource, SourceReadiness } from "../admin/resources.ts";
import { describeError } from "../../system-errors.ts";
import { formatErrorResponse } from "../errors.ts";
import { defineFree, type EndpointSources, type FreeEndpoint } from "./endpoint.ts";

/** Load balancers rarely wait longer than 1 s for a health check. */
const READY_TIMEOUT_MS = 800;

const ReplicaReadiness = strictObject({
  status: Type.Union([Type.Literal("ok"), Type.Literal("away")], {
    description: "`away`: it fails or is far behind, and the database serves all reads",
  }),
  reason: TextOrNull,
});

/** The service is ready even if a source fails or is stopped, or its replica is away. */
const Readiness = resource("Readiness", {
  status: Type.Literal("ok"),
  sources: Type.Array(SourceReadiness, {
    description:
      "The sources that the service collects from. A stop without `until` lasts until the " +
      "settings change",
  }),
  replica: nullable(ReplicaReadiness, { description: "`null` without `DATABASE_REPLICA`" }),
});

async function readReadiness({ check, checkReplica, metrics }: EndpointSources) {
  try {
    const reading = check().then(() => metrics.refreshSources());
    // Its own time is shorter.
    const [sources, replica = null] = await Promise.all([
      pTimeout(reading, { milliseconds: READY_TIMEOUT_MS }),
      checkReplica?.().then(toReplicaReadiness),
    ]);
    return { status: "ok" as const, sources: sources.map(toSourceReadiness), replica };
  } catch (cause) {
    const message =
      cause instanceof DomainError
        ? cause.message
        : "The database does not answer or cannot be written";
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
      "service stops, and once a newer version has made the tables of a libSQL server. A source of " +
      "observations that fails or is stopped is listed with the reason and the start, and so is a " +
      "replica that is away; they do not make the service unready.",
    result: { schema: Readiness, description: "It is ready" },
    createHandler: (sources) => () =>
      sources.isStopping() ? createStoppingResponse() : readReadiness(sources),
  }),
  defineFree({
    id: "metrics",
    operation: "GET /metrics",
    part: "Operation",
    summary: "Metrics of the service",
    description:
      "In Prometheus' text format, from memory: also while the database is away. Some services " +
      "show them to holders of a bearer token only.",
    errors: {
      "Missing API Key": "Send METRICS_TOKEN or an administrator's token as a bearer token",
      "Invalid API Key": "The bearer token is neither METRICS_TOKEN nor an administrator's",
      "Too Many Requests":
        "There were too many wrong tokens from your address; the next try is in 12 s",
    },
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

const toReplicaReadiness = (failure: unknown) =>
  failure === undefined
    ? { status: "ok" as const, reason: null }
    : { status: "away" as const, reason: describeError(failure) };

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
