/**
 * Authenticates administrators by their token, and limits how often a token is guessed.
 *
 * Requests from a network that sent too many wrong tokens are rejected before their token is
 * compared, so that a right guess among them is worth nothing. A limit for all networks together
 * bounds guesses from many addresses. Networks that sent the right token before are exempt from it,
 * so that others cannot lock them out.
 */
import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { takeRateLimitToken, type TokenBucket } from "../../../core/token-bucket.ts";
import type { ResponseHeaders } from "../cache-headers.ts";
import { HttpError } from "../errors.ts";

/**
 * Authenticates a request; waits before it rejects a wrong token.
 *
 * @param headers Gets `Retry-After` with `Too Many Requests`.
 * @throws {HttpError} `Missing API Key`, `Invalid API Key` or `Too Many Requests`.
 */
export type AuthenticateAdmin = (
  request: Request,
  headers: ResponseHeaders,
) => Promise<undefined> | undefined;

/** Wrong tokens a minute from one network, and from all. */
const NETWORK_FAILURES_PER_MINUTE = 5;
const TOTAL_FAILURES_PER_MINUTE = 300;

/** The delay of the response to a wrong token. */
const FAILURE_DELAY_MS = 500;

/** How many networks are remembered. Fewer can fail within a minute, which clears a failure. */
const NETWORKS_MAX = 1000;

/**
 * Creates the authentication of administrators.
 *
 * @param getAddress The address of the client.
 * @param now The clock, in milliseconds since 1970 UTC.
 */
export function createAdminAuthentication(
  token: string,
  getAddress: (request: Request) => string,
  now: () => number,
): AuthenticateAdmin {
  const expected = hash(token);
  const failuresByNetwork = new LRUCache<string, TokenBucket>({ max: NETWORKS_MAX });
  const trustedNetworks = new LRUCache<string, true>({ max: NETWORKS_MAX });
  let totalFailures: TokenBucket | undefined;

  return (request, headers) => {
    const presentedToken = parseBearerToken(request);
    if (presentedToken === undefined) {
      throw new HttpError("Missing API Key", "Send the administrator's token as a bearer token");
    }
    const network = getNetworkPrefix(getAddress(request));
    const networkLimit = takeRateLimitToken(
      failuresByNetwork.get(network),
      NETWORK_FAILURES_PER_MINUTE,
      now(),
    );
    if (!networkLimit.isAdmitted)
      rejectGuess("from your address", networkLimit.retryAfterS, headers);
    const totalLimit = takeRateLimitToken(totalFailures, TOTAL_FAILURES_PER_MINUTE, now());
    if (!totalLimit.isAdmitted && !trustedNetworks.has(network))
      rejectGuess("in all", totalLimit.retryAfterS, headers);
    // Hashes have equal lengths, so that the time of the comparison reveals nothing of the token.
    if (timingSafeEqual(hash(presentedToken), expected)) {
      trustedNetworks.set(network, true);
      return undefined;
    }
    failuresByNetwork.set(network, networkLimit.bucket);
    totalFailures = totalLimit.bucket;
    return rejectAfterDelay();
  };
}

/**
 * The network of an address: an IPv4 address itself, the first 64 bits of an IPv6 address. A client
 * can choose the other bits as it likes.
 *
 * @example
 * getNetworkPrefix("2001:db8::1"); // "2001:db8:0:0"
 */
export function getNetworkPrefix(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address;
  const [start = [], end = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array.from({ length: Math.max(0, 8 - start.length - end.length) }, () => "0");
  return [...start, ...zeros, ...end].slice(0, 4).join(":");
}

function parseBearerToken({ headers }: Request): string | undefined {
  return /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

function hash(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}

function rejectGuess(scope: string, retryAfterS: number, headers: ResponseHeaders): never {
  headers["retry-after"] = String(retryAfterS);
  throw new HttpError(
    "Too Many Requests",
    `There were too many wrong tokens ${scope}; the next try is in ${retryAfterS} s`,
  );
}

async function rejectAfterDelay(): Promise<never> {
  await Bun.sleep(FAILURE_DELAY_MS);
  throw new HttpError("Invalid API Key", "The bearer token is not the administrator's");
}
