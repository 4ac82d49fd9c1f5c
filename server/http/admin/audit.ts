/** Records changes, retention runs and imports by administrators in the audit, without secrets. */
import { countRejected } from "../../../core/rejections.ts";
import type { RejectionReport } from "../../../core/stores.ts";
import { HOUR_MS } from "../../../core/time.ts";
import type { AuditDetails } from "../../store/tables/administration-tables.ts";
import type { RetentionRun } from "../../store/history/retention.ts";
import { toClientError } from "../errors.ts";
import { getAdminCaller, type AuditCaller } from "./authentication.ts";
import type { AdminOptions, Change } from "./endpoint.ts";

const DONE = "done";

type AuditOptions = Pick<AdminOptions, "now" | "audit">;

/**
 * Makes a change, with an entry in the audit. The entry is stored before the change. If it cannot
 * be stored, the request fails and nothing changes. If the outcome cannot be stored, the entry
 * stays without an outcome.
 */
export async function recordChange<Result>(
  options: AuditOptions,
  caller: AuditCaller,
  change: Change,
  make: () => Promise<Result>,
  describe?: (result: Result) => AuditDetails | undefined,
): Promise<Result> {
  const finish = await beginEntry(options, caller, change);
  try {
    const result = await make();
    await finish(DONE, describe?.(result));
    return result;
  } catch (error) {
    await finish(toClientError(error).code);
    throw error;
  }
}

/** Applies retention step by step, with an entry in the audit. A client can end it early. */
export async function recordRetention(
  options: AuditOptions,
  request: Request,
  run: RetentionRun,
): Promise<RetentionRun> {
  const finish = await beginEntry(options, getAdminCaller(request), { action: "retention apply" });
  async function* recordRun(): RetentionRun {
    // The outcome if the client leaves before the end.
    let outcome = "stopped";
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
  { actor, origin }: AuditCaller,
  { action, target = null, details = {} }: Change,
) {
  const uid = Bun.randomUUIDv7();
  await audit.begin({
    actor,
    origin,
    uid,
    at: now(),
    action,
    target: target === null ? null : cutSecrets(target),
    details: cutSecretsOfDetails(details),
  });
  return (outcome: string, more?: AuditDetails) =>
    audit.finish(uid, outcome, cutSecretsOfDetails({ ...details, ...more })).catch(() => undefined);
}

/** Cuts secrets that were sent as a name, label or reference: nothing deletes the audit. */
const cutSecrets = (text: string): string =>
  text.replace(/cm[as]?_[A-Za-z0-9_-]{20,}/g, (secret) => `${secret.slice(0, 10)}…`);

function cutSecretsOfDetails(details: AuditDetails): AuditDetails {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      typeof value === "string" ? cutSecrets(value) : value,
    ]),
  );
}

type ImportCounts = Readonly<Record<"read" | "new" | "changed" | "unchanged", number>> & {
  readonly causes: RejectionReport["causes"];
};

const NO_COUNTS: ImportCounts = { read: 0, new: 0, changed: 0, unchanged: 0, causes: [] };

/** Imports observations. A caller's imports in an hour share an entry: there can be thousands. */
export async function recordImport<Result extends ImportCounts>(
  { audit, now }: AuditOptions,
  request: Request,
  work: () => Promise<Result>,
): Promise<Result> {
  const { actor, origin } = getAdminCaller(request);
  const at = now();
  const uid = JSON.stringify(["import", actor, origin, Math.floor(at / HOUR_MS)]);
  await audit.begin({ actor, origin, uid, at, action: "import", target: null, details: {} });
  const add = (outcome: string, counts: ImportCounts) => {
    const { read, new: added, changed, unchanged } = counts;
    const rejected = countRejected(counts);
    const sums = { requests: 1, read, new: added, changed, unchanged, rejected };
    return audit.add(uid, outcome, sums).catch(() => undefined);
  };
  try {
    const result = await work();
    await add(DONE, result);
    return result;
  } catch (error) {
    await add(toClientError(error).code, NO_COUNTS);
    throw error;
  }
}
