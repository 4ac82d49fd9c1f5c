/** The administrator's interface to retention. */
import { Elysia, t } from "elysia";
import { jsonBodyParser } from "./body-parser.ts";
import type { RetentionReport, RetentionRun } from "../../ports/retention.ts";

/** What retention does its work with. */
export interface AdminRetentionOptions {
  /** Applies the policy, or counts what it would remove, step by step. */
  applyRetention(options: { readonly isDryRun: boolean }): RetentionRun;
}

/** The last line of an answer. Those before it tell how many observations were walked past. */
export type RetentionResponse = ReturnType<typeof toRetentionResource>;

/** How often a line tells that the work goes on. */
const PROGRESS_INTERVAL_MS = 500;

/** The routes of retention. */
export function createAdminRetentionRoutes(options: AdminRetentionOptions) {
  return new Elysia({ name: "admin-retention" })
    .use(jsonBodyParser)
    .post(
      "/retention",
      ({ body }) => streamProgress(options.applyRetention({ isDryRun: body.dry_run === true })),
      { body: t.Object({ dry_run: t.Optional(t.Boolean()) }) },
    );
}

/** The work goes on as long as its lines are read. */
function streamProgress(steps: RetentionRun): Response {
  const encoder = new TextEncoder();
  const encode = (line: object) => encoder.encode(`${JSON.stringify(line)}\n`);
  let walked = 0;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const until = performance.now() + PROGRESS_INTERVAL_MS;
      while (performance.now() < until) {
        const { done, value } = await steps.next();
        if (done === true) {
          controller.enqueue(encode(toRetentionResource(value)));
          return controller.close();
        }
        walked += value;
      }
      controller.enqueue(encode({ walked }));
    },
  });
  return new Response(stream, { headers: { "content-type": "application/x-ndjson" } });
}

function toRetentionResource({ isDryRun, kinds, faults }: RetentionReport) {
  return { is_dry_run: isDryRun, kinds, faults };
}
