/** The endpoints of an administrator's session itself: what it is, and its end. */
import { formatInstant } from "../../../core/time.ts";
import { recordChange } from "../admin/audit.ts";
import { RESOURCES } from "../admin/resources.ts";
import { getSession } from "../admission.ts";
import { defineFree, type FreeEndpoint } from "./endpoint.ts";

const NO_SESSION = { Forbidden: "This request needs an administrator's session" } as const;

export const SESSION_ENDPOINTS: readonly FreeEndpoint[] = [
  defineFree({
    id: "getSession",
    operation: "GET /api/session",
    part: "Session",
    summary: "Your session as an administrator",
    description: "Who opened it, and when it ends.",
    result: { schema: RESOURCES.AdminSession, description: "The session" },
    errors: NO_SESSION,
    createHandler:
      () =>
      ({ request }) => {
        const { actor, expiresAt } = getSession(request);
        return { administrator: actor, expires_at: formatInstant(expiresAt) };
      },
  }),
  defineFree({
    id: "endSession",
    operation: "DELETE /api/session",
    part: "Session",
    summary: "End your session as an administrator",
    description: "All processes refuse it within a second.",
    result: { schema: RESOURCES.EndedSessions, description: "The session is ended" },
    errors: NO_SESSION,
    createHandler(sources) {
      const { sessions, getAddress } = sources;
      return async ({ request }) => {
        const session = getSession(request);
        const caller = { actor: session.actor, origin: getAddress(request) };
        const target = `session ${session.beginsWith}…`;
        await recordChange(sources, caller, { action: "sessions end", target }, () =>
          sessions.end(session),
        );
        return { ended: 1 };
      };
    },
  }),
];
