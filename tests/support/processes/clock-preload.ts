/** Sets the clock of a program wrong, by CLOCK_OFFSET_MS, when the runtime loads this file first. */
import { env } from "node:process";

/** The environment of a process whose clock is wrong by this much. */
export const createClockSettings = (offsetMs: number) => ({
  BUN_OPTIONS: `--preload=${import.meta.path}`,
  CLOCK_OFFSET_MS: String(offsetMs),
});

const offset = env["CLOCK_OFFSET_MS"];
if (offset !== undefined) {
  const readClock = Date.now;
  Date.now = () => readClock() + Number(offset);
  globalThis.Date = new Proxy(Date, {
    construct: (date, given: unknown[], target) =>
      Reflect.construct(date, given.length === 0 ? [Date.now()] : given, target),
  });
}
