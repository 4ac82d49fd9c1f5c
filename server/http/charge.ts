/**
 * Priced reads: the debit is committed before the read, and given back if it fails. An answer that
 * still holds is not made again, and costs the same.
 */
import { isCharged } from "../../core/credits.ts";
import { DomainError, quote } from "../../core/errors.ts";
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from "../../core/limits.ts";
import { finishAnswer, holds, type Answer, type Answers, type Reading } from "./answers.ts";
import type { AnswerHeaders, Caller } from "./door.ts";
import { STATUSES, asDomainError } from "./errors.ts";

/** What a request is charged. */
export interface Charge {
  readonly account: number;
  readonly key: number;
  /** As the reference names it. */
  readonly endpoint: string;
  /** In credits. */
  readonly cost: number;
  /** Its idempotency key, and the SHA-256 of what it asks for. */
  readonly payment?: { readonly name: string; readonly request: string } | undefined;
}

/** A request that may be answered. */
export interface Receipt {
  /** What it was charged; 0 where its idempotency key had paid before. */
  readonly cost: number;
  readonly balance: number;
  /** The last change that had been observed when it was committed. */
  readonly sequence: number;
}

/** Charges and refunds. */
export interface Charger {
  debit(charge: Charge): Promise<Receipt>;
  refund(receipt: Receipt, reason: string): Promise<void>;
}

/** What priced reads are made with. */
export interface ChargeParts {
  readonly charger: Charger;
  readonly answers: Answers;
  /** The clock, in milliseconds. */
  now(): number;
}

/** A request for a priced read. */
export interface ReadRequest {
  readonly caller: Caller;
  /** As the reference names it. */
  readonly endpoint: string;
  /** The path and query, as they were sent: the same target has the same answer. */
  readonly target: string;
  /** In credits. */
  readonly cost: number;
  readonly idempotencyKey: string | null;
  /** Checks the parameters; gives the read. Those of an answer that is kept were accepted. */
  prepare(): () => Promise<Reading>;
}

const VISIBLE = /^[\x21-\x7e]+$/;

/**
 * Charges a request, and answers it. What is found or is not there stays charged; what fails is
 * refunded.
 *
 * @param headers Told what the answer cost, whatever it is.
 * @throws {DomainError} `Insufficient Credits`, `Invalid Request`; whatever the read throws.
 */
export async function chargedRead(
  { charger, answers, now }: ChargeParts,
  { caller, endpoint, target, cost, idempotencyKey, prepare }: ReadRequest,
  headers: AnswerHeaders,
): Promise<Answer> {
  let answer = answers.find(target, now());
  const read = answer === undefined ? prepare() : undefined;
  const { account, key } = caller;
  const payment = idempotencyKey === null ? undefined : paymentOf(idempotencyKey, target);
  const receipt = await charger.debit({ account, key, endpoint, cost, payment });
  try {
    if (answer === undefined || !holds(answer, now())) {
      answer = finishAnswer(await (read ?? prepare())());
      answers.keep(target, answer, receipt.sequence);
    }
    showCost(headers, receipt);
    return answer;
  } catch (error) {
    if (isCharged(STATUSES[asDomainError(error).code])) showCost(headers, receipt);
    else await charger.refund(receipt, "The answer failed");
    throw error;
  }
}

/** What a request is paid for with. */
function paymentOf(name: string, target: string): Charge["payment"] {
  if (!VISIBLE.test(name) || name.length > IDEMPOTENCY_KEY_MAX_CHARACTERS) {
    throw new DomainError(
      "Invalid Request",
      `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} visible ASCII characters, ` +
        `got ${quote(name)}`,
    );
  }
  return { name, request: new Bun.CryptoHasher("sha256").update(target).digest("hex") };
}

function showCost(headers: AnswerHeaders, { cost, balance }: Receipt): void {
  headers["x-credits-cost"] = String(cost);
  headers["x-credits-remaining"] = String(balance);
}
