/**
 * A file of bad lines takes little memory and ends no other import. BAD_LINES=20000000 is the long
 * form, a body of 60 MB, which takes half a minute.
 */
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { openSandbox } from "../support/processes/command-line.ts";

const LINES = Number(process.env["BAD_LINES"] ?? 400_000);
const LINE = "{}\n";
const ADMIN_TOKEN = "token-of-this-test-alone";
/** Two copies of the body, and what a block of lines takes. */
const MEMORY_MAX_MIB = 250 + (2 * LINES * LINE.length) / 1_048_576;

async function readPeakMib(pid: number): Promise<number> {
  const [, kib] = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1024;
}

test.skipIf(process.platform !== "linux")(
  "POST /admin/observations of bad lines takes bounded memory, and other imports go on",
  async () => {
    const sandbox = await openSandbox({ ADMIN_TOKEN });
    const service = await sandbox.serve();
    const post = async (body: string) => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      const url = `${service.url}/admin/observations`;
      const response = await fetch(url, { method: "POST", headers, body, timeout: false });
      const text = await response.text();
      return { length: text.length, result: JSON.parse(text) };
    };
    const { length, result } = await post(LINE.repeat(LINES));
    expect(result).toMatchObject({
      read: LINES,
      causes: [{ cause: "kind must be one of channel, short, user, tweet", lines: LINES }],
    });
    expect(length).toBeLessThan(100_000);
    const good = JSON.stringify({ kind: "user", observedAt: "2026-11-20", username: "a" });
    // Long enough for the worker that parsed the bad lines.
    const { result: next } = await post(`${good}\n`.repeat(2000));
    expect(next).toMatchObject({ read: 2000, new: 1, causes: [] });
    expect(await readPeakMib(service.child.pid)).toBeLessThan(MEMORY_MAX_MIB);
    await service.stop();
    await sandbox.close();
  },
  300_000,
);
