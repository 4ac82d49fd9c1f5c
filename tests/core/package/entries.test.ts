/** The entries of core: each name is listed once, and the functions of the root are not too many. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import jsr from "../../../core/jsr.json";
import { ROOT } from "../../support/docs.ts";

const root = join(ROOT, "core", jsr.exports["."]);

/** What a reader of the API reference can take in: a name more is a name less elsewhere. */
const VALUES_MAX = 99;

/** The names that the root lists one by one, and the files whose types it exports as a whole. */
async function listExports() {
  const statements = (await Bun.file(root).text()).matchAll(
    /^export (?:type )?(?:\{ ([^}]+) \}|\*) from "([^"]+)";$/gm,
  );
  return Array.from(statements, ([, names, file = ""]) => ({
    names: names?.replaceAll("type ", "").split(", "),
    file,
  }));
}

test("the entries are the domain, the client, the schemas and the conformance suites", () => {
  expect(Object.keys(jsr.exports)).toEqual([".", "./client", "./schema", "./testing"]);
});

test("core/mod.ts lists each name once, and all types of resources and stores", async () => {
  const listed = await listExports();
  const names = listed.flatMap((statement) => statement.names ?? []);
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
  const whole = listed.filter((statement) => statement.names === undefined);
  expect(whole.map(({ file }) => file)).toEqual(["./resources/generated/types.ts", "./stores.ts"]);
  const values = Object.keys(await import(root));
  expect(values.filter((name) => !names.includes(name))).toEqual([]);
  expect(values.length).toBeLessThanOrEqual(VALUES_MAX);
});
