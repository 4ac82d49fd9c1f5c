/**
 * The administrator's interface. The command line is a client of it: in process, or through the
 * socket of the process that owns the database file; with ADMIN_TOKEN it is served under /admin
 * as well.
 */
import { Elysia, t } from "elysia";
import { DomainError } from "../../core/errors.ts";
import { KIND_NAMES } from "../../core/kinds.ts";
import { MAX_WHOLE } from "../../core/limits.ts";
import { isIdentifier } from "../../core/text.ts";
import { formatInstant, requireInstant } from "../../core/time.ts";
import type { Kind } from "../../core/kinds.ts";
import { adminChannels, type ChannelsParts } from "./admin-channels.ts";
import { adminCollect, type CollectParts } from "./admin-collect.ts";
import { adminRetention, type RetentionParts } from "./admin-retention.ts";

/** An account as the store has it; instants are in milliseconds. */
interface StoredAccount {
  readonly id: number;
  readonly name: string;
  readonly createdAt: number;
  readonly granted: number;
  readonly debited: number;
  readonly refunded: number;
  readonly balance: number;
}

/** What the administrator's interface does its work with; `now` is in milliseconds. */
export interface AdminParts extends ChannelsParts, CollectParts, RetentionParts {
  now(): number;
  takeIn(bytes: Uint8Array): Promise<{
    read: number;
    new: number;
    changed: number;
    unchanged: number;
    rejected: { line: number; reason: string }[];
  }>;
  exportObservations(options: {
    kind?: Kind | undefined;
    since?: number | undefined;
  }): AsyncIterable<Record<string, unknown>>;
  readonly ledger: {
    createAccount(name: string, now: number): Promise<StoredAccount>;
    accounts(): Promise<StoredAccount[]>;
    account(name: string): Promise<StoredAccount>;
    grant(
      grant: {
        uid: string;
        account: string;
        amount: number;
        reference?: string | undefined;
        reason?: string | undefined;
      },
      now: number,
    ): Promise<{ isNew: boolean; balance: number }>;
    statement(
      account: string,
      after: number,
      limit: number,
    ): Promise<
      {
        entry: number;
        at: number;
        kind: string;
        amount: number;
        balance: number;
        reference: string | null;
        reason: string | null;
        debit: string | null;
      }[]
    >;
  };
  verify(): Promise<{
    accounts: number;
    entries: number;
    faults: readonly { account: string; problem: string }[];
  }>;
  readonly keys: {
    create(account: string, label: string | null): Promise<{ id: number; key: string }>;
    list(account: string): Promise<
      {
        id: number;
        beginsWith: string;
        label: string | null;
        createdAt: number;
        revokedAt: number | null;
      }[]
    >;
    revoke(id: number): Promise<{ id: number; revokedAt: number }>;
  };
}

const Amount = t.Integer({ minimum: 1, maximum: MAX_WHOLE });
const Text = t.String({ minLength: 1, maxLength: 256 });

/** Entries of a statement that one answer holds. */
const STATEMENT_MAX_ENTRIES = 1000;

/** The type of the interface, for its typed clients. */
export type AdminApp = ReturnType<typeof admin>;

/** The routes of the administrator's interface. */
export function admin(parts: AdminParts) {
  const { now, ledger, keys } = parts;
  return new Elysia({ name: "admin", prefix: "/admin", detail: { hide: true } })
    .post("/observations", async ({ request }) => parts.takeIn(await request.bytes()), {
      parse: "none",
    })
    .get("/observations", ({ query }) => exportLines(parts, query), {
      query: t.Object({ kind: t.Optional(t.String()), since: t.Optional(t.String()) }),
    })
    .get("/accounts", async () => (await ledger.accounts()).map(accountResource))
    .post(
      "/accounts",
      async ({ body, set }) => {
        checkName("name", body.name);
        await ledger.createAccount(body.name, now());
        if (body.credits !== undefined) {
          const grant = { uid: Bun.randomUUIDv7(), account: body.name, amount: body.credits };
          await ledger.grant(grant, now());
        }
        set.status = 201;
        return accountResource(await ledger.account(body.name));
      },
      { body: t.Object({ name: Text, credits: t.Optional(Amount) }) },
    )
    .get(
      "/keys",
      async ({ query }) => {
        await ledger.account(query.account);
        return (await keys.list(query.account)).map(keyResource);
      },
      { query: t.Object({ account: Text }) },
    )
    .post(
      "/keys",
      async ({ body, set }) => {
        if (body.label !== undefined) checkName("label", body.label);
        const created = await keys.create(body.account, body.label ?? null);
        set.status = 201;
        return created;
      },
      { body: t.Object({ account: Text, label: t.Optional(Text) }) },
    )
    .delete(
      "/keys",
      async ({ body }) => {
        const { id, revokedAt } = await keys.revoke(body.id);
        return { id, revoked_at: formatInstant(revokedAt) };
      },
      { body: t.Object({ id: t.Integer({ minimum: 1 }) }) },
    )
    .post(
      "/grants",
      async ({ body }) => {
        if (body.reference !== undefined) checkName("reference", body.reference);
        if (body.reason !== undefined) checkName("reason", body.reason);
        const { isNew, balance } = await ledger.grant({ uid: Bun.randomUUIDv7(), ...body }, now());
        return { account: body.account, is_new: isNew, balance };
      },
      {
        body: t.Object({
          account: Text,
          amount: Amount,
          reference: t.Optional(Text),
          reason: t.Optional(Text),
        }),
      },
    )
    .get(
      "/statement",
      async ({ query }) => {
        const rows = await ledger.statement(query.account, query.after, STATEMENT_MAX_ENTRIES);
        return {
          entries: rows.map(({ at, ...entry }) => Object.assign(entry, { at: formatInstant(at) })),
          has_more: rows.length === STATEMENT_MAX_ENTRIES,
        };
      },
      { query: t.Object({ account: Text, after: t.Integer({ minimum: 0, default: 0 }) }) },
    )
    .get("/verification", () => parts.verify())
    .use(adminChannels(parts))
    .use(adminCollect(parts))
    .use(adminRetention(parts));
}

function checkName(field: string, value: string): void {
  if (isIdentifier(value)) return;
  throw new DomainError(
    "Invalid Request",
    `${field} must be 1 to 256 characters without control characters`,
  );
}

function accountResource({ name, createdAt, granted, debited, refunded, balance }: StoredAccount) {
  return { name, balance, granted, debited, refunded, created_at: formatInstant(createdAt) };
}

function keyResource(key: {
  id: number;
  beginsWith: string;
  label: string | null;
  createdAt: number;
  revokedAt: number | null;
}) {
  return {
    id: key.id,
    begins_with: key.beginsWith,
    label: key.label,
    created_at: formatInstant(key.createdAt),
    revoked_at: key.revokedAt === null ? null : formatInstant(key.revokedAt),
  };
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
