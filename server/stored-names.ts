/** Names that the database stores and other parts use: scopes, states, audit actions, a reason. */

export const KEY_SCOPES = ["read", "creators", "lists"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export const NOTICE_STATES = ["pending", "delivered", "failed"] as const;
export type NoticeState = (typeof NOTICE_STATES)[number];

/** The reason of a refund of a read whose client left before its response. */
export const CLOSED_CONNECTION_REASON = "The connection closed before the answer";

export const AUDIT_ACTIONS = [
  "accounts create",
  "accounts set",
  "backup",
  "backups delete",
  "backups download",
  "channels track",
  "channels untrack",
  "collect",
  "creators add",
  "creators remove",
  "credits apply-refunds",
  "credits grant",
  "import",
  "keys create",
  "keys revoke",
  "keys rotate",
  "notices resend",
  "retention apply",
  "sessions end",
  "sessions open",
  "tokens create",
  "tokens revoke",
] as const;

/** Work that one of the processes that share a database server does for all. */
export const ROLES = ["collector", "committer", "maintenance", "backup"] as const;
export type Role = (typeof ROLES)[number];
