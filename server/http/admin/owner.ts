/**
 * The endpoints of the owner's socket alone: the process that owns the database file, tokens of
 * administrators, because no token can make another, and backups to any path, because its clients may
 * write files anyway.
 */
import { Type, type Static } from "@sinclair/typebox";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import {
  Count,
  Instant,
  InstantOrNull,
  strictObject,
  TextOrNull,
} from "../../../core/resources/fields.ts";
import type { AdminTokenStore } from "../../store/administration/admin-tokens.ts";
import { ADMIN_TOKEN_ACTOR } from "./authentication.ts";
import { createDefine, type AdminOptions } from "./endpoint.ts";
import { toResource } from "./rows.ts";
import { PositiveInteger, RESOURCES } from "./resources.ts";

export type OwnerDescription = Static<typeof Owner>;

const Owner = strictObject({
  pid: Count,
  /** The command that it runs: `serve`, `import`. */
  verb: Type.String(),
  /** The URL where it serves; `null` when it does not. */
  address: TextOrNull,
  /** When it opened the database, in ISO 8601. */
  since: Type.String(),
});

export interface OwnerOptions extends AdminOptions {
  readonly tokens: AdminTokenStore;
  describe(): OwnerDescription;
}

const defineOwner = createDefine<OwnerOptions, unknown>();

/** Begins with a letter, so that no name looks like an id; and not as a token or a key does. */
const NAME_PATTERN = /^(?!cma?_)[A-Za-z][A-Za-z0-9._-]{0,63}$/;

const Token = strictObject({
  id: Count,
  name: Type.String(),
  begins_with: Type.String(),
  created_at: Instant,
  last_used_at: InstantOrNull,
  revoked_at: InstantOrNull,
});

const RevokedToken = strictObject({ id: Count, name: Type.String(), revoked_at: Instant });

export const OWNER_ENDPOINTS = [
  defineOwner({
    operation: "GET /admin/owner",
    result: { schema: Owner },
    handle: ({ describe }) => describe(),
  }),
  defineOwner({
    operation: "POST /admin/backup",
    body: strictObject({ file: Type.String({ minLength: 1, maxLength: 4096 }) }),
    result: { schema: RESOURCES.Backup },
    handle: ({ backUp }, { body: { file }, record }) =>
      record(
        { action: "backup", target: file },
        () => backUp(file),
        ({ bytes }) => ({ bytes }),
      ),
  }),
  defineOwner({
    operation: "GET /admin/tokens",
    result: { schema: Type.Array(Token) },
    handle: async ({ tokens }) => (await tokens.list()).map((token) => toResource(Token, token)),
  }),
  defineOwner({
    operation: "POST /admin/tokens",
    body: strictObject({ name: Type.String() }),
    result: { schema: strictObject({ id: Count, token: Type.String() }), statuses: [201] },
    handle: ({ tokens }, { body: { name }, record }) => {
      assertTokenName(name);
      return record(
        { action: "tokens create", target: name },
        () => tokens.create(name),
        ({ id }) => ({ id }),
      );
    },
  }),
  defineOwner({
    operation: "DELETE /admin/tokens",
    body: strictObject({ token: Type.Union([PositiveInteger, Type.String()]) }),
    result: { schema: RevokedToken },
    handle: async ({ tokens }, { body: { token }, record }) => {
      const target = typeof token === "number" ? `token ${token}` : token;
      const revoked = await record(
        { action: "tokens revoke", target },
        () => tokens.revoke(token),
        ({ id, name }) => ({ id, name }),
      );
      return toResource(RevokedToken, revoked);
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
