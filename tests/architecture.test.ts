/** Checks the layout: which part may import which, no import cycles, small folders, no duplicate types. */
import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "..");

/** The most files that one folder of the server has, so that a reader can take it in at a glance. */
const FOLDER_MAX_FILES = 15;

/** What every part may import beside `core`, packages and itself: leaf files. */
const SHARED_PARTS = [
  "server/assets.ts",
  "server/background-loop.ts",
  "server/commit-pacer.ts",
  "server/csv",
  "server/log.ts",
  "server/observation-batches",
  "server/programs.ts",
  "server/raw-json.ts",
  "server/secrets.ts",
  "server/settings.ts",
  "server/stored-names.ts",
  "server/system-errors.ts",
  "server/telemetry",
  "server/worker-rpc.ts",
];

/**
 * The parts of the server that import no code of each other. A type lives with the part that owns it,
 * and other parts take it by `import type`, which is gone at run time.
 */
const PARTS = [
  "server/store",
  "server/metering",
  "server/committer",
  "server/collectors",
  "server/http",
  "server/webhooks",
  "server/pictures",
  "server/commands",
  "server/demo",
  "server/pages",
  ...SHARED_PARTS,
];

/** What connects the parts and may import all: composition, settings, the process and the program. */
const CONNECTING_PARTS = [
  "server/service.ts",
  "server/composition",
  "server/config.ts",
  "server/process",
  "server/main.ts",
  "server/creator-metrics.ts",
  "server/build",
];

/** Which other folders of server/store each of its folders may import. */
const STORE_LAYERS: Readonly<Record<string, readonly string[]>> = {
  tables: [],
  database: ["tables"],
  history: ["tables", "database"],
  observations: ["tables", "database", "history"],
  figures: ["tables", "database", "history", "observations"],
  reads: ["tables", "database", "history"],
  accounts: ["tables", "database", "history"],
  administration: ["tables", "database"],
  collection: ["tables", "database"],
};

interface Import {
  readonly file: string;
  /** The path from the root for a file of the project, else the name of the package. */
  readonly target: string;
  readonly isTypeOnly: boolean;
}

const sources = new Map<string, string>();
for (const folder of ["core", "server"]) {
  for (const name of new Glob("**/*.{ts,tsx}").scanSync(join(ROOT, folder))) {
    const file = join(folder, name);
    if (name.startsWith("dist/")) continue;
    sources.set(file, await Bun.file(join(ROOT, file)).text());
  }
}
const imports = Array.from(sources).flatMap(([file, source]) => parseImports(file, source));
const targetsOf = new Map<string, string[]>();
for (const { file, target } of imports) {
  if (sources.has(target)) targetsOf.set(file, [...(targetsOf.get(file) ?? []), target]);
}

