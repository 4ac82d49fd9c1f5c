/** Records the changes by administrators, and lists them. Reads are not recorded. */
import { Type } from "@sinclair/typebox";
import { IDENTIFIER_MAX_CHARACTERS, INTEGER_MAX } from "../../../core/limits.ts";
import { parseIntegerParameter } from "../../../core/parameters.ts";
import { countRejected } from "../../../core/rejections.ts";
import type { RejectionReport } from "../../../core/stores.ts";
import { HOUR_MS } from "../../../core/time.ts";
import { AUDIT_ACTIONS } from "../../stored-names.ts";
import type { AuditDetails } from "../../store/tables/administration-tables.ts";
import type { RetentionRun } from "../../store/history/retention.ts";
import { createChoiceParameter } from "../endpoints/parameters.ts";
import { toClientError } from "../errors.ts";
import { getAdminCaller } from "./authentication.ts";
import { defineAdmin, type AdminOptions, type Change } from "./endpoint.ts";
import {
  createPageParameters,
  parseChoiceFilter,
  parseNameFilter,
  readPage,
} from "./validation.ts";
import { toResource } from "./rows.ts";
import { RESOURCES } from "./resources.ts";

const DONE = "done";

/** The outcome of a change whose client left before its end. */
const STOPPED = "stopped";

type AuditOptions = Pick<AdminOptions, "now" | "audit">;

/**
 * Makes a change, with an entry in the audit. The entry is stored before the change. If that fails, so
 * does the request, and nothing changes. If the outcome cannot be stored, the entry stays without one.
 */
export async function recordChange<Result>(
  options: AuditOptions,
  request: Request,
  change: Change,
  make: () => Promise<Result>,
  describe?: (result: Result) => AuditDetails | undefined,
): Promise<Result> {
  const finish = await beginEntry(options, request, change);
  try {
    const result = await make();
    await finish(DONE, describe?.(result));
    return result;
  } catch (error) {
    await finish(toClientError(error).code);
    throw error;
  }
}

/** Applies retention step by step, with an entry in the audit. It may be ended between two steps. */
export async function recordRetention(
  options: AuditOptions,
  request: Request,
  run: RetentionRun,
): Promise<RetentionRun> {
  const finish = await beginEntry(options, request, { action: "retention apply" });
  async function* recordRun(): RetentionRun {
    let outcome = STOPPED;
    let details: AuditDetails = {};
    try {
      const report = yield* run;
      outcome = DONE;
      details = { removed: report.kinds.reduce((sum, { removed }) => sum + removed, 0) };
      return report;
    } catch (error) {
      outcome = toClientError(error).code;
      throw error;
    } finally {
      await finish(outcome, details);
    }
  }
  return recordRun();
}

async function beginEntry(
  { audit, now }: AuditOptions,
  request: Request,
  { action, target = null, details = {} }: Change,
) {
  const uid = Bun.randomUUIDv7();
  await audit.begin({
    ...getAdminCaller(request),
    uid,
    at: now(),
    action,
    target: target === null ? null : cutSecrets(target),
    details: cutSecretsOfDetails(details),
  });
  return (outcome: string, more?: AuditDetails) =>
    audit.finish(uid, outcome, cutSecretsOfDetails({ ...details, ...more })).catch(() => undefined);
}

/** An API key or a token that someone took for a name, a label or a reference. */
const SECRETS = /cma?_[A-Za-z0-9_-]{20,}/g;

/** As many characters of a key or a token as the lists of both show. */
const SHOWN_CHARACTERS = 10;

/** Cuts likely keys and tokens to their first characters. Nothing deletes the audit. */
function cutSecrets(text: string): string {
  return text.replace(SECRETS, (secret) => `${secret.slice(0, SHOWN_CHARACTERS)}…`);
}

function cutSecretsOfDetails(details: AuditDetails): AuditDetails {
  const entries = Object.entries(details);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === "string" ? cutSecrets(value) : value]),
  );
}

type ImportCounts = Readonly<Record<"read" | "new" | "changed" | "unchanged", number>> & {
  readonly causes: RejectionReport["causes"];
};

const NO_COUNTS: ImportCounts = { read: 0, new: 0, changed: 0, unchanged: 0, causes: [] };

/**
 * Imports observations, with an entry in the audit. An import can be thousands of requests, so those
 * of a caller in one hour share an entry.
 */
export async function recordImport<Result extends ImportCounts>(
  { audit, now }: AuditOptions,
  request: Request,
  work: () => Promise<Result>,
): Promise<Result> {
  const caller = getAdminCaller(request);
  const at = now();
  const uid = JSON.stringify(["import", caller.actor, caller.origin, Math.floor(at / HOUR_MS)]);
  await audit.begin({ ...caller, uid, at, action: "import", target: null, details: {} });
  const add = (outcome: string, counts: ImportCounts) =>
    audit
      .add(uid, outcome, {
        requests: 1,
        read: counts.read,
        new: counts.new,
        changed: counts.changed,
        unchanged: counts.unchanged,
        rejected: countRejected(counts),
      })
      .catch(() => undefined);
  try {
    const result = await work();
    await add(DONE, result);
    return result;
  } catch (error) {
    await add(toClientError(error).code, NO_COUNTS);
    throw error;
  }
}

export const ADMIN_AUDIT_ENDPOINTS = [
  defineAdmin({
    id: "adminListAudit",
    operation: "GET /admin/audit",
    summary: "The audit",
    description: "What administrators changed.",
    errors: { "Invalid Request": 'limit must be a whole number from 1 to 1000, got "0"' },
    query: {
      ...createPageParameters("entries", 16),
      actor: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: IDENTIFIER_MAX_CHARACTERS,
          description: "Only changes of this token, of `ADMIN_TOKEN` or of `command line`.",
        }),
      ),
      action: createChoiceParameter(AUDIT_ACTIONS, "Only this action."),
    },
    result: { schema: RESOURCES.AuditPage, description: "A page of the audit" },
    handle: async ({ audit }, { query }) => {
      const { rows, next } = await readPage(query, (limit) => {
        const range = { min: 1, max: INTEGER_MAX, default: INTEGER_MAX };
        const before = parseIntegerParameter("cursor", query, range);
        const action = parseChoiceFilter("action", query, AUDIT_ACTIONS);
        const actor = parseNameFilter("actor", query);
        return audit.list({ actor, action, before, limit });
      });
      const { items } = RESOURCES.AuditPage.properties.entries;
      return { entries: rows.map((row) => toResource(items, row)), next };
    },
  }),
] as const;
