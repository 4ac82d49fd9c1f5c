/** The administration API of the status: the database, what is stored in it, and the sources. */
import { Elysia } from "elysia";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { SourceStatus } from "../../collectors/source-health.ts";
import { toSourceReadiness } from "../health.ts";
import type { AdminOptions, ServiceStatus } from "./options.ts";

/** Creates the route of the status. */
export function createAdminStatusRoutes({ readStatus }: Pick<AdminOptions, "readStatus">) {
  return new Elysia({ name: "admin-status" }).get("/status", async () =>
    toStatusResource(await readStatus()),
  );
}

function toStatusResource({ database, totals, sources }: ServiceStatus) {
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
