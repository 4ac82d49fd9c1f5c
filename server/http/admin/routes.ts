/**
 * The administrator's interface. The command line is a client of it: in process, or through the
 * socket of the process that owns the database file; with ADMIN_TOKEN it is served under /admin
 * as well.
 */
import { Elysia } from "elysia";
import { DomainError, quote } from "../../../core/errors.ts";
import { ENTITY_KINDS } from "../../../core/entity-kinds.ts";
import { readSingleValue, type GetQueryValues } from "../../../core/parameters.ts";
import { parseInstantParameter } from "../../../core/time.ts";
import type { ExportOptions, ImportObservations } from "../../ports/reads.ts";
import { createAdminAccountRoutes, type AdminAccountsOptions } from "./accounts.ts";
import { createAdminChannelRoutes, type AdminChannelsOptions } from "./channels.ts";
import { createAdminCollectRoutes, type AdminCollectOptions } from "./collect.ts";
import { createAdminKeyRoutes, type AdminKeysOptions } from "./keys.ts";
import { createAdminRefundRoutes, type AdminRefundsOptions } from "./refunds.ts";
import { createAdminRetentionRoutes, type AdminRetentionOptions } from "./retention.ts";
import { readLargeBody } from "../request-body.ts";
import { getPathAndQuery, parseQuery } from "../request-url.ts";

/** Bytes of observations that one request takes in. */
const OBSERVATIONS_MAX_BYTES = 64 * 1_048_576;

/** What the administrator's interface does its work with; `now` is in milliseconds. */
export interface AdminOptions
  extends
    AdminAccountsOptions,
    AdminKeysOptions,
    AdminChannelsOptions,
    AdminCollectOptions,
    AdminRefundsOptions,
    AdminRetentionOptions {
  readonly importObservations: ImportObservations;
  exportObservations(options: ExportOptions): AsyncIterable<Record<string, unknown>>;
}

/** The routes of the administrator's interface. */
export function createAdminRoutes(options: AdminOptions) {
  return new Elysia({ name: "admin", prefix: "/admin", detail: { hide: true } })
    .post(
      "/observations",
      async ({ request }) =>
        options.importObservations(await readLargeBody(request, OBSERVATIONS_MAX_BYTES)),
      { parse: "none" },
    )
    .get("/observations", ({ request }) =>
      streamExport(options, parseQuery(getPathAndQuery(request))),
    )
    .use(createAdminAccountRoutes(options))
    .use(createAdminKeyRoutes(options))
    .use(createAdminChannelRoutes(options))
    .use(createAdminCollectRoutes(options))
    .use(createAdminRefundRoutes(options))
    .use(createAdminRetentionRoutes(options));
}

function parseExportRequest(getQueryValues: GetQueryValues) {
  const [kindName, sinceText] = [
    readSingleValue("kind", getQueryValues("kind")),
    readSingleValue("since", getQueryValues("since")),
  ];
  const kind = ENTITY_KINDS.find((name) => name === kindName);
  if (kindName !== undefined && kind === undefined) {
    throw new DomainError(
      "Invalid Request",
      `kind must be one of ${ENTITY_KINDS.join(", ")}, got ${quote(kindName)}`,
    );
  }
  return {
    kind,
    since: sinceText === undefined ? undefined : parseInstantParameter("since", sinceText),
  };
}

function streamExport(options: AdminOptions, getQueryValues: GetQueryValues): Response {
  const observations = options.exportObservations(parseExportRequest(getQueryValues));
  const lines = observations[Symbol.asyncIterator]();
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
