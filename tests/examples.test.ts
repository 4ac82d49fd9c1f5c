/** Runs every `@example` of core and server, and every example of core/README.md. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import jsr from "../core/jsr.json";
import * as core from "../core/mod.ts";
import { ROOT } from "./support/docs.ts";

const CORE = join(ROOT, "core");

/** A statement of an example, and what a comment after it says that it evaluates to. */
interface Statement {
  readonly code: string;
  readonly expected: string | undefined;
}

/** The `@example` blocks of a source file, without the asterisks of the comment. */
function parseExamples(source: string): string[] {
  const comments = source.matchAll(/^ *\/\*\*\n(.*?)^ *\*\//gms);
  return Array.from(comments, ([, comment = ""]) => comment.replaceAll(/^ *\* ?/gm, ""))
    .flatMap((comment) => comment.split(/^@example$/m).slice(1))
    .map((example) => example.split(/^@\w+/m)[0]?.trim() ?? "");
}

/** A statement that ends a line, or is followed by a comment behind it or in the next line. */
const STATEMENT = /(.+?;)(?:[ \n]\/\/ ([^\n]+))?(?:\n|$)/gs;

function parseStatements(example: string): Statement[] {
  const statements = example.matchAll(STATEMENT);
  return Array.from(statements, ([, code = "", expected]) => ({ code: code.trim(), expected }));
}

const AsyncFunction = (async () => {}).constructor as FunctionConstructor;

/** Runs the statements with the exports of the file in scope; returns what was checked. */
async function evaluate(
  statements: readonly Statement[],
  exports: Readonly<Record<string, unknown>>,
) {
  const results: { code: string; actual: unknown; expected: unknown }[] = [];
  const check = (code: string, actual: unknown, expected: unknown) =>
    results.push({ code, actual, expected });
  const body = statements.map(({ code, expected }) =>
    expected === undefined
      ? code
      : `check(${JSON.stringify(code)}, ${code.replace(/;$/, "")}, (${expected}));`,
  );
  const run = new AsyncFunction("check", ...Object.keys(exports), body.join("\n"));
  await run(check, ...Object.values(exports));
  return results;
}

const files = ["core", "server"].flatMap((folder) =>
  Array.from(new Glob(`${folder}/**/*.ts`).scanSync(ROOT))
    .filter((file) => !file.startsWith("core/dist/"))
    .toSorted(),
);
const examples: (readonly [file: string, number: number, example: string])[] = [];
let count = 0;
for (const file of files) {
  const source = await Bun.file(join(ROOT, file)).text();
  count += source.split("@example").length - 1;
  const ofFile = file === "core/mod.ts" ? [] : parseExamples(source);
  examples.push(...ofFile.map((example, index) => [file, index + 1, example] as const));
}

describe("@example", () => {
  test("is found in every place, core/mod.ts apart", () => {
    expect(examples.length).toBe(count - 1);
    expect(examples.length).toBeGreaterThan(50);
  });

  test.each(examples)("%s, example %d gives what it says", async (file, _number, example) => {
    // An example of core may use what else the package exports.
    const others = file.startsWith("core/") ? core : {};
    const exports: Record<string, unknown> = { ...others, ...(await import(join(ROOT, file))) };
    const statements = parseStatements(example);
    expect(example.replaceAll(STATEMENT, "")).toBe("");
    for (const { code, expected } of statements) {
      if (expected === undefined) expect(code).toMatch(/^const /);
    }
    const results = await evaluate(statements, exports);
    expect(results).not.toBeEmpty();
    for (const { actual, expected } of results) expect(actual).toEqual(expected);
  });
});

describe("core", async () => {
  const sources = await Promise.all(
    files
      .filter((file) => file.startsWith("core/"))
      .map((file) => Bun.file(join(ROOT, file)).text()),
  );
  // A comment, then what it is about, and what that is.
  const declarations = sources.flatMap((source) =>
    Array.from(
      source.matchAll(
        /(^\/\*\*(?:(?!\*\/).)*\*\/\n)?^export (?:declare )?(?:async )?(?:class|const|function|interface|type) (\w+)/gms,
      ),
      ([, comment = "", name = ""]) => ({ name, comment }),
    ),
  );

  test("has a comment for every export", () => {
    expect(declarations.length).toBeGreaterThan(200);
    expect(declarations.filter(({ comment }) => comment === "")).toEqual([]);
  });

  test.each(Object.entries(jsr.exports))(
    "has an example for every function of the entry %s",
    async (_entry, file) => {
      const exports: Record<string, unknown> = await import(join(CORE, file));
      const names = Object.keys(exports).filter((name) => typeof exports[name] === "function");
      const withExample = declarations.filter(({ comment }) => comment.includes("@example"));
      const found = new Set(withExample.map(({ name }) => name));
      expect(names.filter((name) => !found.has(name))).toEqual([]);
    },
  );
});

/** Runs an example as its reader would, and returns what it prints. */
async function runExample(code: string): Promise<string> {
  const child = Bun.spawn([process.execPath, "run", "-"], {
    cwd: CORE,
    stdin: Buffer.from(code.replaceAll('from "@creator-metrics/core"', 'from "./mod.ts"')),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [printed, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(errors).toBe("");
  // The console writes longer objects over several lines, with a last comma.
  return printed.replaceAll(/\s+/g, " ").replaceAll(", }", " }").trim();
}

/** The output of an example according to its comments. */
const parseExpectedOutput = (code: string) =>
  Array.from(code.matchAll(/^(?:console\.log.*; )?\/\/ (.*)$/gm), ([, text]) => text).join(" ");

describe("core/mod.ts", () => {
  test("its example prints what it says", async () => {
    const [example = ""] = parseExamples(await Bun.file(join(CORE, "mod.ts")).text());
    expect(await runExample(example)).toBe(parseExpectedOutput(example));
  });
});

describe("core/README.md", async () => {
  const readme = await Bun.file(join(CORE, "README.md")).text();
  const blocks = Array.from(readme.matchAll(/```ts\n(.*?)```/gs), ([, code = ""]) => code);

  test("has an example for each part", () => expect(blocks.length).toBe(8));

  test.each(blocks.map((code, index) => [index + 1, code] as const))(
    "example %d prints what it says",
    async (_number, code) => {
      expect(await runExample(code)).toBe(parseExpectedOutput(code));
    },
  );
});
