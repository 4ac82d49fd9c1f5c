/** The endpoints of tokens of administrators, on the owner's socket alone: no token can make another. */
import { Type } from "@sinclair/typebox";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { INTEGER_MAX } from "../../../core/limits.ts";
import { Count, Instant, InstantOrNull, strictObject } from "../../../core/resources/fields.ts";
import { formatInstant, formatInstantOrNull } from "../../../core/time.ts";
import type { AdminTokenRecord, AdminTokenStore } from "../../store/administration/admin-tokens.ts";
import { createDefine } from "../endpoints/admin-endpoint.ts";
import { recordChange } from "./audit.ts";
import { ADMIN_TOKEN_ACTOR } from "./caller.ts";
import type { AdminOptions } from "./options.ts";

/** Begins with a letter, so that no name looks like an id; and not as a token or a key does. */
const NAME_PATTERN = /^(?!cma?_)[A-Za-z][A-Za-z0-9._-]{0,63}$/;

/** The dependencies of the endpoints of the owner's socket. */
interface TokenOptions extends Pick<AdminOptions, "now" | "audit"> {
  readonly tokens: AdminTokenStore;
}

const defineOwner = createDefine<TokenOptions>();

const Token = strictObject({
  id: Count,
  name: Type.String(),
  begins_with: Type.String(),
  created_at: Instant,
  last_used_at: InstantOrNull,
  revoked_at: InstantOrNull,
});

export const OWNER_TOKEN_ENDPOINTS = [
  defineOwner({
    method: "GET",
    path: "/admin/tokens",
    result: { schema: Type.Array(Token) },
    handle: async ({ tokens }) => (await tokens.list()).map(toTokenResource),
  }),
  defineOwner({
    method: "POST",
    path: "/admin/tokens",
    body: strictObject({ name: Type.String() }),
    result: { schema: strictObject({ id: Count, token: Type.String() }), statuses: [201] },
    handle: (options, { body: { name }, request }) => {
      assertTokenName(name);
      const change = { action: "tokens create", target: name } as const;
      return recordChange(options, request, change, async () => {
        const result = await options.tokens.create(name);
        return { result, details: { id: result.id } };
      });
    },
  }),
  defineOwner({
    method: "DELETE",
    path: "/admin/tokens",
    body: strictObject({
      token: Type.Union([Type.Integer({ minimum: 1, maximum: INTEGER_MAX }), Type.String()]),
    }),
    result: { schema: strictObject({ id: Count, name: Type.String(), revoked_at: Instant }) },
    handle: async (options, { body: { token }, request }) => {
      const target = typeof token === "number" ? `token ${token}` : token;
      const change = { action: "tokens revoke", target } as const;
      const { id, name, revokedAt } = await recordChange(options, request, change, async () => {
        const result = await options.tokens.revoke(token);
        return { result, details: { id: result.id, name: result.name } };
      });
      return { id, name, revoked_at: formatInstant(revokedAt) };
    },
  }),
] as const;

function assertTokenName(name: string): void {
  if (NAME_PATTERN.test(name) && name !== ADMIN_TOKEN_ACTOR) return;
  throw createInvalidRequestError(
    "name must be 1 to 64 letters, digits, dots, hyphens or underscores, the first a letter; it " +
      `must not be ${ADMIN_TOKEN_ACTOR}, nor begin with cm_ or cma_, got ${quoteValue(name)}`,
  );
}

function toTokenResource({ id, name, beginsWith, createdAt, ...token }: AdminTokenRecord) {
  return {
    id,
    name,
    begins_with: beginsWith,
    created_at: formatInstant(createdAt),
    last_used_at: formatInstantOrNull(token.lastUsedAt),
    revoked_at: formatInstantOrNull(token.revokedAt),
  };
}
