/** Health and numbers as the reference describes them. */
import { describeOperation } from "./operation.ts";

const common = { tag: "Operation", isPublic: true } as const;

/** The operations of health and numbers. */
export const HEALTH_OPERATIONS = {
  live: describeOperation({
    ...common,
    id: "live",
    path: "/livez",
    summary: "Whether the process lives",
    description: "200 as long as it answers at all. Needs no key.",
    success: { status: 200, description: "It lives", schema: "Health", example: { status: "ok" } },
  }),
  ready: describeOperation({
    ...common,
    id: "ready",
    path: "/readyz",
    summary: "Whether it can serve",
    description:
      "200 once the database answers and can be written, 503 while not, within a second, and while " +
      "the service stops. A source of observations that fails or is stopped is listed with the " +
      "reason and since when; the service serves all the same. Needs no key.",
    success: {
      status: 200,
      description: "It can serve",
      schema: "Readiness",
      example: {
        status: "ok",
        sources: [
          {
            source: "youtube",
            status: "stopped",
            reason: "The day's quota is spent",
            since: "2026-11-20T21:40:12.345Z",
            until: "2026-11-21T08:00:00.000Z",
          },
          {
            source: "bluesky",
            status: "failing",
            reason: "Bluesky could not be reached, or broke off: ENOTFOUND; it was tried 4 times",
            since: "2026-11-20T22:05:00.000Z",
            until: null,
          },
        ],
      },
    },
  }),
  metrics: describeOperation({
    ...common,
    id: "metrics",
    path: "/metrics",
    summary: "Numbers of the service",
    description:
      "In Prometheus' text format, from memory: it is answered while the database is away, too. " +
      "Needs no key.",
    success: {
      status: 200,
      description: "The numbers",
      schema: "text",
      example: 'http_requests_total{route="/livez",method="GET",status="200"} 1\n',
    },
  }),
};
