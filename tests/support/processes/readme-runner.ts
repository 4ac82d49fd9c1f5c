/** Runs the commands of README.md in their order, in two terminals. */
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../docs.ts";
import { waitUntil } from "../wait.ts";

/** A command of a document, with the text around it. */
export interface ReadmeStep {
  readonly command: string;
  /** The text since the previous command, without code blocks. */
  readonly prose: string;
  /** The code blocks since the previous command, by their language. */
  readonly blocksBefore: ReadonlyMap<string, string>;
  /** The code block with the expected output, if any. */
  readonly expectedOutput: string | undefined;
}

/** Finds the commands of a document: lines that are indented by four spaces. */
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

/** Files that a clone of the project does not have. */
const UNCLONED_NAMES = new Set(["node_modules", "data", "dist", ".git", "coverage"]);

/**
 * Copies the project like a clone, for a user with Bun and an empty home folder.
 *
 * @param settings Environment variables for all commands.
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
    // Uses the packages that this machine has already.
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

  /** Presses Ctrl-C in the first terminal: all its processes get the signal, and end. */
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

    /** Starts a command in the first terminal. @returns Its output, once that contains `text`. */
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

    /** Runs a command in the second terminal, which remembers the variable KEY. */
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

/** The longest time that a service may take to end after Ctrl-C. */
const EXIT_TIMEOUT_MS = 15_000;

/** Whether a process group still has a process. */
function isGroupAlive(group: number): boolean {
  try {
    return process.kill(group, 0);
  } catch {
    return false;
  }
}

/** A copy of the project. */
export type ProjectClone = Awaited<ReturnType<typeof cloneProject>>;
