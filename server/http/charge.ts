/**
 * Priced reads: the debit is committed before the read, and given back if it fails. An answer that
 * still holds is not made again, and not sent again to who has it; both cost the same.
 */
import { isCharged } from "../../core/credits.ts";
import { DomainError, quote } from "../../core/errors.ts";
import { finishAnswer, type Answer, type Answers, type Reading } from "./answers.ts";
import { targetOf, visitOf } from "./door.ts";
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

/** The parts of a route's context that a priced read uses. */
interface ReadContext {
  readonly request: Request;
  readonly set: { readonly headers: Record<string, string | number | undefined> };
}

/** How a read is priced and made. */
export interface PricedRead<Body> {
  /** In credits. */
  readonly cost: number;
  read(): Promise<Reading<Body>>;
  /** More headers of the answer. */
  headersOf?(body: Body): Readonly<Record<string, string>>;
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Charges a request whose parameters were accepted, and answers it. What is found or is not there
 * stays charged; what fails is refunded.
 *
 * @throws {DomainError} `Insufficient Credits`, `Invalid Request` for an idempotency key; whatever
 * the read throws.
 */
export async function chargedRead<Body>(
  { charger, answers, now }: ChargeParts,
  { request, set }: ReadContext,
  priced: PricedRead<Body>,
): Promise<string | Response> {
  const { account, key, endpoint } = visitOf(request);
  const target = targetOf(request);
  const payment = paymentOf(request, target);
  const receipt = await charger.debit({ account, key, endpoint, cost: priced.cost, payment });
  let answer = answers.find(target, now());
  try {
    if (answer === undefined) {
      answer = await makeAnswer(priced);
      answers.keep(target, answer, receipt.sequence);
    }
  } catch (error) {
    if (isCharged(STATUSES[asDomainError(error).code])) showCost(set.headers, receipt);
    else await charger.refund(receipt, "The answer failed");
    throw error;
  }
  showCost(set.headers, receipt);
  set.headers["etag"] = answer.etag;
  for (const name in answer.headers) set.headers[name] = answer.headers[name];
  const known = request.headers.get("if-none-match");
  if (known !== null && names(known, answer.etag)) return new Response(null, { status: 304 });
  set.headers["content-type"] = "application/json";
  return answer.body;
}

async function makeAnswer<Body>({ read, headersOf }: PricedRead<Body>): Promise<Answer> {
  const reading = await read();
  return finishAnswer(reading, headersOf?.(reading.body));
}

/** What a request is paid for with, if it carries an idempotency key. */
function paymentOf(request: Request, target: string): Charge["payment"] {
  const name = request.headers.get("idempotency-key");
  if (name === null) return undefined;
  if (!IDEMPOTENCY_KEY.test(name)) {
    throw new DomainError(
      "Invalid Request",
      `Idempotency-Key must be 1 to 255 visible characters, got ${quote(name)}`,
    );
  }
  return { name, request: new Bun.CryptoHasher("sha256").update(target).digest("hex") };
}

/** Whether an `If-None-Match` names an entity tag. */
function names(known: string, etag: string): boolean {
  return known
    .split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""))
    .some((tag) => tag === etag || tag === "*");
}

function showCost(
  headers: Record<string, string | number | undefined>,
  { cost, balance }: Receipt,
): void {
  headers["x-credits-cost"] = String(cost);
  headers["x-credits-remaining"] = String(balance);
}

/** Every value that the query of a request gives a parameter, in order. */
export function queryValues({ url }: Request): (name: string) => readonly string[] {
  const start = url.indexOf("?");
  if (start === -1) return () => [];
  const parameters = new URLSearchParams(url.slice(start));
  return (name) => parameters.getAll(name);
}
