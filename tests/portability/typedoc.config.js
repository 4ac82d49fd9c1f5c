/** Settings of `bun run reference`: a page for each entry of the package, and one for each export. */
import { join } from "node:path";
import jsr from "../../core/jsr.json" with { type: "json" };

const CORE = join(import.meta.dirname, "../../core");

export default {
  name: "API reference",
  entryPoints: Object.values(jsr.exports).map((file) => join(CORE, file)),
  tsconfig: join(CORE, "tsconfig.json"),
  readme: join(CORE, "README.md"),
  out: join(CORE, "../dist/reference"),
  treatWarningsAsErrors: true,
  disableSources: true,
  hideGenerator: true,
  sortEntryPoints: false,
  sort: ["kind", "alphabetical"],
  kindSortOrder: ["Module", "Function", "Class", "Variable", "Interface", "TypeAlias", "Reference"],
  groupOrder: ["Functions", "Classes", "Variables", "Interfaces", "Type Aliases"],
  navigation: { excludeReferences: true, includeFolders: false },
  preservedTypeAnnotationTags: ["@throws"],
};
