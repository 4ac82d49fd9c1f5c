/**
 * Texts that the service makes from its source files when it needs them. The build of the executable
 * makes all of them, and embeds them: it has no source files.
 */
import { join } from "node:path";

/** All assets of the modules that are loaded, by their names. */
export const ASSETS = new Map<string, () => Promise<string>>();

/** The folder of the assets in the executable, beside this module. */
export const ASSET_FOLDER = "assets";

/**
 * Defines an asset. @param make Makes its text from source files. @returns A function that reads it.
 */
export function defineAsset(name: string, make: () => Promise<string>): () => Promise<string> {
  if (ASSETS.has(name)) throw new Error(`Two assets have the name ${name}`);
  ASSETS.set(name, make);
  if (!Bun.isStandaloneExecutable) return make;
  return () => Bun.file(join(import.meta.dir, ASSET_FOLDER, name)).text();
}
