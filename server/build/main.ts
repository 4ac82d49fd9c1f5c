/**
 * The command that builds the executable, which needs no runtime, no packages and no other files:
 *
 *     bun run build [--target linux-arm64]... [--all] [--outfile FILE]
 */
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { buildExecutable } from "./executable.ts";
import { getOwnTarget, getSystem, parseTarget, TARGETS, type Target } from "./targets.ts";

const ROOT = join(import.meta.dir, "../..");

await run(process.argv.slice(2));

async function run(argv: string[]): Promise<void> {
  try {
    const { targets, isRelease, commit = await readCommit() } = parseArguments(argv);
    for (const { target, outfile } of targets) {
      await buildExecutable({ target, outfile, commit });
      console.log(`${outfile}  ${target}  ${Math.round(Bun.file(outfile).size / 2 ** 20)} MiB`);
    }
    if (isRelease) {
      const bills = await writeBillsOfMaterials(targets);
      await writeChecksums([...targets.map(({ outfile }) => outfile), ...bills]);
    }
  } catch (error) {
    const errors = error instanceof AggregateError ? error.errors : [error];
    for (const cause of errors) console.error(String(cause));
    process.exitCode = 1;
  }
}

function parseArguments(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      target: { type: "string", multiple: true },
      all: { type: "boolean", default: false },
      outfile: { type: "string" },
      // Where there is no repository, such as in the build of an image.
      commit: { type: "string" },
    },
  });
  const names = values.all ? TARGETS : (values.target ?? [getOwnTarget()]);
  if (values.outfile !== undefined && names.length > 1) {
    throw new Error("--outfile names one file, and there are several targets");
  }
  const targets = names.map((name) => {
    const target = parseTarget(name);
    const suffix = name.startsWith("windows") ? ".exe" : "";
    const ending = values.all || values.target !== undefined ? `-${name}` : "";
    const file = join(ROOT, `dist/creator-metrics${ending}${suffix}`);
    return { target, outfile: values.outfile ?? file };
  });
  return { targets, isRelease: values.all, ...(values.commit && { commit: values.commit }) };
}

/** Writes the bill of materials of each executable beside it. @returns Their files. */
async function writeBillsOfMaterials(
  targets: readonly { readonly target: Target; readonly outfile: string }[],
): Promise<string[]> {
  // It needs packages that a build alone, as in the image, does without.
  const { createBillOfMaterials } = await import("./sbom.ts");
  return Promise.all(
    targets.map(async ({ target, outfile }) => {
      const file = `${outfile.replace(/\.exe$/, "")}.cdx.json`;
      await Bun.write(file, await createBillOfMaterials(getSystem(target)));
      return file;
    }),
  );
}

/** Writes the checksums of files of one folder there, as `sha256sum --check` reads them. */
async function writeChecksums(files: readonly string[]): Promise<void> {
  const lines: string[] = [];
  for (const file of files) {
    const hash = new Bun.CryptoHasher("sha256").update(await Bun.file(file).bytes()).digest("hex");
    lines.push(`${hash}  ${basename(file)}\n`);
  }
  await Bun.write(join(ROOT, "dist/SHA256SUMS"), lines.join(""));
}

/** Reads the commit of the sources; of changed sources, it says so. */
async function readCommit(): Promise<string> {
  const [commit, changes] = await Promise.all([
    runGit("rev-parse", "--short=12", "HEAD"),
    runGit("status", "--porcelain"),
  ]);
  if (commit === undefined) return "unknown";
  return changes === "" ? commit : `${commit} with changes`;
}

/** @returns What git prints; `undefined` if there is no git or no repository. */
async function runGit(...command: string[]): Promise<string | undefined> {
  if (Bun.which("git") === null) return undefined;
  const child = Bun.spawn(["git", "-C", ROOT, ...command], { stderr: "ignore" });
  const text = (await child.stdout.text()).trim();
  return (await child.exited) === 0 ? text : undefined;
}
