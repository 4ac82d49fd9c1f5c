/** Type-checks a program of a user, as strictly as it can be, without special flags. */
import { join } from "node:path";
import { ROOT } from "../support/docs.ts";
import type { Check } from "./checks.ts";
import { runCommand } from "./command.ts";
import { ENTRIES, SCHEMA_ENTRY } from "./installed-package.ts";
import { TOOLS } from "./tools.ts";

const COMPILERS = [
  { version: "7", path: join(ROOT, "node_modules/.bin/tsc"), isTool: false },
  { version: "5.9", path: join(TOOLS, ".bin/tsc"), isTool: true },
];

const MODULES = [
  { module: "nodenext", resolution: "nodenext" },
  { module: "esnext", resolution: "bundler" },
];

/** A check for each compiler and kind of module resolution, with TypeBox and without. */
export function createTypeChecks(): Check[] {
  return COMPILERS.flatMap(({ version, path, isTool }) =>
    MODULES.flatMap(({ module, resolution }) =>
      [false, true].map((hasTypebox) => ({
        name: `types: TypeScript ${version}, ${resolution}, ${hasTypebox ? "with" : "without"} TypeBox`,
        needsTools: isTool,
        async run({ project, typeboxProject }) {
          const folder = hasTypebox ? typeboxProject : project;
          const file = `use-${version}-${resolution}.ts`;
          await Bun.write(join(folder, file), hasTypebox ? USE + USE_SCHEMAS : USE);
          // Checks the declarations of packages, but not those of TypeScript itself.
          const libraries = ["--skipLibCheck", "false", "--skipDefaultLibCheck"];
          const options = ["--noEmit", "--strict", ...libraries, "--target", "es2022"];
          const modules = ["--module", module, "--moduleResolution", resolution];
          await runCommand([path, ...options, ...modules, file], folder);
          return "no errors";
        },
      })),
    ),
  );
}

/** Declares a constant that compiles only if no export of an entry is `any`. */
const assertWhole = (entry: string, index: number) =>
  `import * as entry${index} from "${entry}";\n` +
  `export const isWhole${index}: AnyExports<typeof entry${index}> extends never ? true : never = true;\n`;

const TYPED_ENTRIES = ENTRIES.filter((entry) => entry !== SCHEMA_ENTRY);

const USE = `import { paginate, type ChannelDetails, type ShortsPage } from "@creator-metrics/core";
import { createClient } from "@creator-metrics/core/client";
type AnyExports<Module> = {
  [Name in keyof Module]: 0 extends 1 & Module[Name] ? Name : never;
}[keyof Module];
${TYPED_ENTRIES.map(assertWhole).join("")}
const client = createClient({ baseUrl: "http://127.0.0.1", apiKey: "cm_", fetch });
export async function listViews(): Promise<(number | null)[]> {
  const all: (number | null)[] = [];
  for await (const short of client.video.shorts("nasa")) all.push(short.views);
  return all;
}
export const subscribers: ChannelDetails["subscribers"] = null;
export const cursor: ShortsPage["pagination"]["nextCursor"] = "x";
// @ts-expect-error An identifier is text.
export const id: ChannelDetails["id"] = 7;
// @ts-expect-error There are three parameters.
paginate(1);
`;

const USE_SCHEMAS = `${assertWhole(SCHEMA_ENTRY, TYPED_ENTRIES.length)}
import type { Static } from "@sinclair/typebox";
import { ChannelDetails as ChannelDetailsSchema } from "${SCHEMA_ENTRY}";
export const toResource = (checked: Static<typeof ChannelDetailsSchema>): ChannelDetails => checked;
// @ts-expect-error A schema is an object.
export const schema: number = ChannelDetailsSchema;
`;
