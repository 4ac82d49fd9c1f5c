import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const CORE = join(import.meta.dir, "../../core");

/** Runs an example as its reader would and gives what it prints. */
async function runExample(code: string): Promise<string> {
  const child = Bun.spawn([process.execPath, "run", "-"], {
    cwd: CORE,
    stdin: Buffer.from(code.replaceAll('from "creator-metrics"', 'from "./mod.ts"')),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [printed, complaints] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(complaints).toBe("");
  // The console writes longer objects over several lines, with a last comma.
  return printed.replaceAll(/\s+/g, " ").replaceAll(", }", " }").trim();
}

/** What the comments of an example say that it prints. */
const parseExpectedOutput = (code: string) =>
  Array.from(code.matchAll(/^(?:console\.log.*; )?\/\/ (.*)$/gm), ([, text]) => text).join(" ");

describe("examples of core/README.md print what they say", async () => {
  const readme = await Bun.file(join(CORE, "README.md")).text();
  const examples = Array.from(readme.matchAll(/```ts\n(.*?)```/gs), ([, code = ""]) => code);

  test("there is one for each part", () => expect(examples.length).toBe(4));

  test.each(examples.map((code, index) => [index + 1, code] as const))(
    "example %d",
    async (_, code) => {
      expect(await runExample(code)).toBe(parseExpectedOutput(code));
    },
  );
});

describe("core/cursor.ts", () => {
  test("the example of encodeCursor() gives what it says", async () => {
    const source = await Bun.file(join(CORE, "cursor.ts")).text();
    const [, call = "", given = ""] = /\* (encodeCursor\(.*\)); \/\/ (".*")$/m.exec(source) ?? [];
    const code = `import { encodeCursor } from "./cursor.ts"; console.log(JSON.stringify(${call}))`;
    expect(await runExample(code)).toBe(given);
  });
});

describe("core/mod.ts", () => {
  const files = readdirSync(CORE).filter((name) => name.endsWith(".ts") && name !== "mod.ts");

  test.each(files)("exports what %s has", async (name) => {
    const face = await Bun.file(join(CORE, "mod.ts")).text();
    expect(face).toMatch(new RegExp(`^export (?:type )?\\* from "\\./${name}";$`, "m"));
  });

  test("its example prints what it says", async () => {
    const source = await Bun.file(join(CORE, "mod.ts")).text();
    const [, comment = ""] = /@example\n(.*?)\n \*\n \* @module/s.exec(source) ?? [];
    const code = comment.replaceAll(/^ \* ?/gm, "");
    expect(await runExample(code)).toBe(parseExpectedOutput(code));
  });
});
