/** The caller of the administration API, as the audit records it. */
import { hostname } from "node:os";

/** The sender of a request to the administration API. */
export interface AdminCaller {
  /** The name of a token, `ADMIN_TOKEN` or `command line`. */
  readonly actor: string;
  /** The address of the client; of a command, the name of its machine. */
  readonly origin: string;
}

/** The callers of the requests that were admitted. */
const callers = new WeakMap<Request, AdminCaller>();

/** The name of the token of the setting in the audit. */
export const ADMIN_TOKEN_ACTOR = "ADMIN_TOKEN";

/** The sender of requests on the owner's socket, and of those of a command to its own process. */
export const COMMAND_LINE: AdminCaller = { actor: "command line", origin: hostname() };

export function setAdminCaller(request: Request, caller: AdminCaller): void {
  callers.set(request, caller);
}

/** @throws {Error} If the request was not admitted. */
export function getAdminCaller(request: Request): AdminCaller {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error("The request was not admitted");
  return caller;
}
