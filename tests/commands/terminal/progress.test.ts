import { afterEach, expect, setSystemTime, test } from "bun:test";
import { Writable } from "node:stream";
import { startProgress } from "../../../server/commands/terminal/progress.ts";

const START = Date.UTC(2026, 10, 20);
afterEach(() => void setSystemTime());

test.each([
  [50, 100, 3725, "-  50 %  0 MB/s  1h 2m left"],
  [50, 100, 125, "-  50 %  0 MB/s  2m 5s left"],
  [90, 100, 45, "-  90 %  2 MB/s  5s left"],
  [100, 100, 10, "= 100 %  10 MB/s"],
  [50, undefined, 10, "50 MB  5 MB/s"],
])("startProgress() shows %d of %p MB after %d s as %j", (value, total, seconds, shown) => {
  const written: string[] = [];
  const stream = new Writable({ write: (text, _, end) => end(void written.push(`${text}`)) });
  const errTerminal = Object.assign(stream, { isTTY: true });
  const formatAmount = (amount: number) => `${Math.round(amount)} MB`;
  setSystemTime(START);
  const progress = startProgress({ errTerminal }, { total, formatAmount });
  setSystemTime(START + seconds * 1000);
  progress.set(value);
  expect(written.findLast((text) => text.includes("MB"))).toEndWith(shown);
  progress.stop();
});
