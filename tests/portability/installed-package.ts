/** Builds and packs core, and installs it in empty projects, as its users do. */
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../core/package.json";
import { ROOT } from "../support/docs.ts";
import { runCommand } from "./command.ts";

/** The entries of the package, such as `@creator-metrics/core/client`. */
export const ENTRIES: readonly string[] = Object.keys(manifest.exports)
  .filter((entry) => entry !== "./package.json")
  .map((entry) => join(manifest.name, entry));

/** The entry that needs TypeBox. */
export const SCHEMA_ENTRY = `${manifest.name}/schema`;

const TYPEBOX = "node_modules/@sinclair/typebox";

export type InstalledPackage = Awaited<ReturnType<typeof installPackage>>;

/** Packs core, and installs the file in two projects: with TypeBox and without. */
export async function installPackage() {
  const folder = await mkdtemp(join(tmpdir(), "core-package-"));
  const source = join(folder, "source");
  await copySources(source);
  await runCommand([process.execPath, "run", "build"], join(source, "core"));
  await runCommand([process.execPath, "pm", "pack", "--destination", folder], join(source, "core"));
  const name = (await readdir(folder)).find((file) => file.endsWith(".tgz")) ?? "";
  const tarball = join(folder, name);
  const project = await installIn(join(folder, "project"), tarball);
  const typeboxProject = join(folder, "project-with-typebox");
  await cp(project, typeboxProject, { recursive: true });
  await cp(join(ROOT, TYPEBOX), join(typeboxProject, TYPEBOX), { recursive: true });
  return {
    /** The folder of everything here. */
    folder,
    /** A copy of the sources. */
    source,
    tarball,
    /** The project without TypeBox. */
    project,
    typeboxProject,
    /** The files of the package in the project. */
    installed: join(project, "node_modules", manifest.name),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Copies what a build needs, so that it changes nothing in the clone. */
async function copySources(folder: string): Promise<void> {
  for (const path of ["core", "tsconfig.json", "LICENSE"]) {
    const filter = (from: string) => !from.startsWith(join(ROOT, "core/dist"));
    await cp(join(ROOT, path), join(folder, path), { recursive: true, filter });
  }
  await Bun.write(join(folder, "package.json"), '{ "private": true, "workspaces": ["core"] }');
  await cp(join(ROOT, TYPEBOX), join(folder, TYPEBOX), { recursive: true });
}

async function installIn(project: string, tarball: string): Promise<string> {
  await mkdir(project, { recursive: true });
  await Bun.write(join(project, "package.json"), '{ "private": true, "type": "module" }');
  const options = ["--offline", "--no-audit", "--no-fund"];
  await runCommand(["npm", "install", ...options, tarball], project);
  return project;
}

/** The packages that npm installed in a project, and the bytes of all their files. */
export async function measureInstalled(project: string) {
  const lock: { packages: Record<string, unknown> } = await Bun.file(
    join(project, "package-lock.json"),
  ).json();
  const files = await readdir(join(project, "node_modules"), {
    recursive: true,
    withFileTypes: true,
  });
  const sizes = files
    .filter((file) => file.isFile() && file.name !== ".package-lock.json")
    .map((file) => Bun.file(join(file.parentPath, file.name)).size);
  return {
    packages: Object.keys(lock.packages).filter((path) => path !== ""),
    bytes: sizes.reduce((sum, size) => sum + size, 0),
  };
}
