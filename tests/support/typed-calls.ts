/** Writes a program for the compiler, with every operation of the OpenAPI document in our client. */
import { join } from "node:path";
import { ROOT } from "./docs.ts";
import {
  listOperations,
  type DescribedOperation,
  type JsonSchema,
  type OpenApiDocument,
} from "./openapi-examples.ts";

const importPath = (file: string) => JSON.stringify(join(ROOT, file));

/** What every program begins with. `same()` does not compile for types that differ, or are any. */
const HEAD = `
import type { Client, Listing, Result, ErrorCode } from ${importPath("core/client/mod.ts")};
import type * as resources from ${importPath("core/resources/generated/types.ts")};

type IsAny<T> = 0 extends 1 & T ? true : false;
type IsSame<A, B> = IsAny<A> extends true ? false
  : [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const same = <A, B>(areSame: IsSame<A, B>) => areSame;
/** The body that a method of our client gives, or the page of a list; and the query of the method. */
type BodyOf<Method extends (...parameters: never) => unknown> =
  ReturnType<Method> extends Promise<Result<infer Body>> ? Body
  : ReturnType<Method> extends Listing<unknown, infer Page> ? Page : never;
type QueryOf<Method extends (...parameters: never) => unknown> =
  Required<Parameters<Method>> extends [...unknown[], infer Query, unknown]
    ? { [Name in keyof Query]-?: Exclude<Query[Name], undefined> } : never;

// @ts-expect-error It is unknown.
same<unknown, resources.ChannelDetails>(true);
// @ts-expect-error It is any.
same<any, resources.ChannelDetails>(true);
// @ts-expect-error It has another field.
same<{ id: string; other: string }, { id: string }>(true);
`;

const formatUnion = (values: readonly unknown[]) =>
  values.map((value) => JSON.stringify(value)).join(" | ");

function formatResource(schema: JsonSchema): string {
  return `resources.${String(schema.$ref).replace("#/components/schemas/", "")}`;
}

function formatQuery({ operation }: DescribedOperation): string | undefined {
  const parameters = operation.parameters.filter(
    ({ name, in: location }) => location === "query" && !OWN_PARAMETERS.has(name),
  );
  if (parameters.length === 0) return undefined;
  const fields = parameters.map(({ name, required, schema }) => {
    const type = schema.type === "integer" ? "number" : formatUnionOrText(schema);
    return `${name}${required ? "" : "?"}: ${type}`;
  });
  return `{ ${fields.join("; ")} }`;
}

/** The type of a text: its values, or any text if a pattern describes some of them. */
function formatUnionOrText({ enum: values }: JsonSchema): string {
  return values === undefined ? "string" : formatUnion(values);
}

/** The methods of our client by operation; those of operations without a key are missing. */
const CLIENT_METHODS: Readonly<Record<string, string>> = {
  listChannels: "video.channels",
  getChannel: "video.channel",
  batchChannels: "video.details",
  listShorts: "video.shorts",
  getShort: "video.short",
  getChannelHistory: "video.history",
  compareChannels: "video.compare",
  getShortHistory: "video.shortHistory",
  listUsers: "microblog.users",
  getUser: "microblog.user",
  batchUsers: "microblog.details",
  listTweets: "microblog.tweets",
  listFollowers: "microblog.followers",
  getTweet: "microblog.tweet",
  getUserHistory: "microblog.history",
  compareUsers: "microblog.compare",
  getTweetHistory: "microblog.tweetHistory",
  getAccount: "account",
  listCreators: "creators.list",
  addCreator: "creators.add",
  removeCreator: "creators.remove",
};

/** What the client fills in by itself, or has as an argument. */
const OWN_PARAMETERS = new Set(["format", "channels", "usernames"]);

function formatClientChecks(id: string, described: DescribedOperation): string {
  const [success] = Object.values(described.operation.responses);
  const json = success?.content?.["application/json"];
  if (json === undefined) throw new Error(`${id} has no JSON`);
  const steps = (CLIENT_METHODS[id] ?? `missing.${id}`).split(".");
  const method = `Client${steps.map((step) => `["${step}"]`).join("")}`;
  const query = formatQuery(described);
  return [
    `// ${id}`,
    `same<BodyOf<${method}>, ${formatResource(json.schema)}>(true);`,
    ...(query === undefined ? [] : [`same<QueryOf<${method}>, Required<${query}>>(true);`]),
  ].join("\n");
}

/** Lists the operations with an API key. */
export function listKeyOperations(document: OpenApiDocument) {
  return listOperations(document).filter(([, { path }]) => path.startsWith("/api/"));
}

/** Writes the program. It compiles if the client has the types that the document states. */
export function writeTypedCalls(document: OpenApiDocument): string {
  const names = document.components.schemas["ServiceError"]?.properties?.["error"]?.enum ?? [];
  return [
    HEAD,
    `same<ErrorCode, ${formatUnion(names)}>(true);`,
    ...listKeyOperations(document).map(([id, described]) => formatClientChecks(id, described)),
  ].join("\n");
}
