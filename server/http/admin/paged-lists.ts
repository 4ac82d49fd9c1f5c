/** Administration endpoints of two paged lists: notices, which can be sent again, and the audit. */
import { Type } from "@sinclair/typebox";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { IDENTIFIER_MAX_CHARACTERS, INTEGER_MAX, LIST_LIMIT_RANGE } from "../../../core/limits.ts";
import {
  parseIntegerParameter,
  readSingleValue,
  type QueryParameters,
} from "../../../core/parameters.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import { AUDIT_ACTIONS, NOTICE_STATES } from "../../stored-names.ts";
import type { NoticeStore } from "../../store/accounts/notices.ts";
import {
  createChoiceParameter,
  createCursorParameter,
  createIntegerParameter,
} from "../endpoints/parameters.ts";
import { defineAdmin } from "./endpoint.ts";
import { AccountParameter, parseChoiceFilter, parseNameFilter } from "./validation.ts";
import { toResource } from "./rows.ts";
import { RESOURCES } from "./resources.ts";

/** The id of a notice, as the trigger in low-balance.sql makes it. */
const NOTICE_ID_PATTERN = /^msg_[0-9a-f]{32}$/;

const createPageParameters = (rows: string, cursorMaxLength: number) => ({
  limit: createIntegerParameter(LIST_LIMIT_RANGE, `The most ${rows} of a page.`),
  cursor: createCursorParameter(
    "`next` of the previous page, which had the same other parameters.",
    cursorMaxLength,
  ),
});

/** Reads a page of a list. The next page's cursor is the id of the last row of this page. */
async function readPage<Row extends { readonly id: string | number }>(
  query: QueryParameters,
  read: (limit: number) => Promise<readonly Row[]>,
): Promise<{ readonly rows: readonly Row[]; readonly next: string | null }> {
  const limit = parseIntegerParameter("limit", query, LIST_LIMIT_RANGE);
  const found = await read(limit + 1);
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next: last === undefined ? null : String(last.id) };
}

export const ADMIN_PAGE_ENDPOINTS = [
  defineAdmin({
    id: "adminListNotices",
    operation: "GET /admin/notices",
    summary: "List the notices",
    description:
      "Notices about low balances, the newest first. Those that were delivered or given up are deleted " +
      "30 days after their last attempt.",
    errors: { "Invalid Request": 'state must be one of pending, delivered, failed, got "late"' },
    query: {
      ...createPageParameters("notices", 36),
      account: Type.Optional(AccountParameter),
      state: createChoiceParameter(NOTICE_STATES, "Only notices in this state."),
    },
    result: { schema: RESOURCES.NoticePage, description: "A page of the notices" },
    handle: async ({ notices }, { query }) => {
      const { rows, next } = await readPage(query, (limit) => {
        const after = readSingleValue("cursor", query);
        assertNoticeId("cursor", after);
        const account = parseNameFilter("account", query);
        const state = parseChoiceFilter("state", query, NOTICE_STATES);
        return notices.list({ account, state, after, limit });
      });
      return { notices: rows.map(toNoticeResource), next };
    },
  }),
  defineAdmin({
    id: "adminResendNotice",
    operation: "POST /admin/notices/{id}/resend",
    summary: "Send a notice again",
    description:
      "Makes a notice due now that was given up, or that waits for its next attempt. It is tried as " +
      "often as a new one, and its `attempts` are counted from 0 again.",
    errors: {
      "Invalid Request": 'id must be msg_ and 32 hexadecimal digits, got "7"',
      "Not Found": "There is no notice msg_99999999999999999999999999999999",
      Conflict:
        "The notice msg_0f8e3b1c5d7a49e2b6c0d4f2a1e3c5b7 was delivered at 2026-11-21T03:07:01.000Z",
    },
    parameters: {
      id: Type.String({
        pattern: NOTICE_ID_PATTERN.source,
        description: "The id of a notice.",
        examples: ["msg_0f8e3b1c5d7a49e2b6c0d4f2a1e3c5b7"],
      }),
    },
    result: { schema: RESOURCES.AdminNotice, description: "The notice, which is pending" },
    handle: async ({ notices, now }, { parameters: { id = "" }, record }) => {
      assertNoticeId("id", id);
      const notice = await record(
        { action: "notices resend", target: id },
        () => notices.resend(id, now()),
        ({ account }) => ({ account }),
      );
      return toNoticeResource(notice);
    },
  }),
  defineAdmin({
    id: "adminListAudit",
    operation: "GET /admin/audit",
    summary: "The audit",
    description: "What administrators changed.",
    errors: { "Invalid Request": 'limit must be a whole number from 1 to 1000, got "0"' },
    query: {
      ...createPageParameters("entries", 16),
      actor: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: IDENTIFIER_MAX_CHARACTERS,
          description: "Only changes of this token, of `ADMIN_TOKEN` or of `command line`.",
        }),
      ),
      action: createChoiceParameter(AUDIT_ACTIONS, "Only this action."),
    },
    result: { schema: RESOURCES.AuditPage, description: "A page of the audit" },
    handle: async ({ audit }, { query }) => {
      const { rows, next } = await readPage(query, (limit) => {
        const range = { min: 1, max: INTEGER_MAX, default: INTEGER_MAX };
        const before = parseIntegerParameter("cursor", query, range);
        const action = parseChoiceFilter("action", query, AUDIT_ACTIONS);
        const actor = parseNameFilter("actor", query);
        return audit.list({ actor, action, before, limit });
      });
      const { items } = RESOURCES.AuditPage.properties.entries;
      return { entries: rows.map((row) => toResource(items, row)), next };
    },
  }),
] as const;

function assertNoticeId(field: string, id: string | undefined): void {
  if (id === undefined || NOTICE_ID_PATTERN.test(id)) return;
  throw createInvalidRequestError(
    `${field} must be msg_ and 32 hexadecimal digits, got ${quoteValue(id)}`,
  );
}

const toNoticeResource = (notice: Awaited<ReturnType<NoticeStore["list"]>>[number]) =>
  toResource(RESOURCES.AdminNotice, { ...notice, nextAttempt: formatInstantOrNull(notice.dueAt) });
