/** Tells the operator when file descriptors run out. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { ServiceLogger } from "../log.ts";
import { isOutOfDescriptors } from "../system-errors.ts";

/** Each check opens a file, which takes some microseconds. */
const CHECK_INTERVAL_MS = 1000;

/** Checks in a row that must succeed to end an outage: descriptors come and go with connections. */
const SUCCESSES_TO_RECOVER = 5;

/** Logs, once for each outage, that descriptors ran out and that they are available again. */
export function watchFileDescriptors({ warning, info }: ServiceLogger): void {
  let successes = SUCCESSES_TO_RECOVER;
  const check = () => {
    const isExhausted = !canOpenFile();
    if (isExhausted && successes >= SUCCESSES_TO_RECOVER) {
      warning?.(
        "File descriptors are out: new connections wait, and opening files fails. Raise the " +
          "limit (ulimit -n, or LimitNOFILE of systemd)",
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
