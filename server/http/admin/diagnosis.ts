/** What the command `doctor` asks the process that owns the database file. */
import { Type } from "@sinclair/typebox";
import type { DatabaseFacts } from "../../store/administration/facts.ts";
import { createDefine, type AdminOptions } from "./endpoint.ts";

/** What only the process knows that owns the file. */
export interface OwnerDiagnosis {
  readonly facts: DatabaseFacts;
  /** The scheduled backups; `null` if this process makes none. */
  readonly lastBackup: { readonly failure: string | null } | null;
}

export interface DiagnosisOptions extends AdminOptions {
  readFacts(): Promise<DatabaseFacts>;
  /** Reads all pages of the database. @throws {Error} With the first damage. */
  checkIntegrity(): Promise<void>;
}

const define = createDefine<DiagnosisOptions, unknown>();

export const DIAGNOSIS_ENDPOINTS = [
  define({
    operation: "GET /admin/diagnosis",
    result: { schema: Type.Unsafe<OwnerDiagnosis>(Type.Object({})) },
    async handle({ readFacts, readScheduled }) {
      const last = readScheduled()?.last;
      const lastBackup = last === undefined ? null : { failure: last.failure ?? null };
      return { facts: await readFacts(), lastBackup };
    },
  }),
  define({
    operation: "POST /admin/integrity",
    result: { schema: Type.Object({}) },
    async handle({ checkIntegrity }) {
      await checkIntegrity();
      return {};
    },
  }),
] as const;
