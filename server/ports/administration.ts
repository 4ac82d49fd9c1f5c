/**
 * Interfaces of administration: API keys, the tokens of administrators, and the audit of what
 * administrators change. Instants are milliseconds since 1970 UTC.
 */
import type { ApiKeyLookup, KeyScope } from "./admission.ts";

/** What a new API key may do, and how long. */
export interface KeyOptions {
  readonly label: string | null;
  readonly scopes: readonly KeyScope[];
  readonly expiresAt: number | null;
}

/** A new secret as the database has it. */
export interface StoredSecret {
  /** SHA-256, in hex. */
  readonly hash: string;
  /** The first characters, by which people tell secrets apart. */
  readonly beginsWith: string;
}

/** A key to store; by default it has all scopes and does not expire. */
export interface NewKey extends StoredSecret, Partial<KeyOptions> {
  readonly account: number;
  readonly label: string | null;
}

/** A stored API key: never the key itself. */
export interface ApiKeyRecord extends KeyOptions {
  readonly id: number;
  readonly beginsWith: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** The id of the key that a rotation made in its place. */
  readonly replacedBy: number | null;
}

/** The stored API keys. */
export interface KeyStore extends ApiKeyLookup {
  /** @returns The id of the new key. */
  create(key: NewKey, now: number): Promise<number>;
  /** All keys of an account, by its name; oldest first. */
  list(account: string): Promise<ApiKeyRecord[]>;
  /**
   * Revokes a key; a revoked key keeps its first `revokedAt`.
   *
   * @throws {DomainError} `Not Found`.
   */
  revoke(key: KeyReference, now: number): Promise<RevokedKey>;
  /**
   * Creates a key with the account, label, scopes and end of another one, which expires at
   * `expiresAt`, or at its end if that is earlier.
   *
   * @throws {DomainError} `Not Found`; `Conflict` for a key that is revoked, replaced or expired.
   */
  rotate(id: number, secret: StoredSecret, expiresAt: number, now: number): Promise<ReplacedKey>;
}

/** The key that a rotation replaced, and when it expires. */
export interface ReplacedKey {
  /** The id of the new key. */
  readonly newId: number;
  /** The name of the account of both. */
  readonly account: string;
  readonly hash: string;
  readonly expiresAt: number;
}

/** What names a key: its id, or the SHA-256 of its text, in hex. */
export type KeyReference = { readonly id: number } | { readonly hash: string };

export interface RevokedKey {
  readonly id: number;
  /** The name of its account. */
  readonly account: string;
  readonly hash: string;
  readonly revokedAt: number;
}

/** A key that was created in place of another one. */
export interface RotatedKey {
  readonly id: number;
  readonly key: string;
  /** The name of its account. */
  readonly account: string;
  readonly oldExpiresAt: number;
}

/** Creates, lists, rotates and revokes API keys. */
export interface KeyAdministration extends Pick<KeyStore, "list"> {
  /** Creates an API key of an account. Its text is known only here. */
  create(account: string, options: KeyOptions): Promise<{ id: number; key: string }>;
  /** @param idOrKey Its id or its text. @throws {DomainError} `Not Found`. */
  revoke(idOrKey: number | string): Promise<Omit<RevokedKey, "hash">>;
  /**
   * Replaces a key by a new one. Both are valid for some time.
   *
   * @param overlapMs How long the old key stays valid.
   */
  rotate(id: number, overlapMs: number): Promise<RotatedKey>;
}

/** A stored token of an administrator: never the token itself. */
export interface AdminTokenRecord extends StoredSecret {
  readonly id: number;
  readonly name: string;
  readonly createdAt: number;
  /** Up to a minute ago it may have been used again. */
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** A revoked token. */
export interface RevokedAdminToken extends Pick<AdminTokenRecord, "id" | "name"> {
  readonly revokedAt: number;
}

/** The stored tokens of administrators. */
export interface AdminTokenStore {
  /**
   * @returns The id of the new token.
   * @throws {DomainError} `Conflict` if a valid token has this name, or if there are too many.
   */
  create(token: StoredSecret & { readonly name: string }, now: number): Promise<number>;
  /** All valid tokens, and the last revoked ones, 200 in all; oldest first. */
  list(): Promise<AdminTokenRecord[]>;
  /**
   * Revokes the valid token with a name, or the token with an id. A revoked token keeps its first
   * `revokedAt`.
   *
   * @throws {DomainError} `Not Found`.
   */
  revoke(nameOrId: string | number, now: number): Promise<RevokedAdminToken>;
  recordUse(id: number, now: number): Promise<void>;
}

/** Finds the named tokens that requests send. */
export interface AdminTokenLookup {
  /** Whether a text may be a token: only then it is worth a lookup. */
  isCandidate(text: string): boolean;
  /** Like `list()` of the store; a revocation by another process takes effect within a second. */
  list(): Promise<readonly AdminTokenRecord[]>;
  /** Records that a token was used now. It never fails. */
  recordUse(id: number): Promise<void>;
}

/** Creates, lists and revokes the tokens of administrators. */
export interface AdminTokenAdministration extends Pick<AdminTokenStore, "list"> {
  /** Creates a token. Its text is known only here. */
  create(name: string): Promise<{ id: number; token: string }>;
  /**
   * Like `revoke()` of the store, and takes the text of a valid token, too.
   *
   * @throws {DomainError} `Not Found`.
   */
  revoke(nameIdOrToken: string | number): Promise<RevokedAdminToken>;
}

/** What administrators change, named after the commands that do it. */
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
  "tokens create",
  "tokens revoke",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who sends a request to the administration API. */
export interface AdminCaller {
  /** The name of a token, `ADMIN_TOKEN` or `command line`. */
  readonly actor: string;
  /** The address of the client; of a command, the name of its machine. */
  readonly origin: string;
}

/** More about a change; never a secret. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/** A change that an administrator asks for. */
export interface AuditedChange {
  readonly action: AuditAction;
  /** What is changed: the name of an account, `key 7`; `null` if the action says it all. */
  readonly target: string | null;
  readonly details: AuditDetails;
}

/** A change before it is made. */
export interface NewAuditEntry extends AuditedChange, AdminCaller {
  readonly at: number;
  /** Identifies the entry. A second entry with it changes nothing. */
  readonly uid: string;
}

/** A change in the audit. */
export interface AuditEntry extends Omit<NewAuditEntry, "uid"> {
  readonly id: number;
  /**
   * `done`, or the name of an error; `null` while the change is made, and if nobody knows: the
   * process or the database ended meanwhile.
   */
  readonly outcome: string | null;
}

/** Which entries a page of the audit has. */
export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: AuditAction | undefined;
  /** Only entries with smaller ids. */
  readonly before: number;
  readonly limit: number;
}

/** The stored audit. */
export interface AuditStore {
  /** Stores a change before it is made. */
  begin(entry: NewAuditEntry): Promise<void>;
  finish(uid: string, outcome: string, details: AuditDetails): Promise<void>;
  /** Like `finish()`, but adds the details, which are counts, to those of the entry. */
  add(uid: string, outcome: string, counts: Readonly<Record<string, number>>): Promise<void>;
  /** The newest entry first. */
  list(filter: AuditFilter): Promise<AuditEntry[]>;
}
