/** Runs processes with a disk of a few megabytes that a test can fill, or with a read-only file. */

/** Runs a command with mounts of its own, where Linux permits it. */
const UNSHARE_MOUNTS = ["unshare", "--user", "--map-root-user", "--mount"];

/** Whether a process can have mounts of its own here. Prints a note if it cannot. */
export function hasMountNamespaces(): boolean {
  const command = [...UNSHARE_MOUNTS, "sh", "-c", "mount -t tmpfs tmpfs /tmp"];
  if (Bun.which("unshare") !== null && Bun.spawnSync(command).exitCode === 0) return true;
  process.stderr.write("Skipped the tests with a small disk: processes cannot mount one here\n");
  return false;
}

/**
 * A wrapper command that runs another command with a small disk.
 *
 * @param folder Where the disk is mounted.
 * @param copiedFile A file that is copied onto the disk first.
 */
export const buildSmallDiskCommand = (folder: string, copiedFile: string): string[] => [
  ...UNSHARE_MOUNTS,
  "sh",
  "-c",
  'mount -t tmpfs -o size=3m tmpfs "$0" && cp "$1" "$0" && shift && exec "$@"',
  folder,
  copiedFile,
];

/** A wrapper command that runs another command with a read-only file. */
export const buildReadOnlyCommand = (file: string): string[] => [
  ...UNSHARE_MOUNTS,
  "sh",
  "-c",
  'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"',
  file,
];

/** A wrapper command that runs another command with the mounts of a process. */
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
