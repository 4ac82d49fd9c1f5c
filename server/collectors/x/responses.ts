/** Reads the parts that responses of X share: lists, and the problems of what they leave out. */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quoteValue } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { joinMessages, parseItems } from "../client/responses.ts";
import { SourceError, type CollectorContext, type SourceRequest } from "../collector.ts";
import { X } from "./source.ts";

/** A problem of a whole request, or of one of the things requested. */
export const Problem = Type.Object({
  type: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  /** The period of a usage cap, such as `Daily`. */
  period: Type.Optional(Type.String()),
  /** The requested name or identifier. */
  value: Type.Optional(Type.String()),
  resource_id: Type.Optional(Type.String()),
});

const ListResponse = Type.Object({
  data: Type.Optional(Type.Array(Type.Unknown())),
  errors: Type.Optional(Type.Array(Type.Unknown())),
  meta: Type.Optional(Type.Object({ next_token: Type.Optional(Type.String()) })),
});

/**
 * Requests a list of users or tweets, and returns the valid ones.
 *
 * @returns `explainMissing()` says why X left out a thing requested; `undefined` if it does not say.
 * @throws {SourceError} `failed`: the response is no list, or all of several items are invalid.
 */
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
    explainMissing: (kind: "user" | "tweet", id: string, shownId = id) => {
      const problem = findProblem(id, errors);
      return problem && describeProblem(`The ${kind} ${shownId}`, problem);
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
