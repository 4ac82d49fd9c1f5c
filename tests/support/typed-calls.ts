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
    ({ name, in: location }) => location === "query" && !isOwnParameter(operation, name),
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
const CLIENT_METHODS: Readonly<Record<string, string | readonly string[]>> = {
  listChannels: ["video.channels", "video.channelTable"],
  getChannel: "video.channel",
  batchChannels: "video.details",
  listShorts: "video.shorts",
  listAllShorts: "video.shortTable",
  batchShorts: "video.shortDetails",
  compareShorts: "video.compareShorts",
  getShort: "video.short",
  getChannelHistory: "video.history",
  compareChannels: "video.compare",
  getShortHistory: "video.shortHistory",
  getChannelMetrics: "video.metrics",
  getShortMetrics: "video.shortMetrics",
  listUsers: ["microblog.users", "microblog.userTable"],
  getUser: "microblog.user",
  batchUsers: "microblog.details",
  listTweets: "microblog.tweets",
  listAllTweets: "microblog.tweetTable",
  batchTweets: "microblog.tweetDetails",
  compareTweets: "microblog.compareTweets",
  listFollowers: "microblog.followers",
  getTweet: "microblog.tweet",
  getUserHistory: "microblog.history",
  compareUsers: "microblog.compare",
  getTweetHistory: "microblog.tweetHistory",
  getUserMetrics: "microblog.metrics",
  getTweetMetrics: "microblog.tweetMetrics",
  listMetrics: "metrics",
  getAccount: "account",
  rotateKey: "rotateKey",
  listCreators: "creators.list",
  addCreator: "creators.add",
  removeCreator: "creators.remove",
  listSavedLists: "lists.list",
  getSavedList: "lists.read",
  putSavedList: "lists.put",
  changeSavedList: "lists.change",
  deleteSavedList: "lists.delete",
};

/** What the client fills in by itself, or has as an argument. */
const OWN_PARAMETERS = new Set(["format", "fields", "channels", "usernames", "ids"]);

/** The client has a list in place of names as an argument, too. */
const isOwnParameter = ({ operationId }: DescribedOperation["operation"], name: string) =>
  OWN_PARAMETERS.has(name) || (name === "list" && operationId.startsWith("compare"));

function formatClientChecks(id: string, described: DescribedOperation): string {
  const [success] = Object.values(described.operation.responses);
  const json = success?.content?.["application/json"];
  if (json === undefined) throw new Error(`${id} has no JSON`);
  const methods = [CLIENT_METHODS[id] ?? `missing.${id}`].flat().map((name) => {
    const steps = name.split(".");
    return `Client${steps.map((step) => `["${step}"]`).join("")}`;
  });
  const bodies = methods.map((method) => `BodyOf<${method}>`).join(" | ");
  const query = formatQuery(described);
  const own = formatUnion([...OWN_PARAMETERS]);
  return [
    `// ${id}`,
    `same<${bodies}, ${formatResource(json.schema)}>(true);`,
    ...methods.flatMap((method) =>
      query === undefined
        ? []
        : [`same<Omit<QueryOf<${method}>, ${own}>, Required<${query}>>(true);`],
    ),
  ].join("\n");
}

/** Lists the operations with an API key and JSON, which the client has; not those of sessions. */
export function listKeyOperations(document: OpenApiDocument) {
  return listOperations(document).filter(
    ([, { path, operation }]) =>
      path.startsWith("/api/") &&
      path !== "/api/session" &&
      Object.values(operation.responses)[0]?.content?.["application/json"] !== undefined,
  );
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
