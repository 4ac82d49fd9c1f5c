/** Writes everything that is generated; the tests compare it with the files. */
import { generateResources } from "./resources.ts";
import { generateTables } from "./tables.ts";

for (const files of [await generateResources(), await generateTables()]) {
  for (const [file, text] of files) await Bun.write(file, text);
}
