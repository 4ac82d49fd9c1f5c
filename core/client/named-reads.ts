/** The reads that channels and users share, and those of several entities by name or identifier. */
import type * as resources from "../resources/generated/types.ts";
import type { Result } from "./attempt.ts";
import { list } from "./listing.ts";
import type { NamesOrList, OwnerClient } from "./methods.ts";
import { assertAllowed, type RequestOptions } from "./options.ts";
import type { PathSegment, Send } from "./request.ts";

/** The buckets of a history. */
export const readBuckets = <Bucket>(page: {
  readonly history: readonly Bucket[];
}): readonly Bucket[] => page.history;

type CursorPage = Pick<resources.ChannelHistory, "pagination">;

interface BatchBody {
  readonly results: readonly unknown[];
}

/** Reads a batch of items by their identifiers. */
export async function readBatch<Batch extends BatchBody>(
  send: Send,
  path: readonly PathSegment[],
  ids: readonly string[],
  options?: RequestOptions,
): Promise<Result<Batch>> {
  assertAllowed("ids", ids, isTexts(ids), "an array of names");
  return sendBatch(send, path, { ids }, options);
}

const isTexts = (values: unknown) =>
  Array.isArray(values) && values.every((value) => typeof value === "string");

function sendBatch<Batch extends BatchBody>(
  send: Send,
  path: readonly PathSegment[],
  body: object,
  options?: RequestOptions,
): Promise<Result<Batch>> {
  const probe = ({ results }: Batch) => results.length;
  return send({ method: "POST", path, body, probe }, options);
}

/** Creates the reads of owners. A request has one owner as `name`, several as its plural. */
export function createOwnerClient<
  History extends CursorPage & { readonly history: readonly unknown[] },
  Batch extends BatchBody,
  Comparison extends CursorPage & { readonly count: string; readonly rows: readonly unknown[] },
>(send: Send, root: string, name: "channel" | "username"): OwnerClient<History, Batch, Comparison> {
  const plural = `${name}s`;
  const createNames = (names: NamesOrList) =>
    isList(names) ? { list: names.list } : { [plural]: names };
  return {
    history: (owner, query, options) =>
      list(send, [root, { [name]: owner }, "history"], query, readBuckets, options),
    async details(names, options) {
      const isNames = isList(names) ? typeof names.list === "string" : isTexts(names);
      assertAllowed(plural, names, isNames, "an array of names, or a list");
      return sendBatch(send, [root, "details"], createNames(names), options);
    },
    compare: (names, query, options) =>
      list(send, [root, "compare"], query, (page) => page.rows, options, createNames(names)),
  };
}

/** The rows of a comparison: all of one kind. */
export const readRows = <Page extends { readonly rows: readonly unknown[] }>(
  page: Page,
): readonly Page["rows"][number][] => page.rows;

const isList = (names: NamesOrList): names is { readonly list: string } =>
  typeof names === "object" && names !== null && "list" in names;
