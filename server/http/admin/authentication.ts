/**
 * Authenticates administrators by ADMIN_TOKEN or a named token, limits how often a token is
 * guessed, and remembers the caller of each request for the audit. Commands need no token.
 *
 * Requests from a network that guessed too often are rejected before their token is compared, so
 * that a right guess among them is worth nothing. A limit for all networks together bounds guesses
 * from many addresses. Networks that sent a valid token before are exempt from that limit, so that
 * others cannot lock them out. A guess is a wrong token that the network did not send before, and
 * that is not known as revoked: a program with an old token locks nobody out.
 */
import { timingSafeEqual } from "node:crypto";
import { hostname } from "node:os";
import { LRUCache } from "lru-cache";
import { takeRateLimitToken, type TokenBucket } from "../../../core/token-bucket.ts";
import { DomainError } from "../../../core/errors.ts";
import type { AdminTokenStore } from "../../store/administration/admin-tokens.ts";
import { hashSecret } from "../../secrets.ts";
import type { ResponseHeaders } from "../cache-headers.ts";
import { throwTooManyRequests } from "../errors.ts";

/** Who an entry of the audit names. */
export interface AuditCaller {
  readonly actor: string;
  /** The address of the client; of a command, the name of its machine. */
  readonly origin: string;
}

interface AdminCaller extends AuditCaller {
  /** The id of the token; `null` for ADMIN_TOKEN and for commands. */
  readonly token: number | null;
}

const callers = new WeakMap<Request, AdminCaller>();

/** The name of the token in the setting ADMIN_TOKEN, for the audit. */
export const ADMIN_TOKEN_ACTOR = "ADMIN_TOKEN";

const COMMAND_LINE: AdminCaller = { actor: "command line", origin: hostname(), token: null };

/** Admits a request on the owner's socket, or of a command to its own process. */
export const admitCommand = (request: Request): void => void callers.set(request, COMMAND_LINE);

export function getAdminCaller(request: Request): AdminCaller {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error("The request was not admitted");
  return caller;
}

/** A named token, or the token of the setting, which has no id. */
type AdminToken = Awaited<ReturnType<AdminTokenStore["list"]>>[number];
type KnownToken = Pick<AdminToken, "name" | "hash" | "revokedAt"> & Partial<Pick<AdminToken, "id">>;

const NETWORK_FAILURES_PER_MINUTE = 5;
const TOTAL_FAILURES_PER_MINUTE = 300;
const FAILURE_DELAY_MS = 500;

/** The most networks and guesses in memory. Fewer can fail in a minute, which clears a failure. */
const REMEMBERED_MAX = 1000;

export const readBearerToken = ({ headers }: Pick<Request, "headers">): string | undefined =>
  /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];

export function createAdminAuthentication(options: {
  readonly token: string | undefined;
  readonly namedTokens: Pick<AdminTokenStore, "isCandidate" | "listCached" | "recordUse">;
  getAddress(request: Request): string;
  onAuthenticated?(request: Request): void;
  now(): number;
}) {
  const { token, namedTokens, getAddress, now } = options;
  const ownTokens: readonly KnownToken[] =
    token === undefined
      ? []
      : [{ name: ADMIN_TOKEN_ACTOR, hash: hashSecret(token), revokedAt: null }];
  const failuresByNetwork = new LRUCache<string, TokenBucket>({ max: REMEMBERED_MAX });
  const trustedNetworks = new LRUCache<string, true>({ max: REMEMBERED_MAX });
  const guesses = new LRUCache<string, true>({ max: REMEMBERED_MAX });
  let totalFailures: TokenBucket | undefined;

  /** Compares a token, synchronously: simultaneous requests would otherwise all pass the limits. */
  function check(
    request: Request,
    presentedToken: string,
    known: readonly KnownToken[],
    headers: ResponseHeaders,
  ) {
    const address = getAddress(request);
    const network = getNetworkPrefix(address);
    const failures = failuresByNetwork.get(network);
    const networkLimit = takeRateLimitToken(failures, NETWORK_FAILURES_PER_MINUTE, now());
    if (!networkLimit.isAdmitted)
      rejectGuess("from your address", networkLimit.retryAfterS, headers);
    const totalLimit = takeRateLimitToken(totalFailures, TOTAL_FAILURES_PER_MINUTE, now());
    if (!totalLimit.isAdmitted && !trustedNetworks.has(network))
      rejectGuess("in all", totalLimit.retryAfterS, headers);
    const presentedHash = hashSecret(presentedToken);
    // The hashes have equal lengths, and the time of comparing them reveals nothing of a token.
    const found = known.find(({ hash }) =>
      timingSafeEqual(Buffer.from(hash), Buffer.from(presentedHash)),
    );
    if (found?.revokedAt === null) {
      trustedNetworks.set(network, true);
      callers.set(request, { actor: found.name, origin: address, token: found.id ?? null });
      return found;
    }
    const guess = `${network} ${presentedHash}`;
    if (found === undefined && !guesses.has(guess)) {
      guesses.set(guess, true);
      failuresByNetwork.set(network, networkLimit.bucket);
      totalFailures = totalLimit.bucket;
    }
    return undefined;
  }

  return {
    isEnabled: async () =>
      token !== undefined ||
      (await namedTokens.listCached()).some(({ revokedAt }) => revokedAt === null),

    /** Authenticates a request, and remembers its caller; waits before it rejects a wrong token. */
    async authenticate(request: Request, headers: ResponseHeaders): Promise<void> {
      const presentedToken = readBearerToken(request);
      if (presentedToken === undefined) {
        throw new DomainError("Missing API Key", "Send an administrator's token as a bearer token");
      }
      const named = namedTokens.isCandidate(presentedToken) ? await namedTokens.listCached() : [];
      const found = check(request, presentedToken, [...ownTokens, ...named], headers);
      if (found === undefined) {
        await Bun.sleep(FAILURE_DELAY_MS);
        throw new DomainError("Invalid API Key", "The bearer token is not an administrator's");
      }
      options.onAuthenticated?.(request);
      if (found.id !== undefined) await namedTokens.recordUse(found.id);
    },
  };
}

/** The network of an address: all of IPv4, 64 bits of IPv6, because clients choose the others. */
function getNetworkPrefix(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address;
  const [start = [], end = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array.from({ length: Math.max(0, 8 - start.length - end.length) }, () => "0");
  return [...start, ...zeros, ...end].slice(0, 4).join(":");
}

function rejectGuess(scope: string, retryAfterS: number, headers: ResponseHeaders): never {
  throwTooManyRequests(
    headers,
    retryAfterS,
    `There were too many wrong tokens ${scope}; the next try`,
  );
}
