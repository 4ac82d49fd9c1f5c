/**
 * Who may read `/metrics`. By default, everyone who reaches the service may. With METRICS_TOKEN or
 * METRICS_PORT, they name accounts, and the public port has them for holders of a token only.
 */
import { DomainError } from "../../../core/errors.ts";
import { hashSecret, isSecret } from "../../secrets.ts";
import { readBearerToken, type createAdminAuthentication } from "../admin/authentication.ts";
import type { ResponseHeaders } from "../cache-headers.ts";
import { formatErrorResponse } from "../errors.ts";
import { ensureHost, getPath } from "../request-url.ts";
import type { createMetrics } from "./metrics.ts";

export const METRICS_PATH = "/metrics";

const MISSING_TOKEN = "Send METRICS_TOKEN or an administrator's token as a bearer token";
const WRONG_TOKEN = "The bearer token is neither METRICS_TOKEN nor an administrator's";

export interface MetricsAccess {
  readonly metricsToken: string | undefined;
  readonly metricsPort: number | undefined;
}

/** Whether metrics are shown to operators only, so that they may name accounts. */
export const isMetricsAccessLimited = ({ metricsToken, metricsPort }: MetricsAccess): boolean =>
  metricsToken !== undefined || metricsPort !== undefined;

/** Creates the check of a token; it takes as long for each wrong one. */
function createTokenCheck({ metricsToken: token }: Pick<MetricsAccess, "metricsToken">) {
  const hash = token === undefined ? undefined : hashSecret(token);
  return (presented: string) => hash !== undefined && isSecret(presented, hash);
}

/**
 * Creates the authentication of `/metrics` at the public port; `undefined` if everyone may read it.
 * Administrators may, because their page shows rates of requests.
 */
export function createMetricsAuthentication(
  access: MetricsAccess,
  admin: Pick<ReturnType<typeof createAdminAuthentication>, "authenticate">,
) {
  if (!isMetricsAccessLimited(access)) return undefined;
  const isMetricsToken = createTokenCheck(access);
  return async (request: Request, headers: ResponseHeaders): Promise<void> => {
    const presented = readBearerToken(request);
    if (presented === undefined) throw new DomainError("Missing API Key", MISSING_TOKEN);
    if (isMetricsToken(presented)) return;
    await admin.authenticate(request, headers).catch((error: unknown) => {
      if (!(error instanceof DomainError) || error.code !== "Invalid API Key") throw error;
      throw new DomainError("Invalid API Key", WRONG_TOKEN);
    });
  };
}

const METHODS: readonly string[] = ["GET", "HEAD"];

/** Creates the server of METRICS_PORT, which has nothing else and needs METRICS_TOKEN if it is set. */
export function createMetricsHandler(
  { contentType, text }: Pick<ReturnType<typeof createMetrics>, "contentType" | "text">,
  access: MetricsAccess,
) {
  const isMetricsToken = createTokenCheck(access);

  function refuse(request: Request): DomainError | undefined {
    const path = getPath(request);
    if (path !== METRICS_PATH) return new DomainError("Not Found", `There is no path ${path}`);
    if (!METHODS.includes(request.method)) {
      const message = `${path} takes ${METHODS.join(", ")}, got ${request.method}`;
      return new DomainError("Method Not Allowed", message);
    }
    if (access.metricsToken === undefined) return undefined;
    const presented = readBearerToken(request);
    if (presented === undefined)
      return new DomainError("Missing API Key", "Send METRICS_TOKEN as a bearer token");
    return isMetricsToken(presented)
      ? undefined
      : new DomainError("Invalid API Key", "The bearer token is not METRICS_TOKEN");
  }

  return async (received: Request): Promise<Response> => {
    const request = ensureHost(received);
    const refusal = refuse(request);
    if (refusal === undefined) {
      return new Response(await text(), {
        headers: { "content-type": contentType, "cache-control": "no-store" },
      });
    }
    const { body, headers, ...init } = formatErrorResponse(refusal, getPath(request));
    const isWrongMethod = refusal.code === "Method Not Allowed";
    return new Response(body, {
      ...init,
      headers: { ...headers, ...(isWrongMethod && { allow: METHODS.join(", ") }) },
    });
  };
}
