/**
 * Authenticates the administrator by the token, and limits who guesses it.
 *
 * An address that has sent too many wrong tokens is refused before its token is compared, so a
 * right guess among them is worth nothing. A limit for all addresses together bounds guesses from
 * many. It spares the addresses that have sent the right token: they are not locked out by others.
 */
import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { DomainError } from "../../core/errors.ts";
import { takeToken, type Bucket } from "../../core/rate.ts";
import type { AnswerHeaders } from "./door.ts";

/** What the administrator is authenticated with. */
export interface AdminAuthenticationParts {
  readonly token: string;
  /** The address that a request came from. */
  addressOf(request: Request): string;
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
  headers: AnswerHeaders,
) => Promise<undefined> | undefined;

/** Wrong tokens a minute, from one address and from all. */
const FAILURES_OF_ADDRESS = 5;
const FAILURES_IN_ALL = 300;

/** How long the answer to a wrong token is held back. */
const FAILURE_DELAY_MS = 500;

/**
 * Addresses that are remembered of each kind. Within a minute, after which an address counts as
 * new, {@link FAILURES_IN_ALL} lets in fewer.
 */
const ADDRESSES_MAX = 1000;

/** Makes what authenticates the administrator. */
export function createAdminAuthentication({
  token,
  addressOf,
  now,
}: AdminAuthenticationParts): AuthenticateAdmin {
  const expected = hash(token);
  const failures = new LRUCache<string, Bucket>({ max: ADDRESSES_MAX });
  const trusted = new LRUCache<string, true>({ max: ADDRESSES_MAX });
  let allFailures: Bucket | undefined;

  return (request, headers) => {
    const given = bearerOf(request);
    if (given === undefined) {
      throw new DomainError("Missing API Key", "Send the administrator's token as a bearer token");
    }
    const network = networkOf(addressOf(request));
    const own = takeToken(failures.get(network), FAILURES_OF_ADDRESS, now());
    if (!own.isAdmitted) throw tooMany("from your address", own.retryAfterS, headers);
    const all = takeToken(allFailures, FAILURES_IN_ALL, now());
    if (!all.isAdmitted && !trusted.has(network)) throw tooMany("in all", all.retryAfterS, headers);
    // Equal lengths, so that the time it takes tells nothing of the token.
    if (timingSafeEqual(hash(given), expected)) {
      trusted.set(network, true);
      return undefined;
    }
    failures.set(network, own.bucket);
    allFailures = all.bucket;
    return rejectLate();
  };
}

/**
 * The part of an address that its owner cannot change at will: of IPv6 the first 64 bits.
 *
 * @example
 * networkOf("2001:db8::1"); // "2001:db8:0:0"
 */
export function networkOf(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address;
  const [start = [], end = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array.from({ length: Math.max(0, 8 - start.length - end.length) }, () => "0");
  return [...start, ...zeros, ...end].slice(0, 4).join(":");
}

function bearerOf({ headers }: Request): string | undefined {
  return /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

function hash(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}

function tooMany(whose: string, retryAfterS: number, headers: AnswerHeaders): DomainError {
  headers["retry-after"] = String(retryAfterS);
  return new DomainError(
    "Too Many Requests",
    `There were too many wrong tokens ${whose}; the next try is in ${retryAfterS} s`,
  );
}

async function rejectLate(): Promise<never> {
  await Bun.sleep(FAILURE_DELAY_MS);
  throw new DomainError("Invalid API Key", "The bearer token is not the administrator's");
}
