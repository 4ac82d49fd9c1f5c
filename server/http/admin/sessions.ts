/** Administration endpoints of sessions, in which administrators look at the dashboard for free. */
import { ADMIN_SESSION_HOURS, ADMIN_SESSIONS_MAX } from "../../../core/limits.ts";
import { formatInstant } from "../../../core/time.ts";
import { getAdminCaller } from "./authentication.ts";
import { defineAdmin } from "./endpoint.ts";
import { RESOURCES } from "./resources.ts";
import { toResource } from "./rows.ts";

/** Only over HTTP: a session ends with its token, and commands have none. */
export const ADMIN_SESSION_ENDPOINTS = [
  defineAdmin({
    id: "adminOpenSession",
    operation: "POST /admin/sessions",
    summary: "Open a session for looking",
    description:
      "The session takes the place of an API key in the header X-API-Key, for " +
      `${ADMIN_SESSION_HOURS} hours. It reads channels, shorts, users, tweets and the monitoring ` +
      "list for free, and changes nothing. It ends early with the token that opened it. The " +
      "response is the only place that has it.",
    errors: {
      Conflict:
        `There are ${ADMIN_SESSIONS_MAX} sessions already; end yours with ` +
        "DELETE /admin/sessions",
    },
    result: { schema: RESOURCES.OpenedSession, description: "The session", statuses: [201] },
    handle: async ({ sessions }, { request, record }) => {
      const opened = await record(
        { action: "sessions open" },
        () => sessions.open(getAdminCaller(request)),
        ({ beginsWith, expiresAt }) => ({
          session: `${beginsWith}…`,
          expires: formatInstant(expiresAt),
        }),
      );
      return toResource(RESOURCES.OpenedSession, opened);
    },
  }),
  defineAdmin({
    id: "adminEndSessions",
    operation: "DELETE /admin/sessions",
    summary: "End your sessions",
    description: "Ends all sessions that the token of this request opened, within a second.",
    result: { schema: RESOURCES.EndedSessions, description: "How many there were" },
    handle: async ({ sessions }, { request, record }) => {
      const ended = await record(
        { action: "sessions end" },
        () => sessions.endAll(getAdminCaller(request)),
        (count) => ({ ended: count }),
      );
      return { ended };
    },
  }),
] as const;
