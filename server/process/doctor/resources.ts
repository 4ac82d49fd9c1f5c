/** Checks what the machine gives the service: file descriptors, and space on its disks. */
import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { CheckResult } from "../../commands/doctor/diagnosis.ts";
import { formatBytes, formatCount } from "../../commands/terminal/style.ts";
import { DAY_MS } from "../../../core/time.ts";
import type { DoctorContext } from "./context.ts";
import { judgeDescriptors, judgeDisk } from "./judgements.ts";

export async function checkDescriptors({ findOwner }: DoctorContext): Promise<CheckResult> {
  if (process.platform !== "linux") {
    return { facts: { descriptors: "ulimit -n shows the limit" }, findings: [] };
  }
  const owner = await findOwner().catch(() => undefined);
  const isServed = owner !== undefined && owner.address !== null;
  const folder = `/proc/${isServed ? owner.pid : "self"}`;
  const [, text = ""] =
    /^Max open files +(\S+)/m.exec(readFileSync(`${folder}/limits`, "utf8")) ?? [];
  const limit = text === "unlimited" ? Infinity : Number(text);
  const used = isServed ? readdirSync(`${folder}/fd`).length : undefined;
  return {
    facts: {
      descriptors: `${used === undefined ? "" : `${formatCount(used)} used, `}limit ${formatCount(limit)}`,
    },
    findings: judgeDescriptors({ limit, used }),
  };
}

export async function checkDisk({
  file,
  config,
  now,
  readDiagnosis,
}: DoctorContext): Promise<CheckResult> {
  // Unreadable databases are found by another check; then only the free space counts.
  const diagnosis = await readDiagnosis().catch(() => undefined);
  const { bytes = 0, oldestAt = null } = diagnosis?.facts ?? {};
  const days = oldestAt === null ? 0 : Math.max(1, (now - oldestAt) / DAY_MS);
  const bytesPerDay = days === 0 ? 0 : bytes / days;
  const folders = [
    ...(file === undefined
      ? []
      : [{ name: "database", folder: dirname(resolve(file)), bytesPerDay }]),
    { name: "spool", folder: resolve(config.spoolFolder), bytesPerDay: 0 },
    { name: "backups", folder: resolve(config.backupFolder), bytesPerDay: 0 },
  ];
  const disks = new Map<number, Disk>();
  for (const folder of folders) {
    const existing = findExisting(folder.folder);
    const { dev } = statSync(existing);
    const { bavail, bsize } = statfsSync(existing);
    if (!disks.has(dev)) disks.set(dev, { ...folder, freeBytes: bavail * bsize });
  }
  const found = [...disks.values()];
  return {
    facts: Object.fromEntries(found.map((disk) => [disk.name, describeDisk(disk)])),
    findings: found.flatMap(judgeDisk),
  };
}

interface Disk {
  /** What is on it. */
  readonly name: string;
  readonly folder: string;
  readonly freeBytes: number;
  readonly bytesPerDay: number;
}

function findExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : findExisting(dirname(folder));
}

function describeDisk({ folder, freeBytes, bytesPerDay }: Disk): string {
  const growth =
    bytesPerDay === 0
      ? ""
      : `, and the data grows by ${formatBytes(Math.round(bytesPerDay))} a day`;
  return `${formatBytes(freeBytes)} free in ${folder}${growth}`;
}
