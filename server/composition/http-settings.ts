/** Creates what the HTTP API has of the settings: public addresses, origins, limits. */
import type { Config } from "../config.ts";
import { createClientAddressFinder } from "../http/proxy/client-address.ts";
import { createAbortLimiter, createRateLimiter } from "../metering/rate-limit.ts";

/** A page has up to 100 pictures, which a browser requests 3 at a time and keeps for a day. */
const PICTURES_PER_MINUTE = 600;

export function createHttpSettings(config: Config, now: () => number) {
  const { adminToken, corsOrigins, creditsUrl, derivedMetrics, publicUrl, rateLimit } = config;
  const { metricsToken, metricsPort } = config;
  const checkRateLimit = rateLimit === undefined ? undefined : createRateLimiter(rateLimit, now);
  return {
    adminToken,
    corsOrigins,
    creditsUrl,
    derivedMetrics,
    metricsToken,
    metricsPort,
    publicUrl,
    findClientAddress: createClientAddressFinder(config.trustedProxies),
    checkRateLimit,
    checkPictureLimit: createRateLimiter(PICTURES_PER_MINUTE, now),
    abortLimiter: createAbortLimiter(now),
  };
}
