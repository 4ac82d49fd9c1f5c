/**
 * Builds the image of the Containerfile without a container engine, and runs it as one would: in a
 * root file system of its own that is read-only, as its user, without any right.
 */
import { chown, cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Copy, DockerfileParser, Env, Healthcheck, type Instruction } from "dockerfile-ast";
import { getOwnTarget, withNativeModule } from "../../../server/build/targets.ts";
import { ROOT } from "../docs.ts";

/** Whether this system can do it: it takes root, who may mount. Prints a note if it cannot. */
export function canRunImages(): boolean {
  const mount = ["unshare", "--mount", "true"];
  if (process.platform === "linux" && Bun.which("setpriv") && Bun.spawnSync(mount).success) {
    return true;
  }
  process.stderr.write("Skipped the tests of the image: they need Linux, root and setpriv\n");
  return false;
}

const readArguments = (instruction: Instruction): string[] =>
  instruction.getArguments().map((argument) => argument.getValue());

const readList = (instruction: Instruction | undefined): string[] =>
  JSON.parse(instruction?.getArgumentsContent()?.replace(/^CMD /, "") ?? "[]");

/** Runs a command. @returns What it prints. */
async function run(
  command: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string | undefined> } = {},
) {
  const child = Bun.spawn([...command], { ...options, stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${err}${out}`);
  return out;
}

/** Runs the steps of the first stage in a folder, which is its working directory. */
async function buildStage(instructions: readonly Instruction[], folder: string): Promise<void> {
  const bin = `${folder}-bin`;
  await mkdir(bin);
  await symlink(process.execPath, join(bin, "bun"));
  for (const instruction of instructions) {
    const words = readArguments(instruction);
    if (instruction.getKeyword() === "COPY") {
      const target = words.pop() ?? "";
      for (const word of words) {
        const to = join(folder, target, target === word ? "" : word.replace(/^.*\//, ""));
        const filter = (path: string) => !/\/(?:node_modules|core\/dist)$/.test(path);
        await cp(join(ROOT, word), to, { recursive: true, filter });
      }
    } else if (instruction.getKeyword() === "RUN") {
      const command = instruction.getArgumentsContent() ?? "";
      const PATH = `${bin}:/usr/bin:/bin`;
      await run(["/bin/sh", "-c", command], {
        cwd: folder,
        env: { PATH, HOME: process.env["HOME"], COMMIT: "0123456789ab", TARGETARCH: process.arch },
      });
    }
  }
}

/** Copies what stands for the base image: the C library, and that of the compiler. */
async function copyLibraries(executable: string, root: string): Promise<void> {
  await withNativeModule(getOwnTarget(), async (nativeModule) => {
    for (const file of [executable, nativeModule]) {
      for (const [library] of (await run(["ldd", file])).matchAll(/\/\S+/g)) {
        if (library !== `${file}:`) await cp(library, join(root, library), { dereference: true });
      }
    }
  });
}

/** Builds the image in a temporary folder. */
export async function buildImage() {
  const folder = await mkdtemp(join(tmpdir(), "image-"));
  const [stage, root, data] = ["stage", "root", "data"].map((name) => join(folder, name));
  if (stage === undefined || root === undefined || data === undefined) throw new Error("Unreached");
  for (const path of [stage, data, ...["proc", "dev", "data"].map((name) => join(root, name))]) {
    await mkdir(path, { recursive: true });
  }
  const text = await Bun.file(join(ROOT, "Containerfile")).text();
  const instructions = DockerfileParser.parse(text).getInstructions();
  const lastFrom = instructions.findLastIndex((given) => given.getKeyword() === "FROM");
  await buildStage(instructions.slice(0, lastFrom), stage);
  const last = instructions.slice(lastFrom);
  const find = (keyword: string) => last.find((given) => given.getKeyword() === keyword);
  const [uid = 0, gid = 0] =
    readArguments(find("USER") as Instruction)[0]
      ?.split(":")
      .map(Number) ?? [];
  for (const instruction of last.filter((given) => given instanceof Copy)) {
    const [from = "", to = ""] = readArguments(instruction);
    await cp(join(stage, from.replace(/^\/src\//, "")), join(root, to), { recursive: true });
  }
  const [executable = ""] = readList(find("ENTRYPOINT"));
  await copyLibraries(join(root, executable), root);
  await chown(data, uid, gid);
  const variables = last.flatMap((given) => (given instanceof Env ? given.getProperties() : []));
  const env = Object.fromEntries(
    variables.map((given) => [given.getName(), given.getValue() ?? ""]),
  );

  /** Starts a container with the volume: the entry point with a command, by default that of the image. */
  function start(command = readList(find("CMD")), settings: Readonly<Record<string, string>> = {}) {
    const enter = ["unshare", `--root=${root}`, "--wd=/", `--setgid=${gid}`, `--setuid=${uid}`];
    const script = `set -e
      mount --make-rprivate /
      mount --bind ${root} ${root}
      mount --bind ${data} ${root}/data
      mount -t proc proc ${root}/proc
      mount --rbind /dev ${root}/dev
      mount -o remount,bind,ro ${root}
      exec "$@"`;
    const isolate = ["setpriv", "--clear-groups", "--no-new-privs", "unshare", "--mount", "--pid"];
    const shell = ["--fork", "--kill-child", "sh", "-c", script, "sh"];
    const child = Bun.spawn([...isolate, ...shell, ...enter, executable, ...command], {
      env: { ...env, ...settings },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    return child;
  }

  return {
    root,
    data,
    uid,
    gid,
    executable: join(root, executable),
    env,
    stopSignal: readArguments(find("STOPSIGNAL") as Instruction)[0] as NodeJS.Signals,
    volumes: readList(find("VOLUME")),
    healthCommand: readHealthCommand(find("HEALTHCHECK")),
    start,
    /** Runs a command of the image in another container with the volume. */
    async run(command: readonly string[], settings?: Readonly<Record<string, string>>) {
      const child = start([...command], settings);
      const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { status: await child.exited, out, err };
    },
    listFiles: async () => (await readdir(root, { recursive: true })).toSorted(),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The arguments of the entry point that check the health. */
function readHealthCommand(instruction: Instruction | undefined): string[] {
  if (!(instruction instanceof Healthcheck)) return [];
  return readList(instruction).slice(1);
}
