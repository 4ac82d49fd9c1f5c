/** The systems that executables are built for, and the native module of the database driver there. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The packages of the native module, by the names that Bun has for the systems. */
const NATIVE_PACKAGES = {
  "linux-x64": "@libsql/linux-x64-gnu",
  "linux-arm64": "@libsql/linux-arm64-gnu",
  "darwin-x64": "@libsql/darwin-x64",
  "darwin-arm64": "@libsql/darwin-arm64",
  "windows-x64": "@libsql/win32-x64-msvc",
} as const;

export type Target = keyof typeof NATIVE_PACKAGES;

export const TARGETS = Object.keys(NATIVE_PACKAGES) as Target[];

/** @throws If there is no target with this name. */
export function parseTarget(name: string): Target {
  const target = TARGETS.find((known) => known === name);
  if (target !== undefined) return target;
  throw new Error(`There is no target ${name}; the targets are ${TARGETS.join(", ")}`);
}

/** Returns the names that packages have for the system of a target. */
export function getSystem(target: Target): { readonly os: string; readonly cpu: string } {
  const [os = "", cpu = ""] = target.replace("windows", "win32").split("-");
  return { os, cpu };
}

/** Returns the target that runs on this machine. */
export const getOwnTarget = (): Target =>
  parseTarget(`${process.platform}-${process.arch}`.replace("win32", "windows"));

/** The folder of the packages of this machine. */
const ROOT = join(import.meta.dir, "../..");

/**
 * Finds the native module for a target. The packages of another system are installed in a temporary
 * folder, as `bun.lock` pins them, while `use` runs.
 */
export async function withNativeModule(
  target: Target,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const installed = resolveNativeModule(target, ROOT);
  if (installed !== undefined) return use(installed);
  const folder = await mkdtemp(join(tmpdir(), "creator-metrics-build-"));
  try {
    await installPackages(target, folder);
    const path = resolveNativeModule(target, folder);
    if (path === undefined) throw new Error(`${NATIVE_PACKAGES[target]} was not installed`);
    await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Only the driver depends on its native modules, so only it finds them. */
function resolveNativeModule(target: Target, folder: string): string | undefined {
  const driver = dirname(Bun.resolveSync("libsql", folder));
  try {
    return Bun.resolveSync(NATIVE_PACKAGES[target], driver);
  } catch {
    return undefined;
  }
}

async function installPackages(target: Target, folder: string): Promise<void> {
  for (const file of ["package.json", "core/package.json", "bun.lock"]) {
    await Bun.write(join(folder, file), Bun.file(join(ROOT, file)));
  }
  const { os, cpu } = getSystem(target);
  const command = ["install", "--frozen-lockfile", "--ignore-scripts", "--production"];
  const child = Bun.spawn([process.execPath, ...command, `--os=${os}`, `--cpu=${cpu}`], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const messages = await child.stderr.text();
  if ((await child.exited) === 0) return;
  throw new Error(`Cannot install the packages for ${target}: ${messages.trim()}`);
}
