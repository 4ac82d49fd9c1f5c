/** What the administration API responds with, as far as the page shows it. */

/** An account. */
export interface AdminAccount {
  readonly name: string;
  readonly created_at: string;
  readonly granted: number;
  readonly debited: number;
  readonly refunded: number;
  readonly balance: number;
  /** Credits of the last 30 days, less refunds. */
  readonly used_30_days: number;
  /** A balance below it is low; `null` if none is. */
  readonly low_balance: number | null;
}

/** Whether the balance of an account is below its own threshold. */
export function isLow({ balance, low_balance }: AdminAccount): boolean {
  return low_balance !== null && balance < low_balance;
}

/** An API key; its text is not known. */
export interface AdminKey {
  readonly id: number;
  readonly begins_with: string;
  readonly label: string | null;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
  readonly created_at: string;
  readonly revoked_at: string | null;
  /** The id of the key that a rotation made in its place. */
  readonly replaced_by: number | null;
}

/** A key that was just created: the only time that its text is known. */
export interface CreatedKey {
  readonly id: number;
  readonly key: string;
}

/** A line of the statement of an account. */
export interface AdminStatementLine {
  readonly at: string;
  readonly kind: "grant" | "refund" | "debit";
  readonly key: number | null;
  readonly key_begins_with: string | null;
  readonly label: string | null;
  readonly endpoint: string | null;
  readonly requests: number | null;
  readonly amount: number;
  readonly balance: number;
  readonly reference: string | null;
  readonly reason: string | null;
}

/** A notice about a low balance, and how its delivery goes. */
export interface AdminNotice {
  readonly id: string;
  readonly at: string;
  readonly account: string;
  readonly balance: number;
  readonly threshold: number;
  readonly state: "delivered" | "failed" | "pending";
  readonly attempts: number;
  readonly next_attempt: string | null;
  readonly delivered_at: string | null;
  readonly failure: string | null;
}

/** A source of observations, and how it is. */
export interface AdminSource {
  readonly source: string;
  readonly status: "ok" | "failing" | "stopped";
  readonly reason: string | null;
  readonly since: string | null;
  readonly until: string | null;
  readonly last_failure: string | null;
  readonly last_failure_reason: string | null;
  readonly work: Readonly<Record<"requests" | "observations" | "observed" | "failed", number>>;
  readonly quotas: readonly {
    readonly bucket: string;
    readonly used: number;
    readonly limit: number;
    readonly paused_until: string | null;
  }[];
}

/** A file in the folder of backups. */
export interface AdminBackup {
  readonly file: string;
  readonly bytes: number;
  readonly created_at: string;
}

/** What the service has, and how its sources are. */
export interface AdminStatus {
  readonly database: {
    readonly url: string;
    readonly bytes: number | null;
    readonly durability: string;
    readonly outage: string | null;
  };
  readonly kinds: readonly {
    readonly kind: string;
    readonly entities: number;
    readonly observations: number;
    readonly is_estimated: boolean;
    readonly newest: string | null;
  }[];
  readonly accounts: number;
  readonly keys: Readonly<Record<"valid" | "total", number>>;
  readonly credits: Readonly<Record<"granted" | "debited" | "refunded" | "balance", number | null>>;
  readonly sources: readonly AdminSource[];
}

/** An entry of the audit. */
export interface AdminAuditEntry {
  readonly id: number;
  readonly at: string;
  readonly actor: string;
  readonly origin: string;
  readonly action: string;
  readonly target: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly outcome: string | null;
}
