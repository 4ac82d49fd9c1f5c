/** The entries of core: what is in `.` is in one of its parts, and the reverse. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import jsr from "../../../core/jsr.json";
import { ROOT } from "../../support/docs.ts";

const {
  ".": root,
  "./schema": _schema,
  "./client": _client,
  "./testing": _testing,
  ...parts
} = jsr.exports;

const load = (file: string): Promise<object> => import(join(ROOT, "core", file));
const read = (file: string) => Bun.file(join(ROOT, "core", file)).text();

/** The names of the values and types that an entry lists. */
async function listNames(file: string): Promise<string[]> {
  const statements = (await read(file))
    .replace(/^\/\*\*.*?\*\/\n/s, "")
    .trimEnd()
    .split(/(?<=;)\n/);
  return statements.flatMap((statement) => {
    const [, names] = /^export (?:type )?\{ ([^}]+) \} from "[^"]+";$/.exec(statement) ?? [];
    if (names === undefined) throw new Error(`${file} lists no names: ${statement}`);
    return names.split(", ");
  });
}

test("the exports of . are the union of those of the parts", async () => {
  const [whole, ...modules] = await Promise.all([root, ...Object.values(parts)].map(load));
  const names = new Set(modules.flatMap((module) => Object.keys(module)));
  expect(Object.keys(whole ?? {}).toSorted()).toEqual([...names].toSorted());
  expect(names.size).toBeGreaterThan(100);
});

test("the types of . are the union of those of the parts, which list each name", async () => {
  const files = Object.values(parts).toSorted();
  const statements = files.map((file) => `export * from "${file}";\n`).join("");
  expect((await read(root)).endsWith(` */\n${statements}`)).toBe(true);
  const names = (await Promise.all(files.map(listNames))).flat();
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  expect(new Set(repeated)).toEqual(new Set(["DomainError", "ErrorCode"]));
});

test("DomainError is in each part whose functions throw or create it", async () => {
  const modules = Object.entries(parts).map(async ([part, file]) => ({
    part,
    hasError: "DomainError" in (await load(file)),
  }));
  const listed = (await Promise.all(modules)).filter(({ hasError }) => hasError);
  expect(listed.map(({ part }) => part.slice(2)).toSorted()).toEqual([
    "creators",
    "errors",
    "growth",
    "ledger",
    "observations",
    "pages",
    "resources",
  ]);
});
