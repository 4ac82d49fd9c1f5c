/** Administration endpoints of API keys: list, create, revoke and rotate, with their durations. */
import { Type } from "@sinclair/typebox";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { INTEGER_MAX } from "../../../core/limits.ts";
import { parseIntegerParameter } from "../../../core/parameters.ts";
import { Instant } from "../../../core/resources/fields.ts";
import { DAY_MS, HOUR_MS, INSTANT_SYNTAX, LAST_INSTANT, parseInstant } from "../../../core/time.ts";
import type { KeyOptions } from "../../store/accounts/api-keys.ts";
import { KEY_SCOPES, type KeyScope } from "../../stored-names.ts";
import {
  DEFAULT_OVERLAP,
  OVERLAP_PATTERN,
  OVERLAP_SYNTAX,
  parseDuration,
  parseOverlap,
} from "../key-overlap.ts";
import { defineAdmin } from "./endpoint.ts";
import { toResource } from "./rows.ts";
import { AccountParameter, parseAccount } from "./validation.ts";
import { createChoice, Name, PositiveInteger, resource, RESOURCES } from "./resources.ts";

const RevokedKey = resource("RevokedKey", { id: PositiveInteger, revoked_at: Instant });

const NO_ACCOUNT = { "Not Found": "There is no account nobody" } as const;

export const ADMIN_KEY_ENDPOINTS = [
  defineAdmin({
    id: "adminListKeys",
    operation: "GET /admin/keys",
    summary: "List the keys of an account",
    description: "The oldest first. No response has a key itself.",
    errors: {
      "Invalid Request": 'account must be 1 to 256 characters without control characters, got ""',
      ...NO_ACCOUNT,
    },
    query: { account: AccountParameter },
    result: { schema: RESOURCES.AdminKeyList, description: "The keys" },
    handle: async ({ ledger, keys }, { query }) => {
      const account = parseAccount(query);
      await ledger.account(account);
      return (await keys.list(account)).map((key) => toResource(RESOURCES.AdminKeyList.items, key));
    },
  }),
  defineAdmin({
    id: "adminCreateKey",
    operation: "POST /admin/keys",
    summary: "Create a key",
    description: "The response is the only place that has the key.",
    errors: {
      "Invalid Request": 'label must be 1 to 256 characters without control characters, got ""',
      ...NO_ACCOUNT,
    },
    body: resource("NewKey", {
      account: Name,
      label: Type.Optional(Name),
      scopes: Type.Optional(
        // Any text to the compiler: `parseScopes()` checks it.
        Type.Array(createChoice<string>(KEY_SCOPES), {
          minItems: 1,
          description: "By default all",
        }),
      ),
      expires: Type.Optional(
        Type.String({ description: "A duration from now, such as 12h, 90d or 8w; or an instant" }),
      ),
    }),
    result: { schema: RESOURCES.CreatedKey, description: "The key was created", statuses: [201] },
    handle: ({ keys, now }, { body, record }) => {
      const { account, label = null, expires } = body;
      const scopes = parseScopes(body.scopes);
      const expiresAt = expires === undefined ? null : parseExpiry(expires, now());
      // The compiler requires every field.
      const options = { label, scopes, expiresAt } satisfies Required<KeyOptions>;
      const details = { label, scopes: scopes.join(", "), expires: expires ?? null };
      return record(
        { action: "keys create", target: account, details },
        () => keys.create(account, options, now()),
        ({ id }) => ({ id }),
      );
    },
  }),
  defineAdmin({
    id: "adminRevokeKey",
    operation: "DELETE /admin/keys",
    summary: "Revoke a key",
    description: "Permanently. A revoked key keeps its first time.",
    errors: {
      "Invalid Request": 'id: expected integer, got "1"',
      "Not Found": "There is no key 999",
    },
    body: resource("KeyReference", {
      id: Type.Optional(PositiveInteger),
      key: Type.Optional(Type.String({ description: "The key itself, in place of its id" })),
    }),
    result: { schema: RevokedKey, description: "The key is revoked" },
    handle: async ({ keys, now }, { body, record }) => {
      const idOrKey = parseKeyReference(body);
      const revoked = await record(
        { action: "keys revoke", target: `key ${idOrKey}` },
        () => keys.revoke(idOrKey, now()),
        ({ id, account }) => ({ id, account }),
      );
      return toResource(RevokedKey, revoked);
    },
  }),
  defineAdmin({
    id: "adminRotateKey",
    operation: "POST /admin/keys/{id}/rotate",
    summary: "Rotate a key",
    description:
      "Creates a key with the same account, label, scopes and end. The old key stays valid for the " +
      "overlap, but never longer than before.",
    errors: {
      "Invalid Request": `overlap must be ${OVERLAP_SYNTAX}, got "soon"`,
      "Not Found": "There is no key 999",
      Conflict: "Key 1 was replaced by key 2; rotate that one instead",
    },
    parameters: {
      id: Type.Integer({ ...PositiveInteger, description: "The id of an API key.", examples: [1] }),
    },
    body: resource("KeyRotation", {
      overlap: Type.Optional(
        Type.String({
          pattern: OVERLAP_PATTERN,
          default: DEFAULT_OVERLAP,
          description: OVERLAP_SYNTAX,
        }),
      ),
    }),
    result: { schema: RESOURCES.RotatedKey, description: "The new key", statuses: [201] },
    handle: async ({ keys, now }, { body: { overlap = DEFAULT_OVERLAP }, parameters, record }) => {
      const range = { min: 1, max: INTEGER_MAX, default: 0 };
      const oldId = parseIntegerParameter("id", new URLSearchParams(parameters), range);
      const overlapMs = parseOverlap(overlap, { now: now(), syntax: OVERLAP_SYNTAX });
      const rotated = await record(
        { action: "keys rotate", target: `key ${oldId}`, details: { overlap } },
        () => keys.rotate(oldId, overlapMs, now()),
        ({ id, account }) => ({ id, account }),
      );
      return toResource(RESOURCES.RotatedKey, { ...rotated, oldId });
    },
  }),
] as const;

function parseScopes(names: readonly string[] = KEY_SCOPES): KeyScope[] {
  const scopes = KEY_SCOPES.filter((scope) => names.includes(scope));
  const unknown = names.find((name) => !scopes.some((scope) => scope === name));
  if (scopes.length > 0 && unknown === undefined) return scopes;
  throw createInvalidRequestError(
    `scopes must be one or more of ${KEY_SCOPES.join(", ")}, got ${quoteValue(unknown ?? names)}`,
  );
}

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

function parseKeyReference({ id, key }: { id?: number; key?: string }): number | string {
  if (id !== undefined && key === undefined) return id;
  if (key !== undefined && id === undefined) return key;
  throw createInvalidRequestError(
    `The body must have either id or key, got ${id === undefined ? "neither" : "both"}`,
  );
}
