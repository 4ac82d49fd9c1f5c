/**
 * Priced reads: the debit is committed before the read, and given back if it fails. An answer that
 * still holds is not made again, and costs the same.
 */
import { isCharged, type Charge, type Payment, type Receipt } from "../../core/credits.ts";
import { DomainError, quote } from "../../core/errors.ts";
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from "../../core/limits.ts";
import {
  finishAnswer,
  type Answer,
  type Answers,
  type Priced,
  type LinkedReading,
} from "./answers.ts";
import type { AnswerHeaders } from "./door.ts";
import type { Outgoing } from "./outgoing.ts";
import { STATUSES, asDomainError } from "./errors.ts";

/** Charges and refunds. */
export interface Charger {
  debit(charge: Charge): Promise<Receipt>;
  /**
   * The request was answered. Of each receipt that was paid for with an idempotency key either this
   * is told or it is refunded.
   */
  keep(receipt: Receipt): void;
  refund(receipt: Receipt, reason: string): Promise<void>;
}

/** What priced reads are made with. */
export interface ChargeParts {
  readonly charger: Charger;
  readonly answers: Answers;
  readonly outgoing: Outgoing;
  /** Waits where many reads come at once: for the turn of the event loop in which one is made. */
  turns(): Promise<void> | undefined;
  /** The clock, in milliseconds. */
  now(): number;
}

/** A priced read whose parameters were accepted. */
export interface PricedRead {
  /** Aborted once the connection of the request is closed. */
  readonly signal: AbortSignal;
  /** The path and query, as they were sent: the same target has the same answer. */
  readonly target: string;
  readonly priced: Priced;
  read(): Promise<LinkedReading>;
}

const VISIBLE = /^[\x21-\x7e]+$/;

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
export async function readPaid(
  parts: Omit<ChargeParts, "outgoing">,
  receipt: Receipt,
  asked: PricedRead,
  headers: AnswerHeaders,
  send: (answer: Answer) => Response,
): Promise<Response> {
  const { charger } = parts;
  try {
    const answer = await answerOf(parts, receipt, asked);
    if (asked.signal.aborted) throw new ConnectionClosedError();
    const response = send(answer);
    charger.keep(receipt);
    return response;
  } catch (thrown) {
    const isAnswer = isCharged(STATUSES[asDomainError(thrown).code]);
    const error = isAnswer && asked.signal.aborted ? new ConnectionClosedError() : thrown;
    if (error instanceof ConnectionClosedError) await charger.refund(receipt, error.message);
    else if (!isAnswer) await charger.refund(receipt, "The answer failed");
    else {
      showCost(headers, receipt);
      charger.keep(receipt);
    }
    throw error;
  }
}

/** Takes the answer of a read from where answers are kept, or makes it. */
async function answerOf(
  { answers, turns, now }: Omit<ChargeParts, "outgoing">,
  { sequence }: Receipt,
  { target, priced, read }: PricedRead,
): Promise<Answer> {
  const kept = answers.find(target, now());
  if (kept !== undefined) return kept;
  return answers.make(target, sequence, async () => {
    const turn = turns();
    if (turn !== undefined) await turn;
    const answer = finishAnswer(await read(), priced);
    answers.keep(target, answer, sequence);
    return answer;
  });
}

/**
 * What a request is paid for with, if it carries an idempotency key.
 *
 * @throws {DomainError} `Invalid Request` for a malformed one.
 */
export function paymentOf({ headers }: Request, target: string): Payment | undefined {
  const name = headers.get("idempotency-key");
  if (name === null) return undefined;
  if (!VISIBLE.test(name) || name.length > IDEMPOTENCY_KEY_MAX_CHARACTERS) {
    throw new DomainError(
      "Invalid Request",
      `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} visible ASCII characters, ` +
        `got ${quote(name)}`,
    );
  }
  return { name, request: new Bun.CryptoHasher("sha256").update(target).digest("hex") };
}

/** Tells what an answer cost. */
export function showCost(headers: AnswerHeaders, { cost, balance }: Receipt): void {
  headers["x-credits-cost"] = String(cost);
  headers["x-credits-remaining"] = String(balance);
}
