/** Writes a program that calls every operation of the OpenAPI document with Eden, for the compiler. */
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
import { treaty } from "@elysiajs/eden";
import type { ServiceErrorName } from ${importPath("core/client/mod.ts")};
import type * as resources from ${importPath("core/resources/mod.ts")};
import type * as health from ${importPath("server/http/openapi/health-schema.ts")};
import type { App } from ${importPath("server/http/app.ts")};

type IsAny<T> = 0 extends 1 & T ? true : false;
type IsSame<A, B> = IsAny<A> extends true ? false
  : [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const same = <A, B>(areSame: IsSame<A, B>) => areSame;
type Response<Call extends (...parameters: never) => Promise<unknown>> = Awaited<ReturnType<Call>>;
type ErrorOf<R extends { error: unknown }> = NonNullable<R["error"]>;
type ErrorText<E, Status> = Extract<E, { status: Status }> extends { value: { error: infer Text } } ? Text : never;

const client = treaty<App>("http://127.0.0.1:1", { parseDate: false });

// @ts-expect-error There is no such operation.
client.api.video({ channel: "a" }).nothing.get();
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
  const name = String(schema.$ref).replace("#/components/schemas/", "");
  return /^(?:Health|Readiness)$/.test(name) ? `health.${name}` : `resources.${name}`;
}

/** The function that sends a request: `client["api"]["video"]({ channel: "x" })["details"]["get"]`. */
function formatFunction({ path, method }: DescribedOperation): string {
  const steps = path.split("/").slice(1);
  const called = steps.map((step) =>
    step.startsWith("{") ? `({ ${step.slice(1, -1)}: "x" })` : `[${JSON.stringify(step)}]`,
  );
  return `client${called.join("")}.${method.toLowerCase()}`;
}

function formatQuery({ operation }: DescribedOperation): string | undefined {
  const parameters = operation.parameters.filter(
    ({ name, in: location }) => location === "query" && name !== "format",
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

function formatChecks(id: string, described: DescribedOperation): string {
  const { operation } = described;
  const send = formatFunction(described);
  const query = formatQuery(described);
  const body = operation.requestBody?.content["application/json"];
  const responses = Object.entries(operation.responses);
  const [success] = responses;
  const json = success?.[1].content?.["application/json"];
  const errors = responses.filter(([status]) => Number(status) >= 400);
  const parameters = `Parameters<typeof ${id}>`;
  const options = `NonNullable<${parameters}[${body === undefined ? 0 : 1}]>`;
  return [
    `const ${id} = ${send};`,
    `type ${id} = Response<typeof ${id}>;`,
    `same<NonNullable<${id}["data"]>, ${json === undefined ? "string" : formatResource(json.schema)}>(true);`,
    ...(query === undefined ? [] : [`same<${options}["query"] & {}, ${query}>(true);`]),
    ...(body === undefined
      ? []
      : [`same<${parameters}[0], ${formatResource(body.schema)}>(true);`]),
    `same<ErrorOf<${id}>["status"], ${errors.map(([status]) => status).join(" | ")}>(true);`,
    ...errors.map(([status, { content }]) => {
      const error = content?.["application/json"]?.schema.properties?.["error"] ?? {};
      return `same<ErrorText<ErrorOf<${id}>, ${status}>, ${formatUnionOrText(error)}>(true);`;
    }),
  ].join("\n");
}

/** Writes the program. It compiles if Eden has the types that the document states. */
export function writeEdenCalls(document: OpenApiDocument): string {
  const names = document.components.schemas["ServiceError"]?.properties?.["error"]?.enum ?? [];
  return [
    HEAD,
    `same<ServiceErrorName, ${formatUnion(names)}>(true);`,
    ...listOperations(document).map(([id, described]) => formatChecks(id, described)),
  ].join("\n");
}
