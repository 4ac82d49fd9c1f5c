/**
 * The administrator's interface. The command line is a client of it: in process, or through the
 * socket of the process that owns the database file; with ADMIN_TOKEN it is served under /admin
 * as well.
 */
import { Elysia, t } from "elysia";
import { DomainError } from "../../core/errors.ts";
import { KIND_NAMES } from "../../core/kinds.ts";
import { requireInstant } from "../../core/time.ts";
import type { Kind } from "../../core/kinds.ts";
import { adminAccounts, type AccountsParts } from "./admin-accounts.ts";
import { adminChannels, type ChannelsParts } from "./admin-channels.ts";
import { adminCollect, type CollectParts } from "./admin-collect.ts";
import { adminKeys, type KeysParts } from "./admin-keys.ts";
import { adminRetention, type RetentionParts } from "./admin-retention.ts";

/** What the administrator's interface does its work with; `now` is in milliseconds. */
export interface AdminParts
  extends AccountsParts, KeysParts, ChannelsParts, CollectParts, RetentionParts {
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
    .post("/observations", async ({ request }) => parts.takeIn(await request.bytes()), {
      parse: "none",
    })
    .get("/observations", ({ query }) => exportLines(parts, query), {
      query: t.Object({ kind: t.Optional(t.String()), since: t.Optional(t.String()) }),
    })
    .use(adminAccounts(parts))
    .use(adminKeys(parts))
    .use(adminChannels(parts))
    .use(adminCollect(parts))
    .use(adminRetention(parts));
}

function exportLines(
  parts: AdminParts,
  query: { readonly kind?: string; readonly since?: string },
): Response {
  const kind = KIND_NAMES.find((name) => name === query.kind);
  if (query.kind !== undefined && kind === undefined) {
    throw new DomainError(
      "Invalid Request",
      `kind must be one of ${KIND_NAMES.join(", ")}, got ${query.kind}`,
    );
  }
  const since = query.since === undefined ? undefined : requireInstant("since", query.since);
  const lines = parts.exportObservations({ kind, since })[Symbol.asyncIterator]();
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
