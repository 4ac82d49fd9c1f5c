/** The commands of server/README.md that set up, back up and restore a libSQL server, as it has them. */
import { expect, test } from "bun:test";
import { findFreePort } from "../support/network/free-port.ts";
import { findSection, readDoc } from "../support/docs.ts";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasSqld, SQLD_PATH } from "../support/processes/sqld.ts";
import { retryWithin } from "../support/wait.ts";

const OBSERVATIONS = [
  `{"kind":"channel","observedAt":"2026-01-01","id":"c","displayName":"Soup; \\"it's\\" ü","subscribers":7}`,
  `{"kind":"user","observedAt":"2026-01-01","username":"a","followers_count":3}`,
].join("\n");

const TOOLS = ["openssl", "curl", "sqlite3"];

function canRun(): boolean {
  const missing = TOOLS.filter((tool) => Bun.which(tool) === null);
  if (missing.length > 0) process.stderr.write(`Skipped: ${missing.join(", ")} is not installed\n`);
  return missing.length === 0 && hasSqld();
}

/** The blocks of commands, on ports that are free here. */
async function readCommands(): Promise<string[]> {
  const section = findSection(await readDoc("server/README.md"), "### A libSQL server");
  const [port, adminPort] = [findFreePort(), findFreePort()];
  const blocks = Array.from(section.matchAll(/^```sh\n(.*?)^```$/gms), ([, block = ""]) => block);
  return blocks.map((block) =>
    block
      .replaceAll(":8080", `:${port}`)
      .replaceAll(":8081", `:${adminPort}`)
      .replace(/^sqld /m, `exec ${SQLD_PATH} `),
  );
}

test.skipIf(!canRun())(
  "the commands of server/README.md start a libSQL server with a token and syncs, and back it up",
  async () => {
    const folder = await openSandbox();
    const [makeToken = "", start = "", sync = "", backUp = "", restore = ""] = await readCommands();
    const spawn = (script: string) =>
      Bun.spawn(["bash", "-euc", script], {
        cwd: folder.folder,
        stdout: "pipe",
        stderr: "ignore",
      });
    const run = async (script: string) => {
      const child = spawn(script);
      const out = await child.stdout.text();
      expect(await child.exited).toBe(0);
      return out;
    };
    const url = `http://localhost:${/127\.0\.0\.1:(\d+)/.exec(start)?.[1]}`;
    const startServer = async (script: string) => {
      const child = spawn(script);
      await retryWithin(10_000, () => fetch(`${url}/health`));
      return child;
    };
    const token = await run(`${makeToken}\nprintf %s "$DATABASE_AUTH_TOKEN"`);
    const settings = { DATABASE_URL: url, DATABASE_AUTH_TOKEN: token };
    const sandbox = await openSandbox(settings);
    let server = await startServer(start);
    try {
      expect((await fetch(`${url}/dump`)).status).toBe(401);
      expect((await sandbox.run(["accounts", "list"])).err).toContain("does not sync commits");
      await run(sync);
      await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "5");
      await sandbox.runOrThrow("import", await sandbox.write("o.ndjson", OBSERVATIONS));
      const exported = await sandbox.runOrThrow("export");

      // A server that starts again remembers the mode.
      server.kill("SIGKILL");
      await server.exited;
      server = await startServer(start);
      await run(backUp);
      server.kill();
      await server.exited;

      await run(restore);
      server = await startServer(start.replace("-d metrics", "-d restored"));
      await run(sync);
      expect(await sandbox.runOrThrow("export")).toBe(exported);
      expect(await sandbox.runOrThrow("credits", "verify")).toContain("correct: 1 account");
      const more = OBSERVATIONS.replaceAll("2026-01-01", "2026-01-02");
      await sandbox.runOrThrow("import", await sandbox.write("more.ndjson", more));
      const service = await sandbox.serve();
      const { log } = await service.stop();
      expect(log).not.toContain("without a token");

      const copy = `file:${folder.folder}/backup.db`;
      const fileSandbox = await openSandbox({ DATABASE_URL: copy });
      expect(await fileSandbox.runOrThrow("export")).toBe(exported);
      await fileSandbox.close();
    } finally {
      server.kill("SIGKILL");
      await sandbox.close();
      await folder.close();
    }
  },
  60_000,
);
