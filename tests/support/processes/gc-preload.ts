/** Collects the garbage of a program at SIGUSR2, when the runtime loads this file first. */

/** The environment of a process that collects its garbage at SIGUSR2. */
export const GC_SETTINGS = { BUN_OPTIONS: `--preload=${import.meta.path}` };

// A test that imports this file keeps the default of the signal.
if (process.env["BUN_OPTIONS"] === GC_SETTINGS.BUN_OPTIONS) {
  process.on("SIGUSR2", () => Bun.gc(true));
}
