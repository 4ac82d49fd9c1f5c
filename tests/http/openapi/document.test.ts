import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import addFormats from "ajv-formats";
import Ajv2020 from "ajv/dist/2020.js";
import packageFile from "../../../package.json";
import { createProgram } from "../../../server/main.ts";
import { startTestService } from "../../support/service.ts";

const ROOT = join(import.meta.dir, "../../..");

interface Schema {
  readonly type?: string;
  readonly [keyword: string]: unknown;
}

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface ResponseObject {
  readonly description: string;
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, Content>>;
}

interface Operation {
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly description: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly headers: Readonly<
      Record<string, { description: string; schema: Schema; example: unknown }>
    >;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

const { address, folder, service, close } = await startTestService();
afterAll(close);

const fetchPath = (path: string) => fetch(`${address}${path}`);

const documentText = await (await fetchPath("/swagger/json")).text();
const document = JSON.parse(documentText) as OpenApiDocument;

const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, operation]) => [`${method.toUpperCase()} ${path}` as string, operation] as const,
  ),
);

const RESPONSES = OPERATIONS.flatMap(([name, { responses }]) =>
  Object.entries(responses).map(
    ([status, response]) => [`${name} ${status}`, { status: Number(status), response }] as const,
  ),
);

/** Runs a command of the project and returns its output. */
async function runTool(...command: string[]) {
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: ROOT,
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  });
  const [out, err, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, exitCode };
}

describe("/swagger/json", () => {
  test("passes the linter of redocly", async () => {
    const file = join(folder, "openapi.json");
    await Bun.write(file, documentText);
    const linted = await runTool("node_modules/.bin/redocly", "lint", "--extends=spec", file);
    expect(linted.out + linted.err).toContain("Your API description is valid");
    expect(linted.exitCode).toBe(0);
  }, 30_000);

  test("is printed by the verb openapi", async () => {
    const printed = await runTool("server/main.ts", "openapi");
    expect(JSON.parse(printed.out)).toEqual(document);
    expect(printed.err).toBe("");
    expect(printed.exitCode).toBe(0);
    expect(createProgram().commands.map((verb) => verb.name())).toContain("openapi");
  }, 30_000);

  test("has the version of package.json", () => {
    expect(document.openapi).toStartWith("3.1");
    expect(document.info.version).toBe(packageFile.version);
  });

  test.each(Object.keys(document.components.schemas))("%s is a valid JSON Schema", (name) => {
    const ajv = new Ajv2020({ strict: false });
    ajv.validateSchema(document.components.schemas[name] ?? {});
    expect(ajv.errors ?? []).toEqual([]);
  });

  test("describes every route of the service but the pages", async () => {
    const routes = service.app.routes
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`)
      .filter((route) => !/^GET \/(?:swagger|assets)/.test(route));
    const operations = OPERATIONS.map(([name]) => name);
    expect(routes).toEqual(expect.arrayContaining(operations));
    for (const route of routes.filter((name) => !operations.includes(name))) {
      const response = await fetchPath(route.replace("GET ", "").replaceAll(/[{}]/g, ""));
      expect(`${route} ${response.headers.get("content-type")}`).toContain(" text/html");
    }
  });

  test.each(OPERATIONS)(
    "%s describes each parameter with a type and bounds",
    (name, { parameters }) => {
      const inPath = parameters.filter((parameter) => parameter.in === "path");
      expect(inPath.map((parameter) => `{${parameter.name}}`)).toEqual(
        name.match(/\{\w+\}/g) ?? [],
      );
      for (const { name: parameter, description, schema } of parameters) {
        const bounds = schema.type === "integer" ? ["minimum", "maximum"] : ["maxLength"];
        const isBound =
          "pattern" in schema || "enum" in schema || bounds.every((bound) => bound in schema);
        expect({ parameter, type: schema.type, isBound }).toEqual({
          parameter,
          type: schema.type === "integer" ? "integer" : "string",
          isBound: true,
        });
        expect(description).not.toBeEmpty();
      }
    },
  );

  test.each(RESPONSES)(
    "%s has a description, headers and an example",
    (_, { status, response }) => {
      expect(response.description).not.toBeEmpty();
      expect(Object.keys(response.headers)).toContain("X-Request-Id");
      for (const { $ref } of Object.values(response.headers)) {
        const header = document.components.headers[$ref.replace("#/components/headers/", "")];
        expect(header?.description).toBeString();
        expect(header?.schema.type).toBeString();
        expect(header?.example).toBeDefined();
      }
      const examples = Object.values(response.content ?? {}).flatMap(listExamples);
      expect(examples.length > 0).toBe(status !== 304);
      const names = Object.keys(response.headers);
      expect(names.includes("Retry-After")).toBe([429, 503].includes(status));
    },
  );

  test("lists the credit headers for charged responses, and for no others", () => {
    const charged = RESPONSES.filter(([, { response }]) => "X-Credits-Cost" in response.headers);
    // The 404 of a request for a saved list, which is read before the debit, is free.
    const isFree404 = (name: string) =>
      /\/(?:channels|users|video\/shorts|microblog\/tweets|compare)|POST/.test(name);
    const expected = RESPONSES.filter(
      ([name, { status }]) =>
        /^(?:GET|POST) \/api\/(?:video|microblog)\//.test(name) &&
        [200, 304, 404].includes(status) &&
        !(status === 404 && isFree404(name)),
    );
    expect(charged.map(([name]) => name)).toEqual(expected.map(([name]) => name));
  });
});

function listExamples({ example, examples = {} }: Content): unknown[] {
  const named = Object.values(examples).map(({ value }) => value);
  return example === undefined ? named : [example, ...named];
}

describe("the examples of /swagger/json", () => {
  const ajv = addFormats(new Ajv2020({ allErrors: true, strict: false }));
  ajv.addSchema({ $id: "openapi", components: document.components });

  const contents = OPERATIONS.flatMap(([name, { requestBody, responses }]) =>
    [["request", requestBody] as const, ...Object.entries(responses)].flatMap(([status, body]) =>
      Object.entries(body?.content ?? {}).map(
        ([type, content]) => [`${name}, ${status}, ${type}`, content] as const,
      ),
    ),
  );

  test.each(contents)("%s: the example matches its schema", (_, content) => {
    const schema = JSON.parse(
      JSON.stringify(content.schema).replaceAll('"#/', '"openapi#/'),
    ) as Schema;
    const validate = ajv.compile(schema);
    for (const example of listExamples(content)) {
      validate(example);
      expect(validate.errors ?? []).toEqual([]);
    }
  });

  test("would not match their schema with a field missing, added or of another type", () => {
    const validate = ajv.compile({ $ref: "openapi#/components/schemas/ChannelDetails" });
    const operation = document.paths["/api/video/{channel}/details"]?.["get"];
    const content = operation?.responses["200"]?.content?.["application/json"];
    const example: Readonly<Record<string, unknown>> = Object(content?.example);
    const { country, ...rest } = example;
    expect(validate(example)).toBe(true);
    expect(country).toBeString();
    expect(validate(rest)).toBe(false);
    expect(validate({ ...example, added: 1 })).toBe(false);
    expect(validate({ ...example, joinedAt: "yesterday" })).toBe(false);
  });
});
