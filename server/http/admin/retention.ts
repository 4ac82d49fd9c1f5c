/** The administration API of retention. */
import { Elysia, t } from "elysia";
import type { RetentionReport, RetentionRun } from "../../ports/retention.ts";
import type { AdminOptions } from "./options.ts";
import { jsonBodyParser } from "./validation.ts";

/** The last line of a response. The lines before it count the observations looked at so far. */
export type RetentionResponse = ReturnType<typeof toRetentionResource>;

/** The time between two lines of progress. */
const PROGRESS_INTERVAL_MS = 500;

/** Creates the route of retention. */
export function createAdminRetentionRoutes({ applyRetention }: AdminOptions) {
  return new Elysia({ name: "admin-retention" })
    .use(jsonBodyParser)
    .post(
      "/retention",
      ({ body }) => streamProgress(applyRetention({ isDryRun: body.dry_run === true })),
      { body: t.Object({ dry_run: t.Optional(t.Boolean()) }) },
    );
}

/** Responds with lines of progress, then the report. The run stops if the client stops reading. */
function streamProgress(run: RetentionRun): Response {
  const encoder = new TextEncoder();
  const encodeLine = (line: object) => encoder.encode(`${JSON.stringify(line)}\n`);
  let walked = 0;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const deadline = performance.now() + PROGRESS_INTERVAL_MS;
      while (performance.now() < deadline) {
        const { done, value } = await run.next();
        if (done === true) {
          controller.enqueue(encodeLine(toRetentionResource(value)));
          return controller.close();
        }
        walked += value;
      }
      controller.enqueue(encodeLine({ walked }));
    },
  });
  return new Response(stream, { headers: { "content-type": "application/x-ndjson" } });
}

function toRetentionResource({ isDryRun, kinds, faults }: RetentionReport) {
  return { is_dry_run: isDryRun, kinds, faults };
}
