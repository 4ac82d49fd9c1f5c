/** Collecting by hand, in the administrator's interface. */
import { Elysia } from "elysia";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { SourceStatus } from "../metrics/source-metrics.ts";

/** What was done for a source, and how it is. */
type CollectedSource = Pick<SourceStatus, "source" | "stopped" | "failing" | "work">;

/** Collects what is due now, whatever the pace; quotas hold. */
export interface AdminCollectOptions {
  collect(): Promise<CollectedSource[]>;
}

/** The routes of collecting. */
export function createAdminCollectRoutes({ collect }: AdminCollectOptions) {
  return new Elysia({ name: "admin-collect" }).post("/collect", async () =>
    (await collect()).map(({ source, stopped, failing, work }) => {
      const { requests, observed, failed, observations } = work;
      return {
        source,
        requests,
        observed,
        failed,
        observations,
        stopped: stopped?.reason ?? null,
        stopped_until: formatInstantOrNull(stopped?.until ?? null),
        failing: failing?.reason ?? null,
        failing_since: formatInstantOrNull(failing?.since ?? null),
      };
    }),
  );
}
