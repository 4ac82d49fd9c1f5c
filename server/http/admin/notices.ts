/** The administration API of notices about low balances. */
import { Elysia } from "elysia";
import { formatInstant, formatInstantOrNull } from "../../../core/time.ts";
import type { NoticeRecord } from "../../ports/notices.ts";
import type { AdminOptions } from "./options.ts";

/** The notices in a response. An account has few in the month that they are kept. */
const NOTICES_MAX = 1000;

/** Creates the route that lists notices. */
export function createNoticeRoutes({ notices }: Pick<AdminOptions, "notices">) {
  return new Elysia({ name: "admin-notices" }).get("/notices", async () =>
    (await notices.list(NOTICES_MAX)).map(toNoticeResource),
  );
}

function toNoticeResource(notice: NoticeRecord) {
  const { id, account, balance, threshold, at, attempts, dueAt, deliveredAt, failure } = notice;
  return {
    id,
    at: formatInstant(at),
    account,
    balance,
    threshold,
    state: describeState(notice),
    attempts,
    next_attempt: formatInstantOrNull(dueAt),
    delivered_at: formatInstantOrNull(deliveredAt),
    failure,
  };
}

function describeState({ dueAt, deliveredAt }: NoticeRecord): "delivered" | "failed" | "pending" {
  if (deliveredAt !== null) return "delivered";
  return dueAt === null ? "failed" : "pending";
}
