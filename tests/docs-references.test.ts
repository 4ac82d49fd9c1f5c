/** Checks that the scripts, commands, files, folders and links that documents name exist. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import jsr from "../core/jsr.json";
import packageFile from "../package.json";
import { createProgram } from "../server/main.ts";
import {
  DOC_FILES,
  findSection,
  listVerbs,
  parseAnchors,
  parseInlineCode,
  parseLinks,
  parseTable,
  readDoc,
  ROOT,
} from "./support/docs.ts";

const COMMAND_NAMES = listVerbs(createProgram()).map(([name]) => name);

describe("core/README.md", () => {
  test("links to no file of the repository, which the package does not have", async () => {
    const links = Array.from((await readDoc("core/README.md")).matchAll(/\]\(([^)]*)\)/g));
    const targets = links.map(([, target = ""]) => target);
    expect(targets.filter((target) => !/^(?:https:|#)/.test(target))).toEqual([]);
  });

  test("lists every entry of the package", async () => {
    const rows = parseTable(findSection(await readDoc("core/README.md"), "## What to import"));
    const listed = rows.flatMap(([entry = ""]) => parseInlineCode(entry));
    const parts = Object.keys(jsr.exports).filter((entry) => entry !== ".");
    expect(listed.toSorted()).toEqual(parts.map((entry) => join(jsr.name, entry)).toSorted());
  });
});

describe("server/README.md", () => {
  const index = readDoc("server/README.md");
  const others = DOC_FILES.filter((path) => /^server\/.+\.md$/.test(path)).slice(1);

  test("is an index of at most 1,000 words that lists every document of the server", async () => {
    expect((await index).split(/\s+/).length).toBeLessThanOrEqual(1000);
    const rows = parseTable(await index);
    const listed = rows.flatMap(([document = ""]) => parseLinks("server/README.md", document));
    expect(listed.map(({ file }) => file).toSorted()).toEqual(others.toSorted());
    const files = Array.from(new Bun.Glob("server/**/*.md").scanSync(ROOT));
    expect<string[]>(others.toSorted()).toEqual(
      files.filter((file) => file !== "server/README.md").toSorted(),
    );
  });

  test.each(others)("%s begins with who reads it", async (path) => {
    expect(await readDoc(path)).toMatch(/^# .+\n\nFor /);
  });
});

describe("CONTRIBUTING.md", () => {
  test("lists every file of core", async () => {
    const rows = parseTable(findSection(await readDoc("CONTRIBUTING.md"), "### Files of core"));
    const files = Array.from(new Bun.Glob("*.ts").scanSync(join(ROOT, "core")));
    expect(rows.flatMap(([file = ""]) => parseInlineCode(file)).toSorted()).toEqual(
      [...files, "client/", "metrics/", "resources/", "responses/", "testing/"].toSorted(),
    );
  });

  test("lists every folder of core and server", async () => {
    const rows = parseTable(findSection(await readDoc("CONTRIBUTING.md"), "## Map of the code"));
    const listed = rows.flatMap(([folder = ""]) => parseInlineCode(folder));
    const folders = new Set(["tests"]);
    for (const file of new Bun.Glob("{core,server}/**/*.{ts,tsx}").scanSync(ROOT)) {
      if (file.startsWith("core/dist/")) continue;
      for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
        folders.add(folder);
      }
    }
    const inner = /(?:migrations|remote)$/;
    expect(listed.toSorted()).toEqual([...folders].filter((path) => !inner.test(path)).toSorted());
  });

  test("sets variables that the long tests read", async () => {
    const rows = parseTable(findSection(await readDoc("CONTRIBUTING.md"), "### Long tests"));
    for (const [command = ""] of rows) {
      const [, variable = "", paths = ""] = /^`(\w+)=\d+ bun test (.+)`$/.exec(command) ?? [];
      for (const path of paths.split(" ")) {
        expect(await Bun.file(join(ROOT, path)).text()).toContain(`env["${variable}"]`);
      }
    }
    expect(rows).not.toBeEmpty();
  });
});

describe("tests/support/README.md", () => {
  test("lists every file of tests/support", async () => {
    const rows = parseTable(await readDoc("tests/support/README.md"));
    const files = Array.from(new Bun.Glob("**/*.ts").scanSync(join(ROOT, "tests/support")));
    expect(rows.flatMap(([file = ""]) => parseInlineCode(file)).toSorted()).toEqual(
      files.toSorted(),
    );
  });
});

describe("tests/examples/README.md", () => {
  test("lists every example", async () => {
    const rows = parseTable(await readDoc("tests/examples/README.md"));
    const names = await readdir(join(ROOT, "tests/examples"));
    const examples = names.filter((name) => !/\.test\.ts$|\.md$/.test(name));
    expect(rows.map(([example = ""]) => /\[(.*?)\]/.exec(example)?.[1]).toSorted()).toEqual(
      examples.toSorted(),
    );
  });
});

describe("every document", () => {
  test.each(DOC_FILES)(
    "%s names scripts, commands, files and a version that exist",
    async (path) => {
      const text = await readDoc(path);
      const scripts = Object.keys(packageFile.scripts);
      for (const [, script = ""] of text.matchAll(/\bbun(?:@\S+)?(?: --\S+)* run (\w+)/g)) {
        expect(scripts).toContain(script);
      }
      for (const [, command = ""] of text.matchAll(
        /bun server\/main\.ts ([a-z]+(?: [a-z]+\b)?)/g,
      )) {
        expect(
          COMMAND_NAMES.some((name) => command === name || command.startsWith(`${name} `)),
        ).toBe(true);
      }
      for (const [file] of text.matchAll(/\btests\/[\w./-]+\.ts\b/g)) {
        expect({ file, exists: existsSync(join(ROOT, file)) }).toEqual({ file, exists: true });
      }
      for (const [version] of text.matchAll(/bun@[\d.]+/g)) {
        expect(version).toBe(packageFile.packageManager);
      }
    },
  );

  test.each(DOC_FILES)(
    "%s starts nothing with npx options that would cut requests",
    async (path) => {
      const text = await readDoc(path);
      for (const [command] of text.matchAll(/\bnpx -[^`\n]*/g)) {
        expect(command).toMatch(/^npx -y bun@[\d.]+(?: run \w+| server\/main\.ts \w+)?$/);
      }
    },
  );

  const withLinks = DOC_FILES.filter((path) =>
    /^(?!core|tests\/support|CHANGELOG).*\.md$/.test(path),
  );
  test.each(withLinks)("%s links to files and headings that exist", async (path) => {
    const links = parseLinks(path, await readDoc(path));
    expect(links).not.toBeEmpty();
    for (const { file, anchor } of links) {
      expect({ file, exists: existsSync(join(ROOT, file)) }).toEqual({ file, exists: true });
      if (anchor === "") continue;
      expect(parseAnchors(await Bun.file(join(ROOT, file)).text())).toContain(anchor);
    }
  });

  test.each(DOC_FILES)("%s contains no API key, and no path of a machine", async (path) => {
    const text = await readDoc(path);
    expect(text).not.toMatch(/cm_[\w-]{10}|\/(?:root|home|tmp|work|Users)\/|\/shared\b/);
  });
});
