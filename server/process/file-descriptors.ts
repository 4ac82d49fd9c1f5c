/** What a process does about file descriptors, of which it has a limited number. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { ServiceLogger } from "../ports/process.ts";
import { isOutOfDescriptors } from "../system-errors.ts";

/** Starts the runtime's HTTP client: started without descriptors left, it ends the process. */
export async function startHttpClient(): Promise<void> {
  // A request that fails starts it as well, and asks nobody.
  await fetch("http://localhost/", { unix: devNull }).catch(() => undefined);
}

/** How often a file is opened to see whether one can be; that takes some microseconds. */
const CHECK_INTERVAL_MS = 1000;

/** How many times in a row one can be opened before an outage is over: connections come and go. */
const SUCCESSES_TO_RECOVER = 5;

/** Writes to the log, once for each outage, that descriptors are out, and that they are back. */
export function watchFileDescriptors({ warning, info }: ServiceLogger): void {
  let successes = SUCCESSES_TO_RECOVER;
  const check = () => {
    const isExhausted = !canOpenFile();
    if (isExhausted && successes >= SUCCESSES_TO_RECOVER) {
      warning?.(
        "File descriptors are out: new connections wait, and what opens a file fails. Raise the " +
          "limit (ulimit -n, LimitNOFILE of systemd)",
        {},
      );
    }
    successes = isExhausted ? 0 : successes + 1;
    if (successes === SUCCESSES_TO_RECOVER) info?.("File descriptors are available again", {});
  };
  setInterval(check, CHECK_INTERVAL_MS).unref();
}

function canOpenFile(): boolean {
  try {
    closeSync(openSync(devNull, "r"));
    return true;
  } catch (error) {
    return !isOutOfDescriptors(error);
  }
}
