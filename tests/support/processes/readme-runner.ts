/** The commands of README.md, in their order, and two terminals to run them in. */
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../docs.ts";
import { waitUntil } from "../wait.ts";

/** A command of a document, with what stands around it. */
export interface ReadmeStep {
  readonly command: string;
  /** The text since the command before, without its blocks. */
  readonly prose: string;
  /** The blocks since the command before, by their language. */
  readonly blocksBefore: ReadonlyMap<string, string>;
  /** The block that shows what it prints, if any. */
  readonly expectedOutput: string | undefined;
}

/** Finds the commands of a document: what is indented by four spaces. */
export function parseReadmeSteps(document: string): ReadmeStep[] {
  const steps: ReadmeStep[] = [];
  let prose = "";
  let blocks = new Map<string, string>();
  const part = /^```([^\n]*)\n(.*?)^```$|^ {4}(\S[^\n]*)$|^([^\n]*)$/gms;
  for (const [, language, block = "", command, text = ""] of document.matchAll(part)) {
    const previous = steps.at(-1);
    if (command !== undefined) {
      steps.push({ command, prose, blocksBefore: blocks, expectedOutput: undefined });
      [prose, blocks] = ["", new Map()];
    } else if (language === undefined) prose += `${text}\n`;
    else if (previous !== undefined && prose.trim() === "") {
      steps.splice(-1, 1, { ...previous, expectedOutput: block });
    } else blocks.set(language, block);
  }
  return steps;
}

/** What a command did. */
export interface CommandResult {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** What is left out of a copy of the project: what a clone does not have. */
const UNCLONED_NAMES = new Set(["node_modules", "data", ".git", "coverage"]);

/**
 * Copies the project as a clone has it, for a user with Bun and an empty home.
 *
 * @param settings Environment variables of all commands.
 */
export async function cloneProject(settings: Readonly<Record<string, string>>) {
  const home = await mkdtemp(join(tmpdir(), "readme-"));
  const clone = join(home, "clone");
  await mkdir(join(home, "bin"));
  await symlink(process.execPath, join(home, "bin/bun"));
  await cp(ROOT, clone, {
    recursive: true,
    filter: (path) => path === ROOT || !UNCLONED_NAMES.has(path.slice(path.lastIndexOf("/") + 1)),
  });
  const cache = Bun.spawnSync([process.execPath, "pm", "cache"], { cwd: ROOT });
  const environment: Record<string, string> = {
    PATH: `${join(home, "bin")}:${process.env["PATH"] ?? ""}`,
    HOME: home,
    // Packages that this machine has already are not loaded again.
    BUN_INSTALL_CACHE_DIR: cache.stdout.toString().trim(),
    ...settings,
  };
  const spawn = (script: string) =>
    Bun.spawn(["sh", "-c", script], {
      cwd: clone,
      env: environment,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    });
  let running: ReturnType<typeof spawn> | undefined;

  /** Presses Ctrl-C in the first terminal: all that runs there gets the signal, and ends. */
  async function interrupt(): Promise<void> {
    if (running === undefined) return;
    const group = -running.pid;
    process.kill(group, "SIGINT");
    await running.exited;
    running = undefined;
    await waitUntil(() => !isGroupAlive(group), EXIT_TIMEOUT_MS);
  }

  return {
    clone,
    interrupt,
    isServing: () => running !== undefined,

    /** Starts a command in the first terminal. @returns What it printed once that has `text`. */
    async serve(command: string, text: string): Promise<string> {
      running = spawn(`${command} 2>&1`);
      const decoder = new TextDecoder();
      let printed = "";
      for await (const piece of running.stdout) {
        printed += decoder.decode(piece, { stream: true });
        if (printed.includes(text)) return printed;
      }
      throw new Error(`${command} ended before it printed ${text}: ${printed}`);
    },

    /** Runs a command in the second terminal, which keeps the variable KEY. */
    async run(command: string): Promise<CommandResult> {
      const keyFile = join(home, "key");
      const child = spawn(`${command}\nstatus=$?\nprintf %s "$KEY" > ${keyFile}\nexit $status`);
      const [out, err, status] = await Promise.all([
        child.stdout.text(),
        child.stderr.text(),
        child.exited,
      ]);
      environment["KEY"] = await Bun.file(keyFile).text();
      return { status, out, err };
    },

    async close(): Promise<void> {
      await interrupt();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** How long a service may take to end after Ctrl-C. */
const EXIT_TIMEOUT_MS = 15_000;

/** Whether a process group has a process. */
function isGroupAlive(group: number): boolean {
  try {
    return process.kill(group, 0);
  } catch {
    return false;
  }
}

/** A copy of the project. */
export type ProjectClone = Awaited<ReturnType<typeof cloneProject>>;
