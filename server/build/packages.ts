/** The packages that the executable of a target consists of, as `bun.lock` pins them. */
import { join } from "node:path";
import { Glob } from "bun";
import lock from "../../bun.lock";
import packageFile from "../../package.json" with { type: "json" };

const ROOT = join(import.meta.dir, "../..");

/** A package of npm. */
export interface InstalledPackage {
  /** Its name and version: `libsql@0.5.29`. */
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** What `bun.lock` holds its archive to, such as `sha512-…` in Base64. */
  readonly integrity: string;
  /** An SPDX expression; `undefined` if the package names none. */
  readonly license: string | undefined;
  /** The `id` of each package that it depends on. */
  readonly dependencies: readonly string[];
  /** Whether the service itself depends on it. */
  readonly isDirect: boolean;
}

type Versions = Readonly<Record<string, string>>;

/** What `bun.lock` says of a package. */
interface LockedDetails {
  readonly dependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly peerDependencies?: Versions;
  readonly optionalPeers?: readonly string[];
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
}

type LockedPackage = readonly [name: string, registry: string, LockedDetails, integrity: string];

const LOCKED: Readonly<Record<string, LockedPackage>> = Object.fromEntries(
  Object.entries<readonly unknown[]>(lock.packages).filter(([, { length }]) => length === 4),
) as Record<string, LockedPackage>;

function getPackage(key: string): LockedPackage {
  const locked = LOCKED[key];
  if (locked === undefined) throw new Error(`bun.lock has no package ${key}`);
  return locked;
}

const getDetails = (key: string): LockedDetails => getPackage(key)[2];

/** Where a package is in the lock file: below the package that needs a version of its own, or at the top. */
function findKey(name: string, parent: string): string | undefined {
  for (let path = parent; path !== ""; path = path.replace(/(?:^|\/)(?:@[^/]+\/)?[^/]+$/, "")) {
    if (`${path}/${name}` in LOCKED) return `${path}/${name}`;
  }
  return name in LOCKED ? name : undefined;
}

/** A system as npm names it. */
export interface System {
  readonly os: string;
  readonly cpu: string;
}

function isFor({ os, cpu }: LockedDetails, system: System): boolean {
  const allows = (allowed: string | readonly string[] | undefined, value: string) =>
    allowed === undefined || [allowed].flat().includes(value);
  return allows(os, system.os) && allows(cpu, system.cpu);
}

/** Reads the license in the installed package; one of another system is not installed. */
async function readLicense(name: string, version: string): Promise<string | undefined> {
  const folder = `${name.replaceAll("/", "+")}@${version}`;
  const glob = new Glob(
    `node_modules/.bun/{${folder},${folder}+*}/node_modules/${name}/package.json`,
  );
  for await (const file of glob.scan({ cwd: ROOT, dot: true })) {
    const { license }: { license?: string | { type: string } } = await Bun.file(
      join(ROOT, file),
    ).json();
    return typeof license === "object" ? license.type : license;
  }
  return undefined;
}

/**
 * Lists the packages that the executable of a system consists of, sorted by `id`: those that the
 * service depends on, and what these depend on.
 *
 * @param system As npm names it, such as `{ os: "linux", cpu: "x64" }`.
 */
export async function listPackages(system: System): Promise<InstalledPackage[]> {
  const direct = findKeys(packageFile.dependencies, "");
  const keys = new Set<string>();
  const waiting = [...direct];
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    if (keys.has(key) || !isFor(getDetails(key), system)) continue;
    keys.add(key);
    waiting.push(...findDependencies(key));
  }
  const packages = Array.from(keys, async (key): Promise<InstalledPackage> => {
    const [id, , , integrity] = getPackage(key);
    const at = id.lastIndexOf("@");
    const [name, version] = [id.slice(0, at), id.slice(at + 1)];
    const dependencies = findDependencies(key).filter((dependency) => keys.has(dependency));
    return {
      id,
      name,
      version,
      integrity,
      license: await readLicense(name, version),
      dependencies: dependencies.map((dependency) => getPackage(dependency)[0]),
      isDirect: direct.includes(key),
    };
  });
  return (await Promise.all(packages)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The packages that a package depends on, those for other systems too. */
function findDependencies(key: string): string[] {
  const { dependencies, optionalDependencies, peerDependencies, optionalPeers } = getDetails(key);
  const peers = Object.entries(peerDependencies ?? {}).filter(
    ([name]) => optionalPeers?.includes(name) !== true,
  );
  const versions = { ...dependencies, ...optionalDependencies, ...Object.fromEntries(peers) };
  return findKeys(versions, key);
}

/** Finds packages in the lock file, as a package sees them; one that is not installed has no entry. */
const findKeys = (versions: Versions, parent: string): string[] =>
  Object.keys(versions).flatMap((name) => findKey(name, parent) ?? []);
