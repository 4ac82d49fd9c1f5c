/** Requests lists of users or tweets from X; reads errors, and why X left something out. */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quoteValue } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { DAY_MS } from "../../../core/time.ts";
import { joinMessages, parseItems, readStatusError } from "../client/responses.ts";
import {
  SourceError,
  type CollectorContext,
  type SourceRequest,
  type SourceResponse,
} from "../collector.ts";
import { throwMissing } from "../poll-tasks.ts";
import { findQuotaReset } from "../quota-budget.ts";
import { X } from "./source.ts";

const Problem = Type.Object({
  type: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  /** The period of a usage cap, such as `Daily`. */
  period: Type.Optional(Type.String()),
  value: Type.Optional(Type.String()),
  resource_id: Type.Optional(Type.String()),
});

const TOKEN_PROBLEMS = /^(?:client-forbidden|client-not-enrolled|unsupported-authentication)$/;

export function readError(response: SourceResponse, now: number): SourceError | undefined {
  const { status, body } = response;
  const { type = "", title, detail, period } = Value.Check(Problem, body) ? body : {};
  const description = joinMessages(title, detail);
  const error = readStatusError(X.title, response, now, description);
  if (error === undefined) return undefined;
  const { message: reason } = error;
  // Only the last segment identifies a problem type: the host has changed before.
  const problemType = type.slice(type.lastIndexOf("/") + 1);
  if (status === 429 && problemType === "usage-capped") {
    const date = new Date(now);
    const nextMonth = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
    const until = period === "Daily" ? findQuotaReset(now, "UTC") : nextMonth;
    return new SourceError("stop", `The usage cap is reached: ${reason}`, { until });
  }
  if (status === 402) {
    // Credits can be bought without a change of the settings.
    const until = now + DAY_MS;
    return new SourceError("stop", `The account at X has no credits left: ${reason}`, { until });
  }
  if (status === 401 || (status === 403 && TOKEN_PROBLEMS.test(problemType))) {
    return new SourceError("stop", `X refuses the bearer token: ${reason}`);
  }
  const isGone = (status === 404 || status === 410) && description !== "";
  return isGone ? new SourceError("not-found", reason) : error;
}

const ListResponse = Type.Object({
  data: Type.Optional(Type.Array(Type.Unknown())),
  errors: Type.Optional(Type.Array(Type.Unknown())),
  meta: Type.Optional(Type.Object({ next_token: Type.Optional(Type.String()) })),
});

/** Requests a list of users or tweets. `checkExists()` throws why X left out one, if X says why. */
export async function fetchList<Schema extends TSchema>(
  { request }: CollectorContext,
  itemSchema: Schema,
  listRequest: Omit<SourceRequest<Schema>, "schema">,
) {
  const { data, errors = [], meta } = await request({ ...listRequest, schema: ListResponse });
  if (data === undefined && meta === undefined && errors.length === 0) {
    throw new SourceError("failed", `X answered ${listRequest.path} with neither data nor errors`);
  }
  return {
    ...parseItems(X.title, itemSchema, data ?? []),
    hasOnlyErrors: data === undefined && errors.length > 0,
    nextToken: meta?.next_token,
    checkExists(kind: "user" | "tweet", id: string, shownId = id): void {
      const problem = findProblem(id, errors);
      if (problem !== undefined) throwMissing(describeProblem(`The ${kind} ${shownId}`, problem));
    },
  };
}

function findProblem(id: string, errors: readonly unknown[]) {
  const matches = (text = "") => foldCase(text) === foldCase(id);
  return errors
    .filter((error) => Value.Check(Problem, error))
    .find(({ value, resource_id }) => matches(value) || matches(resource_id));
}

function describeProblem(what: string, { type = "", title, detail }: Static<typeof Problem>) {
  const description = joinMessages(title, detail);
  const isProtected =
    type.endsWith("/not-authorized-for-resource") || /not authorized/i.test(description);
  const isSuspended = /suspended|forbidden/i.test(description);
  const state = isSuspended ? "is suspended" : isProtected ? "is protected" : "is gone";
  const suffix = description === "" ? "" : `: X says ${quoteValue(description)}`;
  return `${what} ${state}${suffix}`;
}
