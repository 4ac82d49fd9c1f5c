/**
 * Compacts what `tsc` built, a fifth of its bytes, without a loss for who reads or debugs it: source
 * maps map lines instead of every token, files of types have none, and the files are indented with tabs.
 */
import { decode, encode } from "@jridgewell/sourcemap-codec";
import { Glob } from "bun";

for await (const file of new Glob("dist/**/*.js.map").scan()) {
  const map = await Bun.file(file).json();
  const lines = decode(map.mappings).map((segments) => segments.slice(0, 1));
  // The first segment of a line stands behind its indentation.
  for (const [segment] of lines) if (segment !== undefined) segment[0] = 0;
  await Bun.write(file, JSON.stringify({ ...map, mappings: encode(lines) }));
}

// A file of types has no code that a debugger could show, so its map is of no use.
for await (const file of new Glob("dist/**/*.js").scan()) {
  if (!(await Bun.file(file).text()).startsWith("export {};\n")) continue;
  await Bun.write(file, "export {};\n");
  await Bun.file(`${file}.map`).delete();
}

for await (const file of new Glob("dist/**/*.{d.ts,js}").scan()) {
  const code = await Bun.file(file).text();
  const indented = code.replaceAll(/^(?: {4})+/gm, ({ length }) => "\t".repeat(length / 4));
  await Bun.write(file, indented);
}
