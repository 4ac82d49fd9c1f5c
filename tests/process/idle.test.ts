/** What a service does that nobody asks: timers fire when something is due, not to look for it. */
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

/** How long a service starts and settles, and then is observed. */
const OBSERVED_S = Number(process.env["IDLE_SECONDS"] ?? 5);
const SETTLING_S = OBSERVED_S;

/** In a shorter time, the runtime has not settled, and processor time is a few ticks. */
const IS_LONG = OBSERVED_S >= 60;

/** Soon after the start, 2 to 5 a second are measured; a timer every 25 ms adds 40. */
const WAKES_PER_SECOND_MAX = 25;
const CPU_MS_PER_MINUTE_MAX = 200;

/** `/proc` counts processor time in ticks of a hundredth of a second. */
const TICK_MS = 10;

/** Nothing is due, so nothing is requested there. */
const NOWHERE = "http://127.0.0.1:1";

/** Reads the processor time of all threads, and how often the thread with the timers woke up. */
function readUse(pid: number) {
  // The name of the program, in parentheses, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    wakes: Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1]),
  };
}

let sandbox: Sandbox | undefined;
let service: Awaited<ReturnType<Sandbox["serve"]>> | undefined;
afterEach(async () => {
  await service?.stop("SIGKILL");
  await sandbox?.close();
});

describe.skipIf(!existsSync("/proc/self/status"))("an idle service", () => {
  test.each([
    ["off", {}],
    [
      "on",
      { YOUTUBE_API_KEY: "a-key-of-the-api", YOUTUBE_API_URL: NOWHERE, BLUESKY_API_URL: NOWHERE },
    ],
  ])(
    "rarely wakes up, with a key and COLLECT=%s",
    async (collect, settings) => {
      sandbox = await openSandbox({ ...settings, COLLECT: collect });
      await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "10");
      await sandbox.runOrThrow("keys", "create", "acme");
      service = await sandbox.serve();
      await Bun.sleep(SETTLING_S * 1000);
      const before = readUse(service.child.pid);
      await Bun.sleep(OBSERVED_S * 1000);
      const after = readUse(service.child.pid);
      const wakesPerSecond = (after.wakes - before.wakes) / OBSERVED_S;
      const cpuMsPerMinute = (after.cpuMs - before.cpuMs) / (OBSERVED_S / 60);
      if (IS_LONG)
        process.stderr.write(
          `COLLECT=${collect}: ${wakesPerSecond.toFixed(1)} wakes a second, ` +
            `${Math.round(cpuMsPerMinute)} ms of processor time a minute\n`,
        );
      expect(wakesPerSecond).toBeLessThan(WAKES_PER_SECOND_MAX);
      if (IS_LONG) {
        expect(cpuMsPerMinute).toBeLessThanOrEqual(CPU_MS_PER_MINUTE_MAX);
      }
    },
    (SETTLING_S + OBSERVED_S) * 1000 + 30_000,
  );
});
