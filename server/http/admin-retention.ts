/** The administrator's interface to retention. */
import { Elysia, t } from "elysia";

/** What applying the policy did to a kind. */
interface KindRetention {
  readonly kind: string;
  readonly rule: string;
  readonly entities: number;
  readonly before: number;
  readonly removed: number;
  readonly after: number;
  readonly stateBefore: string | null;
  readonly stateAfter: string | null;
}

/** What retention does its work with. */
export interface RetentionParts {
  /**
   * Applies the policy with proof, or counts what it would remove: step by step as it is asked,
   * each step giving how many observations it was about.
   */
  applyRetention(mode: "prove" | "count"): AsyncGenerator<
    number,
    {
      readonly kinds: readonly KindRetention[];
      readonly isWholeCompared: boolean;
      readonly faults: readonly { readonly kind: string; readonly problem: string }[];
    }
  >;
}

/** The last line of the answer; those before it tell how many observations were walked past. */
export interface RetentionAnswer {
  readonly dry_run: boolean;
  readonly kinds: readonly {
    readonly kind: string;
    readonly rule: string;
    readonly entities: number;
    readonly before: number;
    readonly removed: number;
    readonly after: number;
    readonly state_before: string | null;
    readonly state_after: string | null;
  }[];
  readonly is_whole_compared: boolean;
  readonly faults: readonly { readonly kind: string; readonly problem: string }[];
}

/** How often a line tells that the work goes on. */
const LINE_EVERY_MS = 500;

/** The routes of retention. */
export function adminRetention(parts: RetentionParts) {
  return new Elysia({ name: "admin-retention" }).post(
    "/retention",
    ({ body }) => {
      const isDryRun = body.dry_run === true;
      return retentionLines(parts.applyRetention(isDryRun ? "count" : "prove"), isDryRun);
    },
    { body: t.Object({ dry_run: t.Optional(t.Boolean()) }) },
  );
}

/** The work goes on as long as its lines are read. */
function retentionLines(
  steps: ReturnType<RetentionParts["applyRetention"]>,
  isDryRun: boolean,
): Response {
  const encoder = new TextEncoder();
  let walked = 0;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const enqueue = (line: object) =>
        controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      const until = performance.now() + LINE_EVERY_MS;
      while (performance.now() < until) {
        const { done, value } = await steps.next();
        if (done === true) {
          enqueue(answerOf(value, isDryRun));
          return controller.close();
        }
        walked += value;
      }
      enqueue({ walked });
    },
  });
  return new Response(stream, { headers: { "content-type": "application/x-ndjson" } });
}

function answerOf(
  report: Awaited<ReturnType<ReturnType<RetentionParts["applyRetention"]>["return"]>>["value"],
  isDryRun: boolean,
): RetentionAnswer {
  throw new Error(String(report) + isDryRun);
}
