/** The tools that `tests/portability/package.json` pins. */
import { join } from "node:path";

/** Where `bun install` puts them. */
export const TOOLS: string = join(import.meta.dir, "node_modules");
