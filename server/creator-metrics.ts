#!/usr/bin/env bun
/** The entry of the installed program and of the executable: runs the command line. */
import { main } from "./main.ts";
import { runRequestedProgram } from "./programs.ts";

if (!(await runRequestedProgram())) {
  // The text that the user typed: the executable need not be in a folder of the PATH.
  await main(Bun.isStandaloneExecutable ? process.argv0 : "creator-metrics");
}
