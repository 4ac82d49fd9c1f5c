/**
 * Diagnoses an installation. Each check stands alone: one that fails is itself a finding, and the
 * others go on.
 */
import {
  describeFailure,
  type CheckReport,
  type CheckResult,
} from "../../commands/doctor/diagnosis.ts";
import { createDoctorContext, type DoctorContext } from "./context.ts";
import { checkClock, checkDatabase, checkPermissions, checkService } from "./database.ts";
import { checkDescriptors, checkDisk } from "./resources.ts";
import { checkSettings } from "./settings.ts";
import { checkBackups, checkNotices, checkSources } from "./work.ts";

interface Check {
  readonly name: string;
  check(context: DoctorContext): Promise<CheckResult>;
}

/** In the order in which they are shown. */
const CHECKS: readonly Check[] = [
  { name: "settings", check: checkSettings },
  { name: "service", check: checkService },
  { name: "database", check: checkDatabase },
  { name: "clock", check: checkClock },
  { name: "permissions", check: checkPermissions },
  { name: "limits", check: checkDescriptors },
  { name: "disk", check: checkDisk },
  { name: "sources", check: checkSources },
  { name: "notices", check: checkNotices },
  { name: "backups", check: checkBackups },
];

export async function diagnose(
  ...parameters: Parameters<typeof createDoctorContext>
): Promise<CheckReport[]> {
  const context = createDoctorContext(...parameters);
  const reports: CheckReport[] = [];
  for (const { name, check } of CHECKS) {
    reports.push({ check: name, ...(await runCheck(check, context)) });
  }
  return dropRepeated(reports);
}

async function runCheck(check: Check["check"], context: DoctorContext): Promise<CheckResult> {
  try {
    return await check(context);
  } catch (error) {
    return { facts: {}, findings: [describeFailure(error)] };
  }
}

/** A database that cannot be read fails several checks: the first one says so. */
function dropRepeated(reports: readonly CheckReport[]): CheckReport[] {
  const seen = new Set<string>();
  return reports.map(({ check, facts, findings }) => ({
    check,
    facts,
    findings: findings.filter(({ message }) => !seen.has(message) && seen.add(message)),
  }));
}
