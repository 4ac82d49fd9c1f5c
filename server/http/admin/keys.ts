/** The endpoints of API keys. */
import { Type, type Static } from "@sinclair/typebox";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { INTEGER_MAX } from "../../../core/limits.ts";
import { parseInteger } from "../../../core/parameters.ts";
import {
  DAY_MS,
  formatInstant,
  formatInstantOrNull,
  HOUR_MS,
  INSTANT_SYNTAX,
  LAST_INSTANT,
  MINUTE_MS,
  parseInstant,
} from "../../../core/time.ts";
import { KEY_SCOPES, type KeyScope } from "../../stored-names.ts";
import type { ApiKeyRecord } from "../../store/accounts/api-keys.ts";
import { AccountParameter } from "../openapi/admin/parameters.ts";
import * as schemas from "../openapi/admin/schemas.ts";
import { recordChange } from "./audit.ts";
import { defineAdmin } from "./options.ts";
import { parseAccount } from "./validation.ts";

/** How long a rotated key stays valid by default. */
const DEFAULT_OVERLAP: string = schemas.KeyRotation.properties.overlap.default;

const NO_ACCOUNT = { "Not Found": "There is no account nobody" } as const;

export const ADMIN_KEY_ENDPOINTS = [
  defineAdmin({
    method: "GET",
    path: "/admin/keys",
    document: {
      id: "adminListKeys",
      summary: "List the keys of an account",
      description: "The oldest first. No response has a key itself.",
      errors: {
        "Invalid Request": 'account must be 1 to 256 characters without control characters, got ""',
        ...NO_ACCOUNT,
      },
    },
    query: { account: AccountParameter },
    result: { schema: schemas.AdminKeyList, description: "The keys" },
    handle: async ({ ledger, keys }, { query }) => {
      const account = parseAccount(query);
      await ledger.account(account);
      return (await keys.list(account)).map(toKeyResource);
    },
  }),
  defineAdmin({
    method: "POST",
    path: "/admin/keys",
    document: {
      id: "adminCreateKey",
      summary: "Create a key",
      description: "The response is the only place that has the key.",
      errors: {
        "Invalid Request": 'label must be 1 to 256 characters without control characters, got ""',
        ...NO_ACCOUNT,
      },
    },
    body: schemas.NewKey,
    result: { schema: schemas.CreatedKey, description: "The key was created", statuses: [201] },
    handle: (options, { body: { account, label = null, scopes, expires }, request }) => {
      const keyOptions = {
        label,
        scopes: parseScopes(scopes),
        expiresAt: expires === undefined ? null : parseExpiry(expires, options.now()),
      };
      const details = { label, scopes: keyOptions.scopes.join(", "), expires: expires ?? null };
      const change = { action: "keys create", target: account, details } as const;
      return recordChange(options, request, change, async () => {
        const result = await options.keys.create(account, keyOptions, options.now());
        return { result, details: { id: result.id } };
      });
    },
  }),
  defineAdmin({
    method: "DELETE",
    path: "/admin/keys",
    document: {
      id: "adminRevokeKey",
      summary: "Revoke a key",
      description: "Permanently. A revoked key keeps its first time.",
      errors: {
        "Invalid Request": 'id: expected integer, got "1"',
        "Not Found": "There is no key 999",
      },
    },
    body: schemas.KeyReference,
    result: { schema: schemas.RevokedKey, description: "The key is revoked" },
    handle: async (options, { body, request }) => {
      const idOrKey = parseKeyReference(body);
      const change = { action: "keys revoke", target: `key ${idOrKey}` } as const;
      const { id, revokedAt } = await recordChange(options, request, change, async () => {
        const result = await options.keys.revoke(idOrKey, options.now());
        return { result, details: { id: result.id, account: result.account } };
      });
      return { id, revoked_at: formatInstant(revokedAt) };
    },
  }),
  defineAdmin({
    method: "POST",
    path: "/admin/keys/{id}/rotate",
    document: {
      id: "adminRotateKey",
      summary: "Rotate a key",
      description:
        "Creates a key with the same account, label, scopes and end. The old key stays valid for the " +
        "overlap, but never longer than before.",
      errors: {
        "Invalid Request": 'overlap must be 0 or a duration (30s, 10m, 12h, 7d, 2w), got "soon"',
        "Not Found": "There is no key 999",
        Conflict: "Key 1 was replaced by key 2; rotate that one instead",
      },
    },
    parameters: {
      id: Type.Integer({
        minimum: 1,
        maximum: INTEGER_MAX,
        description: "The id of an API key.",
        examples: [1],
      }),
    },
    body: schemas.KeyRotation,
    result: { schema: schemas.RotatedKey, description: "The new key", statuses: [201] },
    handle: async (options, { body: { overlap = DEFAULT_OVERLAP }, parameters, request }) => {
      const id = parseKeyId(parameters["id"] ?? "");
      const overlapMs = parseOverlap(overlap, options.now());
      const change = {
        action: "keys rotate",
        target: `key ${id}`,
        details: { overlap },
      } as const;
      const rotated = await recordChange(options, request, change, async () => {
        const result = await options.keys.rotate(id, overlapMs, options.now());
        return { result, details: { id: result.id, account: result.account } };
      });
      const old_expires_at = formatInstant(rotated.oldExpiresAt);
      return { id: rotated.id, key: rotated.key, old_id: id, old_expires_at };
    },
  }),
] as const;

