/** Shows the progress of long work on a terminal: how much is done, how fast, and the time left. */
import { SingleBar } from "cli-progress";
import type { CommandLineIo } from "./process-io.ts";

interface Progress {
  add(amount: number): void;
  set(amount: number): void;
  /** Writes a message in place of the bar; the next change draws the bar below the message. */
  writeMessage(write: () => void): void;
  stop(): void;
}

/** Columns of the bar. If the line is too narrow, the bar has fewer; below the minimum, none. */
const BAR_COLUMNS = 30;
const MIN_BAR_COLUMNS = 5;

const NO_PROGRESS: Progress = {
  add: () => undefined,
  set: () => undefined,
  writeMessage: (write) => write(),
  stop: () => undefined,
};

export function startProgress(
  { errTerminal }: Pick<CommandLineIo, "errTerminal">,
  {
    total: expected,
    formatAmount,
  }: {
    /** How much there is to do, if that is known; an estimate will do. */
    readonly total?: number | undefined;
    readonly formatAmount: (amount: number) => string;
  },
): Progress {
  if (errTerminal === undefined) return NO_PROGRESS;
  const total = expected === 0 ? undefined : expected;
  const bar = new SingleBar({
    stream: errTerminal,
    format: (_, { value, startTime }) => {
      const seconds = (Date.now() - startTime) / 1000;
      const amounts = formatAmounts({ value, total, seconds }, formatAmount);
      // A line that is wrapped could not be overwritten. The terminal may have been resized.
      const lineColumns = (errTerminal.columns ?? 80) - 1;
      const barColumns = Math.min(BAR_COLUMNS, lineColumns - amounts.length - 1);
      if (total === undefined || barColumns < MIN_BAR_COLUMNS) return amounts.slice(0, lineColumns);
      const done = Math.round(Math.min(1, value / total) * barColumns);
      return `${"=".repeat(done).padEnd(barColumns, "-")} ${amounts}`;
    },
    clearOnComplete: true,
    // A command that is killed must not leave a terminal without a cursor.
    hideCursor: false,
    linewrap: true, // Otherwise the terminal cuts long messages.
  });
  bar.start(total ?? 0, 0);
  // Removes the bar. If nothing else listens to the signal, lets the signal end the process.
  const onInterrupt = () => {
    bar.stop();
    if (process.listenerCount("SIGINT") === 0) process.kill(process.pid, "SIGINT");
  };
  process.once("SIGINT", onInterrupt);
  return {
    add: (amount) => bar.increment(amount),
    set: (amount) => bar.update(amount),
    writeMessage(write) {
      errTerminal.write("\r\u001b[K");
      write();
      // The bar returns to the saved position when it stops: that must be below the message.
      errTerminal.write("\u001b7");
    },
    stop() {
      process.off("SIGINT", onInterrupt);
      bar.stop();
    },
  };
}

/** Formats how much is done, the rate and the time left: ` 50 %  8 MB/s  1h 2m left`. */
function formatAmounts(
  { value, total, seconds }: { value: number; total: number | undefined; seconds: number },
  formatAmount: (amount: number) => string,
): string {
  const rate = value / Math.max(seconds, 0.001);
  const shownRate = `${formatAmount(rate)}/s`;
  if (total === undefined) return `${formatAmount(value)}  ${shownRate}`;
  const percentage = Math.min(100, Math.floor((value / total) * 100));
  const isEndKnown = rate > 0 && value < total;
  const left = isEndKnown ? `  ${formatDuration((total - value) / rate)} left` : "";
  return `${String(percentage).padStart(3)} %  ${shownRate}${left}`;
}

function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes}m ${whole % 60}s`
    : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
