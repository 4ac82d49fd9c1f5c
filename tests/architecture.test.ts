import { describe, expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "..");

interface Import {
  readonly file: string;
  /** A path from the root for an own file, else the package. */
  readonly target: string;
  readonly isOfTypes: boolean;
}

/** Every import of the files of a folder. */
async function importsOf(folder: string): Promise<Import[]> {
  const found: Import[] = [];
  for await (const name of new Glob("**/*.ts").scan(join(ROOT, folder))) {
    const file = join(folder, name);
    const source = await Bun.file(join(ROOT, file)).text();
    const statements = source.matchAll(
      /^(?:import|export)\s+(type\s+)?(?:[^;"]*?\sfrom\s+)?"([^"]+)";/gms,
    );
    for (const [, type, from = ""] of statements) {
      const target = from.startsWith(".") ? relative(ROOT, join(ROOT, dirname(file), from)) : from;
      found.push({ file, target, isOfTypes: type !== undefined });
    }
  }
  return found;
}

const isWithin = (folder: string) => (target: string) => target.startsWith(`${folder}/`);
const described = ({ file, target }: Import) => `${file} imports ${target}`;

describe("the arrows point inward", () => {
  test("core imports its own files, and TypeBox in schema/ alone", async () => {
    const imports = await importsOf("core");
    expect(imports.length).toBeGreaterThan(30);
    const strangers = imports.filter(
      ({ file, target }) =>
        !isWithin("core")(target) &&
        !(isWithin("core/schema")(file) && target === "@sinclair/typebox"),
    );
    expect(strangers.map(described)).toEqual([]);
  });

  test("core outside schema/ takes only types from schema/", async () => {
    const imports = await importsOf("core");
    const values = imports.filter(
      ({ file, target, isOfTypes }) =>
        !isWithin("core/schema")(file) && isWithin("core/schema")(target) && !isOfTypes,
    );
    expect(values.map(described)).toEqual([]);
  });

  test.each([["store"], ["metering"], ["collectors"]])(
    "server/%s imports core, itself and packages",
    async (part) => {
      const imports = await importsOf(`server/${part}`);
      expect(imports.length).toBeGreaterThan(0);
      const strangers = imports.filter(
        ({ target }) => isWithin("server")(target) && !isWithin(`server/${part}`)(target),
      );
      expect(strangers.map(described)).toEqual([]);
    },
  );

  test("server/http gets the other parts as parameters", async () => {
    const imports = await importsOf("server/http");
    const strangers = imports.filter(
      ({ target }) => isWithin("server")(target) && !isWithin("server/http")(target),
    );
    expect(strangers.map(described)).toEqual([]);
  });

  test("server/commands is a client: of the other parts it knows types of server/http", async () => {
    const imports = await importsOf("server/commands");
    const strangers = imports.filter(
      ({ target, isOfTypes }) =>
        isWithin("server")(target) &&
        !isWithin("server/commands")(target) &&
        !(isWithin("server/http")(target) && isOfTypes),
    );
    expect(strangers.map(described)).toEqual([]);
  });

  test("Elysia lives in server/http and where it is put together", async () => {
    const imports = [...(await importsOf("server")), ...(await importsOf("core"))];
    const users = imports.filter(
      ({ file, target }) =>
        target === "elysia" && !isWithin("server/http")(file) && file !== "server/app.ts",
    );
    expect(users.map(described)).toEqual([]);
  });

  test("only server/store speaks to the database", async () => {
    const imports = await importsOf("server");
    const users = imports.filter(
      ({ file, target }) =>
        /^(?:drizzle-orm|@libsql\/|libsql$)/.test(target) && !isWithin("server/store")(file),
    );
    expect(users.map(described)).toEqual([]);
  });
});
