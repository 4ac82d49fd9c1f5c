/**
 * Compacts what `tsc` built to half of its bytes, without a loss for who uses or debugs it: source
 * maps map lines instead of every token, the sources that they name have no comments and no
 * interfaces, which the declarations have, files of types, re-exports, schemas and suites have no map,
 * files that no entry exports from have no declarations, and the files are indented with tabs.
 */
import { decode, encode, type SourceMapSegment } from "@jridgewell/sourcemap-codec";
import { Glob } from "bun";
import { dirname, join, relative } from "node:path";
import manifest from "./package.json";

const TYPES_ONLY = "export {};\n";

/** The code of a file that only exports what other files have. */
const REEXPORTS = /^(?:export [^;]* from "[^"]*";\n)+$/;

for await (const file of new Glob("dist/**/*.js").scan()) {
  const code = await Bun.file(file).text();
  const map = Bun.file(`${file}.map`);
  const statements = code.replace(/^\/\/# sourceMappingURL=.*$/m, "");
  // A debugger has nothing to show of these; the code of the schemas and of the conformance suites is
  // read as it is.
  const isReadAsBuilt = /^dist\/(?:schema|testing)\//.test(file);
  if (isReadAsBuilt || statements === TYPES_ONLY || REEXPORTS.test(statements)) {
    await Bun.write(file, statements);
    await map.delete();
    continue;
  }
  const source = file.replace(/^dist\/(.*)\.js$/, "$1.ts");
  const sourceLines = removeCommentsAndTypes(await Bun.file(source).text()).split("\n");
  await Bun.write(`dist/src/${source}`, sourceLines.filter(isCode).join("\n"));
  const { version, mappings } = await map.json();
  const lines = decode(mappings).map(([segment]): SourceMapSegment[] => {
    const [, , sourceLine = 0] = segment ?? [];
    return segment === undefined
      ? []
      : [[0, 0, sourceLines.slice(0, sourceLine).filter(isCode).length, 0]];
  });
  const sources = [relative(`${file}/..`, `dist/src/${source}`)];
  await Bun.write(map, JSON.stringify({ version, sources, names: [], mappings: encode(lines) }));
}

const declarations = await findDeclarations();
for await (const file of new Glob("dist/**/*.d.ts").scan()) {
  if (!declarations.has(file)) await Bun.file(file).delete();
}

/**
 * The comment that describes a file. Nobody reads it in a declaration, except that of an entry:
 * `@module` marks it. What follows is an import, an export or the comment of one.
 */
const FILE_COMMENT = /^\/\*\*(?:(?!\*\/|@module).)*\*\/\n(?=import|export (?:type )?[{*]|\/\*\*)/s;

for await (const file of new Glob("dist/**/*.{ts,js}").scan()) {
  const text = await Bun.file(file).text();
  const code = file.endsWith(".d.ts") ? text.replace(FILE_COMMENT, "") : text;
  // TypeScript indents by four spaces, we by two.
  const unit = file.startsWith("dist/src/") ? 2 : 4;
  const indent = new RegExp(`^(?: {${unit}})+`, "gm");
  await Bun.write(
    file,
    code.replaceAll(indent, ({ length }) => "\t".repeat(length / unit)),
  );
}

/** Finds the declarations that the entries import, directly or not. */
async function findDeclarations(): Promise<Set<string>> {
  const { "./package.json": _, ...entries } = manifest.exports;
  const found = new Set(Object.values(entries).map((file) => toDeclaration(".", file)));
  // The loop also visits what it adds.
  for (const file of found) {
    const imports = (await Bun.file(file).text()).matchAll(/ from "(\.[^"]+)"/g);
    for (const [, path = ""] of imports) found.add(toDeclaration(dirname(file), path));
  }
  return found;
}

function toDeclaration(folder: string, path: string): string {
  return join(folder, path.replace(/\.[jt]s$/, ".d.ts"));
}

function isCode(line: string): boolean {
  return line !== "";
}

/** Removes interfaces, imports of types, and the comments that fill lines; the lines stay, empty. */
function removeCommentsAndTypes(source: string): string {
  const code = source
    .replaceAll(/^[ \t]*\/\*\*?(?:(?!\*\/).)*\*\/$/gms, (lines) => lines.replaceAll(/[^\n]/g, ""))
    .replaceAll(/^[ \t]*\/\/.*$/gm, "")
    .replaceAll(/^(?:import type [^;]*;|(?:export )?interface .*?^\})$/gms, (lines) =>
      lines.replaceAll(/[^\n]/g, ""),
    );
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  if (transpiler.transformSync(code) !== transpiler.transformSync(source)) {
    throw new Error("Without its comments and types, the code of a file would be another");
  }
  return code;
}
