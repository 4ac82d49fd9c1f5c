/** Tells the service which client sends a request. */
import { runtime } from "./runtime.ts";

/** The name and version of the package; a test compares them with `core/package.json`. */
const USER_AGENT = "creator-metrics-core/0.1.0";

/**
 * The header `User-Agent`. A browser has its own: it ignores another one, or asks the service of
 * another origin whether it may be sent.
 */
export function createUserAgentHeader(): { readonly "user-agent"?: string } {
  const isBrowser = runtime.navigator?.userAgent?.startsWith("Mozilla/") === true;
  return isBrowser ? {} : { "user-agent": USER_AGENT };
}
