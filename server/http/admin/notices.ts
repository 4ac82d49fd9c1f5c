/** The administration API of notices about low balances. */
import { Elysia } from "elysia";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { readSingleValue } from "../../../core/parameters.ts";
import { formatInstant, formatInstantOrNull } from "../../../core/time.ts";
import { NOTICE_ID_PATTERN, NOTICE_STATES } from "../../stored-names.ts";
import type { NoticeRecord } from "../../store/accounts/notices.ts";
import { getQuery } from "../request-url.ts";
import { recordChange } from "./audit.ts";
import type { AdminOptions } from "./options.ts";
import { cutPage, parseChoiceFilter, parseNameFilter, parsePageLimit } from "./validation.ts";

/** Creates the routes of notices. */
export function createNoticeRoutes(options: Pick<AdminOptions, "now" | "audit" | "notices">) {
  const { notices, now } = options;
  return new Elysia({ name: "admin-notices" })
    .get("/notices", async ({ request }) => {
      const getValues = getQuery(request);
      const limit = parsePageLimit(getValues);
      const after = readSingleValue("cursor", getValues("cursor"));
      assertNoticeId("cursor", after);
      const account = parseNameFilter("account", getValues);
      const state = parseChoiceFilter("state", getValues, NOTICE_STATES);
      const found = await notices.list({ account, state, after, limit: limit + 1 });
      const { rows, next } = cutPage(found, limit);
      return { notices: rows.map(toNoticeResource), next };
    })
    .post("/notices/:id/resend", async ({ params: { id }, request }) => {
      assertNoticeId("id", id);
      const change = { action: "notices resend", target: id } as const;
      const notice = await recordChange(options, request, change, async () => {
        const result = await notices.resend(id, now());
        return { result, details: { account: result.account } };
      });
      return toNoticeResource(notice);
    });
}

function assertNoticeId(field: string, id: string | undefined): void {
  if (id === undefined || NOTICE_ID_PATTERN.test(id)) return;
  throw createInvalidRequestError(
    `${field} must be msg_ and 32 hexadecimal digits, got ${quoteValue(id)}`,
  );
}

function toNoticeResource(notice: NoticeRecord) {
  const { id, account, balance, threshold, state, attempts, failure } = notice;
  return {
    id,
    at: formatInstant(notice.at),
    account,
    balance,
    threshold,
    state,
    attempts,
    next_attempt: formatInstantOrNull(notice.dueAt),
    delivered_at: formatInstantOrNull(notice.deliveredAt),
    failure,
  };
}
