/** A disk of a few megabytes that a process has for itself, and that a test fills. */

/** Where Linux lets a process have a disk of its own. */
const UNSHARE_MOUNTS = ["unshare", "--user", "--map-root-user", "--mount"];

/** Whether a process can have a disk of its own here; says so where it cannot. */
export function hasMountNamespaces(): boolean {
  const command = [...UNSHARE_MOUNTS, "sh", "-c", "mount -t tmpfs tmpfs /tmp"];
  if (Bun.which("unshare") !== null && Bun.spawnSync(command).exitCode === 0) return true;
  process.stderr.write("Skipped what needs a disk of its own: a process cannot have one here\n");
  return false;
}

/**
 * The command that runs another with a small disk.
 *
 * @param folder Where it has the disk.
 * @param copiedFile A file that lies on it from the beginning.
 */
export const buildSmallDiskCommand = (folder: string, copiedFile: string): string[] => [
  ...UNSHARE_MOUNTS,
  "sh",
  "-c",
  'mount -t tmpfs -o size=3m tmpfs "$0" && cp "$1" "$0" && shift && exec "$@"',
  folder,
  copiedFile,
];

/** The command that runs another to which a file may only be read. */
export const buildReadOnlyCommand = (file: string): string[] => [
  ...UNSHARE_MOUNTS,
  "sh",
  "-c",
  'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"',
  file,
];

/** The command that runs another with the disk that a process has. */
export const buildNsenterCommand = (pid: number): string[] =>
  `nsenter --target ${pid} --user --mount --preserve-credentials`.split(" ");

/** Fills the disk of a process to the last byte. */
export async function fillDisk(pid: number, folder: string) {
  const file = `${folder}/full`;
  const run = (...command: string[]) =>
    Bun.spawn([...buildNsenterCommand(pid), ...command], { stderr: "ignore" }).exited;
  await run("dd", "if=/dev/zero", `of=${file}`, "bs=1k");
  return { empty: () => run("rm", file) };
}
