/**
 * Authenticates the administrator by the token, and limits who guesses it.
 *
 * An address that has sent too many wrong tokens is refused before its token is compared, so a
 * right guess among them is worth nothing. A limit for all addresses together bounds guesses from
 * many. It spares the addresses that have sent the right token: they are not locked out by others.
 */
import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { DomainError } from "../../../core/errors.ts";
import { takeToken, type TokenBucket } from "../../../core/token-bucket.ts";
import type { ResponseHeaders } from "../cache-headers.ts";

/** What the administrator is authenticated with. */
export interface AdminAuthenticationOptions {
  readonly token: string;
  /** The address that a request came from. */
  getAddress(request: Request): string;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
}

/**
 * Authenticates a request.
 *
 * @param headers Gets `Retry-After` where the request comes too early.
 * @throws {DomainError} `Missing API Key`, `Invalid API Key` or `Too Many Requests`.
 */
export type AuthenticateAdmin = (
  request: Request,
  headers: ResponseHeaders,
) => Promise<undefined> | undefined;

/** Wrong tokens a minute, from one address and from all. */
const ADDRESS_FAILURES_PER_MINUTE = 5;
const TOTAL_FAILURES_PER_MINUTE = 300;

/** How long the answer to a wrong token is held back. */
const FAILURE_DELAY_MS = 500;

/**
 * Addresses that are remembered of each kind. Within a minute, after which an address counts as
 * new, {@link TOTAL_FAILURES_PER_MINUTE} lets in fewer.
 */
const ADDRESSES_MAX = 1000;

/** Makes what authenticates the administrator. */
export function createAdminAuthentication({
  token,
  getAddress,
  now,
}: AdminAuthenticationOptions): AuthenticateAdmin {
  const expected = hash(token);
  const failuresByNetwork = new LRUCache<string, TokenBucket>({ max: ADDRESSES_MAX });
  const trustedNetworks = new LRUCache<string, true>({ max: ADDRESSES_MAX });
  let totalFailures: TokenBucket | undefined;

  return (request, headers) => {
    const presentedToken = parseBearerToken(request);
    if (presentedToken === undefined) {
      throw new DomainError("Missing API Key", "Send the administrator's token as a bearer token");
    }
    const network = getNetworkPrefix(getAddress(request));
    const addressLimit = takeToken(
      failuresByNetwork.get(network),
      ADDRESS_FAILURES_PER_MINUTE,
      now(),
    );
    if (!addressLimit.isAdmitted)
      throw createTooManyTokensError("from your address", addressLimit.retryAfterS, headers);
    const totalLimit = takeToken(totalFailures, TOTAL_FAILURES_PER_MINUTE, now());
    if (!totalLimit.isAdmitted && !trustedNetworks.has(network))
      throw createTooManyTokensError("in all", totalLimit.retryAfterS, headers);
    // Equal lengths, so that the time it takes tells nothing of the token.
    if (timingSafeEqual(hash(presentedToken), expected)) {
      trustedNetworks.set(network, true);
      return undefined;
    }
    failuresByNetwork.set(network, addressLimit.bucket);
    totalFailures = totalLimit.bucket;
    return rejectAfterDelay();
  };
}

/**
 * The part of an address that its owner cannot change at will: of IPv6 the first 64 bits.
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

function createTooManyTokensError(
  scope: string,
  retryAfterS: number,
  headers: ResponseHeaders,
): DomainError {
  headers["retry-after"] = String(retryAfterS);
  return new DomainError(
    "Too Many Requests",
    `There were too many wrong tokens ${scope}; the next try is in ${retryAfterS} s`,
  );
}

async function rejectAfterDelay(): Promise<never> {
  await Bun.sleep(FAILURE_DELAY_MS);
  throw new DomainError("Invalid API Key", "The bearer token is not the administrator's");
}
