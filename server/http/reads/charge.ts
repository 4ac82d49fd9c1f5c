/**
 * Priced reads: the debit is committed before the read, and given back if it fails. An answer that
 * still holds is not made again, and costs the same.
 */
import { DomainError, quote } from "../../../core/errors.ts";
import {
  renderResponse,
  type RenderedResponse,
  type ResponseCache,
  type Billing,
  type ReadResult,
} from "./response-cache.ts";
import type { ResponseHeaders } from "../admission.ts";
import type { DebitQueue, IdempotencyKey, Receipt } from "../../ports/ledger.ts";
import type { BodyStreamer } from "./body-streamer.ts";
import { ERROR_STATUSES, toDomainError } from "../errors.ts";

/** What a read costs, in credits. */
export const PRICES = { video: 1, microblog: 1 } as const;

/** Characters of an idempotency key. */
export const IDEMPOTENCY_KEY_MAX_CHARACTERS = 255;

/** What priced reads are made with. */
export interface ChargeOptions {
  readonly debitQueue: DebitQueue;
  readonly responseCache: ResponseCache;
  readonly bodyStreamer: BodyStreamer;
  /** Waits where many reads come at once: for the turn of the event loop in which one is made. */
  waitForSlot(): Promise<void> | undefined;
  /** The clock, in milliseconds. */
  now(): number;
}

/** A priced read whose parameters were accepted. */
export interface ParsedRead {
  /** Aborted once the connection of the request is closed. */
  readonly signal: AbortSignal;
  /** The path and query, as they were sent: the same target has the same answer. */
  readonly pathAndQuery: string;
  readonly billing: Billing;
  read(): Promise<ReadResult>;
}

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * The connection of a request closed before its answer was given to the runtime: nothing of it was
 * sent. The runtime closes a connection itself when another request comes on it too early.
 */
export class ConnectionClosedError extends Error {
  constructor() {
    super("The connection closed before the answer");
  }
}

/**
 * Reads what a request was charged for, unless it is kept, and sends it. What is found or is not
 * there stays charged; what fails, or comes too late for its connection, is refunded.
 *
 * @param headers Told what the answer cost, whatever it is.
 * @param send Makes the response; it fails where a long answer cannot be sent now.
 * @throws Whatever the read or `send` throws, or {@link ConnectionClosedError}.
 */
export async function serveCharged(
  options: Omit<ChargeOptions, "bodyStreamer">,
  receipt: Receipt,
  parsedRead: ParsedRead,
  headers: ResponseHeaders,
  send: (answer: RenderedResponse) => Response,
): Promise<Response> {
  const { debitQueue } = options;
  try {
    const answer = await loadResponse(options, receipt, parsedRead);
    if (parsedRead.signal.aborted) throw new ConnectionClosedError();
    const response = send(answer);
    debitQueue.complete(receipt);
    return response;
  } catch (thrown) {
    const isChargedError = ERROR_STATUSES[toDomainError(thrown).code] === 404;
    const error =
      isChargedError && parsedRead.signal.aborted ? new ConnectionClosedError() : thrown;
    if (error instanceof ConnectionClosedError) await debitQueue.refund(receipt, error.message);
    else if (!isChargedError) await debitQueue.refund(receipt, "The answer failed");
    else {
      setCostHeaders(headers, receipt);
      debitQueue.complete(receipt);
    }
    throw error;
  }
}

/** Takes the answer of a read from where answers are kept, or makes it. */
async function loadResponse(
  { responseCache, waitForSlot, now }: Omit<ChargeOptions, "bodyStreamer">,
  { changeSequence: sequence }: Receipt,
  { pathAndQuery, billing, read }: ParsedRead,
): Promise<RenderedResponse> {
  const cached = responseCache.get(pathAndQuery, now());
  if (cached !== undefined) return cached;
  return responseCache.load(pathAndQuery, sequence, async () => {
    const slot = waitForSlot();
    if (slot !== undefined) await slot;
    const rendered = renderResponse(await read(), billing);
    responseCache.set(pathAndQuery, rendered, sequence);
    return rendered;
  });
}

/**
 * What a request is paid for with, if it carries an idempotency key.
 *
 * @throws {DomainError} `Invalid Request` for a malformed one.
 */
export function parseIdempotencyKey(
  { headers }: Request,
  pathAndQuery: string,
): IdempotencyKey | undefined {
  const name = headers.get("idempotency-key");
  if (name === null) return undefined;
  if (!VISIBLE_ASCII.test(name) || name.length > IDEMPOTENCY_KEY_MAX_CHARACTERS) {
    throw new DomainError(
      "Invalid Request",
      `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} visible ASCII characters, ` +
        `got ${quote(name)}`,
    );
  }
  return {
    value: name,
    fingerprint: new Bun.CryptoHasher("sha256").update(pathAndQuery).digest("hex"),
  };
}

/** Tells what an answer cost. */
export function setCostHeaders(headers: ResponseHeaders, { cost, balance }: Receipt): void {
  headers["x-credits-cost"] = String(cost);
  headers["x-credits-remaining"] = String(balance);
}