/** The static and dynamic imports and the re-exports of a file; those of types too. */
function parseImports(file: string, source: string): Import[] {
  const resolve = (from: string) =>
    from.startsWith(".") ? relative(ROOT, join(ROOT, dirname(file), from)) : from;
  const statements = source.matchAll(
    /^(?:import|export)\s+(type\s+)?(?:[^;"]*?\sfrom\s+)?"([^"]+)"|\bimport\("([^"]+)"\)/gms,
  );
  return Array.from(statements, ([, type, from, dynamicFrom = ""]) => ({
    file,
    target: resolve(from ?? dynamicFrom),
    isTypeOnly: type !== undefined,
  }));
}

/** Every file that a file imports, directly or through others. */
function listReachable(file: string): Set<string> {
  const reachable = new Set<string>();
  const open = [file];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const target of targetsOf.get(next) ?? []) {
      if (!reachable.has(target)) open.push(target);
      reachable.add(target);
    }
  }
  return reachable;
}

/** The part of the project that a file belongs to: `core`, `server/http`, `server/config.ts`. */
const partOf = (file: string) =>
  file.startsWith("server/") ? file.split("/").slice(0, 2).join("/") : file.replace(/\/.*/s, "");
const isWithin = (folder: string, file: string) => file.startsWith(`${folder}/`);
const formatImport = ({ file, target }: Import) => `${file} imports ${target}`;

/** What the top level has for tools and readers; anything new beside them needs a reason. */
const TOP_LEVEL_FILES = [
  "package.json",
  "tsconfig.json",
  "bunfig.toml",
  "drizzle.config.ts",
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "RELEASING.md",
  "SECURITY.md",
  "LICENSE",
  "bun.lock",
  "Containerfile",
  "compose.yaml",
];
const TOP_LEVEL_FOLDERS = ["core", "server", "tests"];

/** What commands leave there. */
const IGNORED = new Set(["node_modules", "data", "dist", "coverage"]);

describe("the top level", () => {
  test("has its files and no others, and no folder but core, server and tests", async () => {
    const names = await readdir(ROOT, { withFileTypes: true });
    const visible = names.filter(({ name }) => !name.startsWith(".") && !IGNORED.has(name));
    const folders = visible.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(folders.toSorted()).toEqual(TOP_LEVEL_FOLDERS);
    const files = visible.filter((entry) => entry.isFile()).map(({ name }) => name);
    const kept = files.filter((name) => !name.endsWith(".log"));
    expect(kept.toSorted()).toEqual(TOP_LEVEL_FILES.toSorted());
  });
});

describe("core", () => {
  const coreImports = imports.filter(({ file }) => isWithin("core", file));

  test("imports its own files, and TypeBox in resources/ only", () => {
    expect(coreImports.length).toBeGreaterThan(30);
    const forbidden = coreImports.filter(
      ({ file, target }) =>
        !isWithin("core", target) &&
        !(isWithin("core/resources", file) && target === "@sinclair/typebox"),
    );
    expect(forbidden.map(formatImport)).toEqual([]);
  });

  test("outside resources/ imports only types from resources/", () => {
    const forbidden = coreImports.filter(
      ({ file, target, isTypeOnly }) =>
        !isWithin("core/resources", file) && isWithin("core/resources", target) && !isTypeOnly,
    );
    expect(forbidden.map(formatImport)).toEqual([]);
  });
});

describe("server", () => {
  test.each(PARTS)("%s imports no code of another part, and types of any", (part) => {
    const allowed = new Set([part, ...SHARED_PARTS]);
    const forbidden = imports.filter(({ file, target, isTypeOnly }) => {
      if (partOf(file) !== part || !isWithin("server", target)) return false;
      const targetPart = partOf(target);
      return isTypeOnly ? CONNECTING_PARTS.includes(targetPart) : !allowed.has(targetPart);
    });
    expect(forbidden.map(formatImport)).toEqual([]);
  });

  test.each(Object.entries(STORE_LAYERS))(
    "store/%s imports only itself and %j of server/store",
    (name, lower) => {
      const folderOf = (file: string) => file.split("/")[2] ?? "";
      const forbidden = imports.filter(
        ({ file, target }) =>
          isWithin(`server/store/${name}`, file) &&
          isWithin("server/store", target) &&
          ![name, ...lower].includes(folderOf(target)),
      );
      expect(forbidden.map(formatImport)).toEqual([]);
    },
  );

  test("has no part that this test does not know", () => {
    const parts = new Set(Array.from(sources.keys(), partOf));
    const known = ["core", ...PARTS, ...CONNECTING_PARTS];
    for (const part of parts) expect(known).toContain(part);
  });

  test("imports Elysia in http only", () => {
    const users = imports.filter(
      ({ file, target }) => target === "elysia" && !isWithin("server/http", file),
    );
    expect(users.map(formatImport)).toEqual([]);
  });

  test("imports database drivers in store only", () => {
    const users = imports.filter(
      ({ file, target }) =>
        /^(?:drizzle-orm|@libsql\/|libsql$)/.test(target) && !isWithin("server/store", file),
    );
    expect(users.map(formatImport)).toEqual([]);
  });

  test(`has at most ${FOLDER_MAX_FILES} files directly in each folder`, () => {
    const counts = new Map<string, number>();
    for (const file of sources.keys()) {
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    }
    const large = Array.from(counts).filter(
      ([folder, count]) => partOf(`${folder}/`) !== "core" && count > FOLDER_MAX_FILES,
    );
    expect(large).toEqual([]);
  });
});

describe("core and server", () => {
  test("have no import cycle, imports of types included", () => {
    const inCycles = Array.from(sources.keys()).filter((file) => listReachable(file).has(file));
    expect(inCycles).toEqual([]);
  });

  test("export each type and interface from one file", () => {
    const seen = new Set<string>();
    const duplicates: string[] = [];
    for (const source of sources.values()) {
      for (const [, name = ""] of source.matchAll(/^export (?:interface|type) (\w+)/gm)) {
        if (seen.has(name)) duplicates.push(name);
        seen.add(name);
      }
    }
    expect(duplicates).toEqual([]);
  });
});
