/** The endpoint of the status: the database, its contents and the sources. */
import { formatInstantOrNull } from "../../../core/time.ts";
import type { SourceStatus } from "../../collectors/source-health.ts";
import { toSourceReadiness } from "../endpoints/health.ts";
import { defineAdmin, type AdminOptions } from "./endpoint.ts";
import { RESOURCES } from "./resources.ts";

type Reading = Awaited<ReturnType<AdminOptions["readStatus"]>>;

export const ADMIN_STATUS_ENDPOINTS = [
  defineAdmin({
    id: "adminGetStatus",
    operation: "GET /admin/status",
    summary: "The status",
    description:
      "The database, what is stored in it, credits, and the sources with their quotas, work and last " +
      "failures.",
    result: { schema: RESOURCES.ServiceStatus, description: "The status" },
    handle: async ({ readStatus }) => toStatusResource(await readStatus()),
  }),
] as const;

function toStatusResource({ database, totals, sources }: Reading) {
  const { kinds, accounts, keys, validKeys, creators, channels, ...credits } = totals;
  return {
    database,
    kinds: kinds.map(({ kind, entities, observations, isEstimated, newest }) => ({
      kind,
      entities,
      observations,
      is_estimated: isEstimated,
      newest: formatInstantOrNull(newest),
    })),
    accounts,
    keys: { valid: validKeys, total: keys },
    credits,
    creators,
    channels,
    sources: sources.map(toSourceResource),
  };
}

/** Describes how a source is doing, and its work: since the start, or of a collection. */
export function toSourceResource(status: SourceStatus) {
  const { lastFailure, work, buckets } = status;
  return {
    ...toSourceReadiness(status),
    last_failure: formatInstantOrNull(lastFailure?.at ?? null),
    last_failure_reason: lastFailure?.reason ?? null,
    work,
    quotas: buckets.map(({ bucket, used, limit, pausedUntil }) => ({
      bucket,
      used,
      limit,
      paused_until: formatInstantOrNull(pausedUntil ?? null),
    })),
  };
}
