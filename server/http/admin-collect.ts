/** Collecting by hand, in the administrator's interface. */
import { Elysia } from "elysia";
import { formatInstant } from "../../core/time.ts";
import type { SourceState } from "./source-metrics.ts";

/** What was done for a source, and how it is. */
export interface CollectedSource extends Pick<SourceState, "source" | "stopped"> {
  readonly work: SourceState["work"];
}

/** Collects what is due now, whatever the pace; quotas hold. */
export interface CollectParts {
  collect(): Promise<CollectedSource[]>;
}

/** The routes of collecting. */
export function adminCollect({ collect }: CollectParts) {
  return new Elysia({ name: "admin-collect" }).post("/collect", async () =>
    (await collect()).map(({ source, stopped, work }) => {
      const { requests, observed, failed, observations } = work;
      const until = stopped?.until ?? null;
      return {
        source,
        requests,
        observed,
        failed,
        observations,
        stopped: stopped?.reason ?? null,
        stopped_until: until === null ? null : formatInstant(until),
      };
    }),
  );
}
