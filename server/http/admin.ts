/**
 * The administrator's interface. The command line is a client of it: in process, or through the
 * socket of the process that owns the database file; with ADMIN_TOKEN it is served under /admin
 * as well.
 */
import { Elysia } from "elysia";
import { DomainError, quote } from "../../core/errors.ts";
import { KIND_NAMES, type Kind } from "../../core/kinds.ts";
import { readOnce, type ValuesOf } from "../../core/parameters.ts";
import { requireInstant } from "../../core/time.ts";
import { adminAccounts, type AccountsParts } from "./admin-accounts.ts";
import { adminChannels, type ChannelsParts } from "./admin-channels.ts";
import { adminCollect, type CollectParts } from "./admin-collect.ts";
import { adminKeys, type KeysParts } from "./admin-keys.ts";
import { adminRefunds, type RefundsParts } from "./admin-refunds.ts";
import { adminRetention, type RetentionParts } from "./admin-retention.ts";
import { readLongBody } from "./body.ts";
import { targetOf, valuesIn } from "./target.ts";

/** Bytes of observations that one request takes in. */
const OBSERVATIONS_MAX_BYTES = 64 * 1_048_576;

/** What the administrator's interface does its work with; `now` is in milliseconds. */
export interface AdminParts
  extends AccountsParts, KeysParts, ChannelsParts, CollectParts, RefundsParts, RetentionParts {
  /** Stores lines of observations; it may take their bytes over. */
  takeIn(bytes: Uint8Array): Promise<{
    read: number;
    new: number;
    changed: number;
    unchanged: number;
    rejected: readonly { readonly line: number; readonly reason: string }[];
  }>;
  exportObservations(options: {
    kind?: Kind | undefined;
    since?: number | undefined;
  }): AsyncIterable<Record<string, unknown>>;
}

/** The routes of the administrator's interface. */
export function admin(parts: AdminParts) {
  return new Elysia({ name: "admin", prefix: "/admin", detail: { hide: true } })
    .post(
      "/observations",
      async ({ request }) => parts.takeIn(await readLongBody(request, OBSERVATIONS_MAX_BYTES)),
      { parse: "none" },
    )
    .get("/observations", ({ request }) => exportLines(parts, valuesIn(targetOf(request))))
    .use(adminAccounts(parts))
    .use(adminKeys(parts))
    .use(adminChannels(parts))
    .use(adminCollect(parts))
    .use(adminRefunds(parts))
    .use(adminRetention(parts));
}

function readExport(valuesOf: ValuesOf) {
  const [given, from] = [readOnce("kind", valuesOf("kind")), readOnce("since", valuesOf("since"))];
  const kind = KIND_NAMES.find((name) => name === given);
  if (given !== undefined && kind === undefined) {
    throw new DomainError(
      "Invalid Request",
      `kind must be one of ${KIND_NAMES.join(", ")}, got ${quote(given)}`,
    );
  }
  return { kind, since: from === undefined ? undefined : requireInstant("since", from) };
}

function exportLines(parts: AdminParts, valuesOf: ValuesOf): Response {
  const lines = parts.exportObservations(readExport(valuesOf))[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk: string[] = [];
      while (chunk.length < 500) {
        const { done, value } = await lines.next();
        if (done) break;
        chunk.push(`${JSON.stringify(value)}\n`);
      }
      if (chunk.length > 0) controller.enqueue(encoder.encode(chunk.join("")));
      else controller.close();
    },
  });
  return new Response(stream, { headers: { "content-type": "application/x-ndjson" } });
}
