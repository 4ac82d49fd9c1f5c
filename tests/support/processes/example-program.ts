/** Runs a program of `tests/examples`, which listens at a port and prints its URL. */
import { join } from "node:path";
import { waitUntil } from "../wait.ts";

/** The token of the programs. */
export const METRICS_TOKEN = "a-token-of-an-administrator";

/** Starts a program of `tests/examples` that listens. */
export async function startExample(name: string, settings: Readonly<Record<string, string>>) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../examples", name)], {
    env: { PATH: process.env["PATH"] ?? "", METRICS_TOKEN, PORT: "0", ...settings },
    stdout: "pipe",
    stderr: "ignore",
  });
  let printed = "";
  const done = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) printed += text;
  })();
  await waitUntil(() => printed.includes("\n"));
  return {
    url: /Listening at (\S+)/.exec(printed)?.[1] ?? "",
    printed: () => printed,
    async stop() {
      child.kill();
      await done;
    },
  };
}

/** A started program. */
export type ExampleProgram = Awaited<ReturnType<typeof startExample>>;
