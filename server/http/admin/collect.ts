/** Collecting by hand, in the administrator's interface. */
import { Elysia } from "elysia";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { SourceStatus } from "../../ports/collection.ts";

/** Collects what is due now, whatever the pace; quotas hold. */
export interface AdminCollectOptions {
  collect(): Promise<SourceStatus[]>;
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
