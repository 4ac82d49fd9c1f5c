import { expect, test } from "bun:test";
import { join } from "node:path";
import jsr from "../../../core/jsr.json";
import manifest from "../../../core/package.json";
import { ROOT } from "../../support/docs.ts";

/** The source of a built file. */
const toSource = (file: string) => file.replace("./dist/", "./").replace(/\.js$/, ".ts");

test("core/jsr.json has the entries of core/package.json, as sources", () => {
  const { "./package.json": _, ...entries } = manifest.exports;
  const sources = Object.entries(entries).map(([entry, file]) => `${entry} ${toSource(file)}`);
  expect(Object.entries(jsr.exports).map((entry) => entry.join(" "))).toEqual(sources);
});

test("core/LICENSE, which JSR and npm publish, is the license of the project", async () => {
  const [copy, license] = ["core/LICENSE", "LICENSE"].map((name) => Bun.file(join(ROOT, name)));
  expect(await copy?.text()).toBe((await license?.text()) ?? "");
  expect(jsr.publish.include).toContain("LICENSE");
});

test("core/jsr.json has the name, version, license and TypeBox of core/package.json", () => {
  const { name, version, license, peerDependencies } = manifest;
  const typebox = "@sinclair/typebox";
  const imports = { [typebox]: `npm:${typebox}@${peerDependencies[typebox]}` };
  expect(jsr).toMatchObject({ name, version, license, imports });
});