/** Parses the scopes of a new key; by default it has all. */
function parseScopes(names: readonly string[] = KEY_SCOPES): KeyScope[] {
  const scopes = KEY_SCOPES.filter((scope) => names.includes(scope));
  const unknown = names.find((name) => !scopes.some((scope) => scope === name));
  if (scopes.length > 0 && unknown === undefined) return scopes;
  throw createInvalidRequestError(
    `scopes must be one or more of ${KEY_SCOPES.join(", ")}, got ${quoteValue(unknown ?? names)}`,
  );
}

/**
 * Parses when a new key expires: an instant, or a duration from now as in `12h`, `90d` or `8w`.
 *
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Invalid Request`, also if it is not in the future.
 */
function parseExpiry(text: string, now: number): number {
  const durationMs = parseDuration(text, EXPIRY_UNITS_MS);
  const expiresAt = durationMs === undefined ? parseInstant(text) : now + durationMs;
  if (expiresAt !== undefined && expiresAt > now && expiresAt <= LAST_INSTANT) return expiresAt;
  throw createInvalidRequestError(
    `expires must be a duration (12h, 90d, 8w) or ${INSTANT_SYNTAX} and is in the future, ` +
      `got ${quoteValue(text)}`,
  );
}

const EXPIRY_UNITS_MS: Readonly<Record<string, number>> = { h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS };
const OVERLAP_UNITS_MS = { s: 1000, m: MINUTE_MS, ...EXPIRY_UNITS_MS };

/** Parses a duration such as `12h`, `90d` or `8w`. @returns Milliseconds. */
function parseDuration(
  text: string,
  unitsMs: Readonly<Record<string, number>>,
): number | undefined {
  const [, amount = "", unit = ""] = /^(\d{1,6})([a-z])$/.exec(text) ?? [];
  const unitMs = unitsMs[unit];
  return unitMs === undefined ? undefined : Number(amount) * unitMs;
}

/**
 * Parses how long a rotated key stays valid: a duration, or `0` if it expires at once.
 *
 * @throws {DomainError} `Invalid Request`.
 */
function parseOverlap(text: string, now: number): number {
  const overlapMs = text === "0" ? 0 : parseDuration(text, OVERLAP_UNITS_MS);
  if (overlapMs !== undefined && now + overlapMs <= LAST_INSTANT) return overlapMs;
  throw createInvalidRequestError(
    `overlap must be ${schemas.KeyRotation.properties.overlap.description}, got ${quoteValue(text)}`,
  );
}

/** @throws {DomainError} `Invalid Request` unless there is an id or a key, and not both. */
function parseKeyReference({ id, key }: Static<typeof schemas.KeyReference>): number | string {
  if (id !== undefined && key === undefined) return id;
  if (key !== undefined && id === undefined) return key;
  throw createInvalidRequestError(
    `The body must have either id or key, got ${id === undefined ? "neither" : "both"}`,
  );
}

function parseKeyId(text: string): number {
  const id = parseInteger(text, { min: 1 });
  if (id !== undefined) return id;
  throw createInvalidRequestError(
    `id must be a whole number from 1 to ${INTEGER_MAX}, got ${quoteValue(text)}`,
  );
}

function toKeyResource(record: ApiKeyRecord) {
  const { id, beginsWith, label, scopes, createdAt, expiresAt, revokedAt, replacedBy } = record;
  return {
    id,
    begins_with: beginsWith,
    label,
    scopes,
    created_at: formatInstant(createdAt),
    expires_at: formatInstantOrNull(expiresAt),
    revoked_at: formatInstantOrNull(revokedAt),
    replaced_by: replacedBy,
  };
}
