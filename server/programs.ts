/**
 * The programs of the service that run in a thread or process of their own, by their paths in this
 * folder. The executable has them inside, at the same paths.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const PROGRAMS = [
  "commands/input/import-worker.ts",
  "store/database/backup/scratch-program.ts",
  "store/database/replica/sync-program.ts",
  "store/database/writer-worker.ts",
  "store/observations/parse-worker.ts",
] as const;

type Program = (typeof PROGRAMS)[number];

/** The first argument with which the executable runs one of its programs, and no command. */
const RUN_PROGRAM = "--run-program";

const getPath = (program: string) => join(import.meta.dir, program);

/** Returns the URL of a program that runs in a thread. */
export const getProgramUrl = (program: Program): URL => pathToFileURL(getPath(program));

/** Returns the command that runs a program in a process; its arguments can follow. */
export const getProgramCommand = (program: Program): string[] =>
  Bun.isStandaloneExecutable
    ? [process.execPath, RUN_PROGRAM, program]
    : [process.execPath, getPath(program)];

/** Runs the program for which the executable was started, if it was. @returns Whether it was. */
export async function runRequestedProgram(): Promise<boolean> {
  const [, , first, program] = process.argv;
  if (first !== RUN_PROGRAM) return false;
  const path = getPath(PROGRAMS.find((name) => name === program) ?? "unknown");
  process.argv.splice(1, 3, path); // The program finds its arguments where it expects them.
  await import(path);
  return true;
}
