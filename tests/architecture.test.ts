import { describe, expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "..");

interface Import {
  readonly file: string;
  /** A path from the root for an own file, else the package. */
  readonly target: string;
  readonly isTypeOnly: boolean;
}

/** Every import of the files of a folder. */
async function listImports(folder: string): Promise<Import[]> {
  const imports: Import[] = [];
  for await (const name of new Glob("**/*.ts").scan(join(ROOT, folder))) {
    const file = join(folder, name);
    const source = await Bun.file(join(ROOT, file)).text();
    const statements = source.matchAll(
      /^(?:import|export)\s+(type\s+)?(?:[^;"]*?\sfrom\s+)?"([^"]+)";/gms,
    );
    for (const [, type, from = ""] of statements) {
      const target = from.startsWith(".") ? relative(ROOT, join(ROOT, dirname(file), from)) : from;
      imports.push({ file, target, isTypeOnly: type !== undefined });
    }
  }
  return imports;
}

const isWithin = (folder: string) => (target: string) => target.startsWith(`${folder}/`);
const formatImport = ({ file, target }: Import) => `${file} imports ${target}`;

describe("the arrows point inward", () => {
  test("core imports its own files, and TypeBox in schema/ alone", async () => {
    const imports = await listImports("core");
    expect(imports.length).toBeGreaterThan(30);
    const strangers = imports.filter(
      ({ file, target }) =>
        !isWithin("core")(target) &&
        !(isWithin("core/schema")(file) && target === "@sinclair/typebox"),
    );
    expect(strangers.map(formatImport)).toEqual([]);
  });

  test("core outside schema/ takes only types from schema/", async () => {
    const imports = await listImports("core");
    const values = imports.filter(
      ({ file, target, isTypeOnly: isOfTypes }) =>
        !isWithin("core/schema")(file) && isWithin("core/schema")(target) && !isOfTypes,
    );
    expect(values.map(formatImport)).toEqual([]);
  });

  test.each([["store"], ["metering"], ["collectors"]])(
    "server/%s imports core, itself and packages",
    async (part) => {
      const imports = await listImports(`server/${part}`);
      expect(imports.length).toBeGreaterThan(0);
      const strangers = imports.filter(
        ({ target }) => isWithin("server")(target) && !isWithin(`server/${part}`)(target),
      );
      expect(strangers.map(formatImport)).toEqual([]);
    },
  );

  test("server/http gets the other parts as parameters", async () => {
    const imports = await listImports("server/http");
    const strangers = imports.filter(
      ({ target }) => isWithin("server")(target) && !isWithin("server/http")(target),
    );
    expect(strangers.map(formatImport)).toEqual([]);
  });

  test("server/commands is a client: of the other parts it knows types of server/http", async () => {
    const imports = await listImports("server/commands");
    const strangers = imports.filter(
      ({ target, isTypeOnly: isOfTypes }) =>
        isWithin("server")(target) &&
        !isWithin("server/commands")(target) &&
        !(isWithin("server/http")(target) && isOfTypes),
    );
    expect(strangers.map(formatImport)).toEqual([]);
  });

  test("Elysia lives in server/http and where it is put together", async () => {
    const imports = [...(await listImports("server")), ...(await listImports("core"))];
    const users = imports.filter(
      ({ file, target }) =>
        target === "elysia" && !isWithin("server/http")(file) && file !== "server/http/app.ts",
    );
    expect(users.map(formatImport)).toEqual([]);
  });

  test("only server/store speaks to the database", async () => {
    const imports = await listImports("server");
    const users = imports.filter(
      ({ file, target }) =>
        /^(?:drizzle-orm|@libsql\/|libsql$)/.test(target) && !isWithin("server/store")(file),
    );
    expect(users.map(formatImport)).toEqual([]);
  });
});
