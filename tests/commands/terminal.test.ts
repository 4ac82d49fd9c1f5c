/** What a person sees on a terminal. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openPlace, ROOT, type Place } from "../support/command.ts";

/** What a terminal of so many columns shows of what is written to it, from first to last. */
function shownOf(written: string, columns: number): string[] {
  const lines: string[] = [""];
  const at = { row: 0, column: 0 };
  let saved = { ...at };
  let isWrapping = true;
  const put = (text: string) => {
    if (at.column === columns) Object.assign(at, isWrapping ? nextRow() : lastColumn());
    const line = (lines[at.row] ?? "").padEnd(at.column);
    lines[at.row] = line.slice(0, at.column) + text + line.slice(at.column + text.length);
    at.column += text.length;
  };
  const nextRow = () => ({ row: at.row + 1, column: 0 });
  const lastColumn = () => ({ row: at.row, column: columns - 1 });
  const escape = String.fromCharCode(27);
  for (const [token] of written.matchAll(
    new RegExp(`${escape}(?:[78]|\\[[?\\d;]*[A-Za-z])|[^]`, "gu"),
  )) {
    if (token === "\n") at.row++;
    else if (token === "\r" || token === "\u001b[1G") at.column = 0;
    else if (token === "\u001b7") saved = { ...at };
    else if (token === "\u001b8") Object.assign(at, saved);
    else if (token === "\u001b[?7l" || token === "\u001b[?7h") isWrapping = token.endsWith("h");
    else if (token === "\u001b[K" || token === "\u001b[0K")
      lines[at.row] = (lines[at.row] ?? "").slice(0, at.column);
    else if (token === "\u001b[2K") lines[at.row] = "";
    else if (!token.startsWith("\u001b")) put(token);
  }
  return lines.map((line) => line.trimEnd()).filter((line) => line !== "");
}

/** Runs a verb on a terminal of so many columns. */
async function onTerminal(place: Place, cols: number, ...verb: readonly string[]) {
  const decoder = new TextDecoder();
  let written = "";
  const child = Bun.spawn([process.execPath, join(ROOT, "server/main.ts"), ...verb], {
    cwd: place.folder,
    env: { PATH: process.env["PATH"] ?? "", DATABASE_URL: `file:${place.file}` },
    terminal: {
      cols,
      rows: 40,
      data: (_, bytes) => void (written += decoder.decode(bytes, { stream: true })),
    },
  });
  const status = await child.exited;
  child.terminal?.close();
  return { status, shown: shownOf(written, cols) };
}

test("an import's counts are written below the lines that it rejected, not over them", async () => {
  const place = await openPlace();
  await place.write("a.ndjson", "one\ntwo\n");
  const { status, shown } = await onTerminal(place, 120, "import", "a.ndjson");
  expect(status).toBe(1);
  expect(shown).toEqual([
    'a.ndjson:1: The line must be a JSON object, got "one"',
    'a.ndjson:2: The line must be a JSON object, got "two"',
    "file      read  new  changed  unchanged  rejected",
    "a.ndjson     2    0        0          0         2",
    "2 lines were rejected",
  ]);
  await place.close();
});

test("a rejected line is told whole, however narrow the terminal is", async () => {
  const place = await openPlace();
  await place.write("a.ndjson", '{"kind":"video"}\n');
  const { shown } = await onTerminal(place, 50, "import", "a.ndjson");
  expect(shown.slice(0, 2)).toEqual([
    "a.ndjson:1: kind must be one of channel, short, us",
    'er, tweet, got "video"',
  ]);
  await place.close();
});

test("a table that is wider than the terminal is shown row by row, value by value", async () => {
  const place = await openPlace();
  await place.must("channels", "track", "@nasa");
  const [wide, narrow] = [
    await onTerminal(place, 200, "channels", "list"),
    await onTerminal(place, 80, "channels", "list"),
  ];
  expect(wide.shown).toHaveLength(2);
  expect(narrow.shown).toEqual([
    "channel       @nasa",
    "channel id",
    expect.stringMatching(/^added at {6}\d{4}-/),
    "last success",
    "last failure",
    "failure",
    "next due",
  ]);
  await place.close();
});
