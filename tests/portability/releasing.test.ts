/** Holds RELEASING.md and the versions of a release. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import jsr from "../../core/jsr.json";
import core from "../../core/package.json";
import { createClient, type RequestInitLike } from "../../core/client/mod.ts";
import service from "../../package.json";
import { findSection, readDoc, ROOT } from "../support/docs.ts";
import { JSR_PUBLISH, NPM_PUBLISH } from "./lint-checks.ts";

const releasing = await readDoc("RELEASING.md");

/** The commands of a section. */
const parseCommands = (heading: string) =>
  Array.from(findSection(releasing, heading).matchAll(/^ {4,}(\w.*)$/gm), ([, line = ""]) => line);

describe("a release", () => {
  test("has one version, in each file that RELEASING.md names", async () => {
    expect([core.version, jsr.version]).toEqual([service.version, service.version]);
    const readme = await readDoc("core/README.md");
    const tarballs = Array.from(readme.matchAll(/creator-metrics-core-([\d.]+)\.tgz/g));
    expect(tarballs.map(([, version]) => version)).toEqual([service.version]);
    const agents: unknown[] = [];
    const fetch = async (_url: string, { headers }: RequestInitLike) => {
      agents.push(headers["user-agent"]);
      return new Response("{}", { status: 404 });
    };
    const client = createClient({ baseUrl: "http://service.test", apiKey: "key", fetch });
    await client.account().catch(() => {});
    expect(agents).toEqual([`creator-metrics-core/${service.version}`]);
    const packages = ["package.json", "core/package.json", "core/jsr.json"];
    for (const file of [...packages, "core/README.md", "core/client/request.ts"]) {
      expect(releasing).toContain(`\`${file}\``);
    }
  });
});

describe("RELEASING.md", () => {
  // Without the dot, npm takes it for a repository.
  const tarball = "./dist/creator-metrics-core-VERSION.tgz";
  const deno = "cd core && ../tests/portability/node_modules/.bin/deno";

  test("tries the commands that `bun run compat` runs", () => {
    expect(parseCommands("## Try")).toEqual([
      `npm ${NPM_PUBLISH.join(" ")} --dry-run ${tarball}`,
      `${deno} ${JSR_PUBLISH.join(" ")} --dry-run`,
    ]);
  });

  test("the workflow publishes with the commands that it tries", async () => {
    const workflow = await Bun.file(join(ROOT, ".github/workflows/release.yml")).text();
    expect(workflow).toContain(`npm ${NPM_PUBLISH.join(" ")} --provenance ./dist/`);
    expect(workflow).toContain(`node_modules/.bin/deno ${JSR_PUBLISH.join(" ")} `);
    expect(parseCommands("## Publish")).toEqual([
      'git tag -a vVERSION -m "Release VERSION"',
      "git push origin main vVERSION",
    ]);
  });

  test("runs all checks before it publishes", () => {
    const runs = parseCommands("## Prepare").filter((command) => command.startsWith("bun run"));
    expect(runs).toEqual(["bun run check", "bun run compat", "bun run pack"]);
  });
});
