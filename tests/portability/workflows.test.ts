/** Holds the workflows of GitHub to the project: pinned actions, few permissions, our commands. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import packageFile from "../../package.json";
import { ROOT } from "../support/docs.ts";

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly { readonly uses?: string; readonly run?: string }[];
  readonly "timeout-minutes"?: number;
  readonly uses?: string;
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const files = Array.from(new Glob(".github/workflows/*.yml").scanSync({ cwd: ROOT, dot: true }));
const texts = new Map<string, string>();
for (const file of files) texts.set(file, await Bun.file(join(ROOT, file)).text());

describe.each(Array.from(texts))("%s", (_file, text) => {
  const workflow = Bun.YAML.parse(text) as Workflow;
  const jobs = Object.entries(workflow.jobs);

  test("pins each action to a commit, and names its version", () => {
    const uses = Array.from(text.matchAll(/\buses: (.+)$/gm), ([, action = ""]) => action);
    const external = uses.filter((action) => !action.startsWith("./"));
    expect(external).not.toBeEmpty();
    for (const action of external) {
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  test("gives no permission to write but to the jobs that publish or sign", () => {
    expect(Object.values(workflow.permissions ?? { all: "write" })).not.toContain("write");
    const writing = jobs.filter(([, { permissions = {} }]) =>
      Object.values(permissions).includes("write"),
    );
    expect(writing.map(([name]) => name)).toEqual(
      text.includes("\nname: Release\n") ? ["build", "image", "npm", "jsr", "release"] : [],
    );
  });

  test("ends a job that hangs", () => {
    const endless = jobs.filter(
      ([, job]) => job.uses === undefined && job["timeout-minutes"] === undefined,
    );
    expect(endless.map(([name]) => name)).toEqual([]);
  });

  test("runs scripts that exist, with the version of Bun that package.json pins", () => {
    for (const [version] of text.matchAll(/bun@[\d.]+/g)) {
      expect(version).toBe(packageFile.packageManager);
    }
    for (const [, script = ""] of text.matchAll(/bun@[\d.]+ run (\w+)/g)) {
      expect(Object.keys(packageFile.scripts)).toContain(script);
    }
  });
});

test("no script of a workflow has an expression, which somebody else could write", () => {
  for (const text of texts.values()) {
    const workflow = Bun.YAML.parse(text) as Workflow;
    const scripts = Object.values(workflow.jobs).flatMap(({ steps = [] }) =>
      steps.flatMap(({ run }) => run ?? []),
    );
    expect(scripts.filter((script) => script.includes("${{"))).toEqual([]);
  }
});
