/** The commands of server/LIBSQL.md that set up, back up and restore a libSQL server, as it has them. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { findFreePort } from "../support/network/free-port.ts";
import { readDoc } from "../support/docs.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { hasSqld, SQLD_PATH } from "../support/processes/sqld.ts";
import { retryWithin } from "../support/wait.ts";

const OBSERVATIONS = [
  `{"kind":"channel","observedAt":"2026-01-01","id":"c","displayName":"Soup; \\"it's\\" ü","subscribers":7}`,
  `{"kind":"user","observedAt":"2026-01-01","username":"a","followers_count":3}`,
].join("\n");

const TOOLS = ["openssl", "curl"];

function canRun(): boolean {
  const missing = TOOLS.filter((tool) => Bun.which(tool) === null);
  if (missing.length > 0) process.stderr.write(`Skipped: ${missing.join(", ")} is not installed\n`);
  return missing.length === 0 && hasSqld();
}

/** The blocks of commands, on ports that are free here. */
async function readCommands(): Promise<string[]> {
  const section = await readDoc("server/LIBSQL.md");
  const ports = [8080, 8081, 8090, 5001].map((port) => [`:${port}`, `:${findFreePort()}`] as const);
  const blocks = Array.from(section.matchAll(/^```sh\n(.*?)^```$/gms), ([, block = ""]) => block);
  return blocks.map((block) =>
    ports
      .reduce((text, [port, free]) => text.replaceAll(port, free), block)
      .replace(/^sqld /m, `exec ${SQLD_PATH} `),
  );
}

/** Starts a service, and reads a user until its replica answers. @returns The followers. */
async function readFromReplica(sandbox: Sandbox, key: string): Promise<number> {
  const service = await sandbox.serve();
  try {
    for (const deadline = performance.now() + 10_000; performance.now() < deadline;) {
      const path = `${service.url}/api/microblog/a/details?_at=${performance.now()}`;
      const response = await fetch(path, { headers: { "x-api-key": key } });
      const { followers_count: followers } = (await response.json()) as { followers_count: number };
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      if (/^creator_metrics_replica_reads_total\{from="replica"\} [1-9]/m.test(metrics))
        return followers;
      await Bun.sleep(50);
    }
    throw new Error("The replica answered no read");
  } finally {
    await service.stop();
  }
}

test.skipIf(!canRun())(
  "the commands of server/LIBSQL.md start a libSQL server with a token and syncs, back it up, and divide it",
  async () => {
    const folder = await openSandbox();
    const [
      makeToken = "",
      start = "",
      sync = "",
      createEntities = "",
      startReplica = "",
      restore = "",
    ] = await readCommands();
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
    const sandbox = await openSandbox({ ...settings, DATABASE_REPLICA: "file:replica.db" });
    let server = await startServer(start);
    try {
      expect((await fetch(`${url}/dump`)).status).toBe(401);
      expect((await sandbox.run(["accounts", "list"])).err).toContain("does not sync commits");
      await run(sync);
      await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "500");
      const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
      await sandbox.runOrThrow("import", await sandbox.write("o.ndjson", OBSERVATIONS));
      const exported = await sandbox.runOrThrow("export");

      // A server that starts again remembers the mode.
      server.kill("SIGKILL");
      await server.exited;
      server = await startServer(start);
      await sandbox.runOrThrow("backup", join(folder.folder, "backup.db"));
      const newer = `{"kind":"user","observedAt":"2026-01-05","username":"a","followers_count":9}`;
      await sandbox.runOrThrow("import", await sandbox.write("newer.ndjson", newer));
      expect(await readFromReplica(sandbox, key)).toBe(9);
      server.kill();
      await server.exited;

      await run(restore);
      server = await startServer(start.replace("-d metrics", "-d restored"));
      await run(sync);
      expect(await sandbox.runOrThrow("export")).toBe(exported);
      expect(await readFromReplica(sandbox, key)).toBe(3);
      expect(await sandbox.runOrThrow("credits", "verify")).toContain("correct: 1 account");
      const more = OBSERVATIONS.replaceAll("2026-01-01", "2026-01-02");
      await sandbox.runOrThrow("import", await sandbox.write("more.ndjson", more));
      const service = await sandbox.serve();
      const { log } = await service.stop();
      expect(log).not.toContain("without a token");

      // A restored server makes backups, too.
      const file = join(folder.folder, "again.db");
      await sandbox.runOrThrow("backup", file);
      const fileSandbox = await openSandbox({ DATABASE_URL: `file:${file}` });
      expect(await fileSandbox.runOrThrow("export")).toBe(await sandbox.runOrThrow("export"));
      await fileSandbox.close();

      // The database is divided: its backup is both.
      server.kill();
      await server.exited;
      await run("mkdir restored/dbs/entities; cp backup.db restored/dbs/entities/data");
      server = await startServer(start.replace("-d metrics", "-d restored"));
      const entitiesUrl = url.replace("localhost", "entities.localhost");
      const split = await openSandbox({ ...settings, ENTITIES_URL: entitiesUrl });
      expect((await split.run(["status"])).err).toContain("create its namespace");
      await run(createEntities);
      await run(sync.replace("default", "entities"));
      expect(await split.runOrThrow("export")).toBe(exported);
      expect(await split.runOrThrow("credits", "verify")).toContain("correct: 1 account");
      await split.runOrThrow("import", await split.write("more.ndjson", more));
      expect(await split.runOrThrow("status")).toContain(entitiesUrl);
      await split.close();

      // The replica server of the second database.
      server.kill();
      await server.exited;
      const [, grpcPort = ""] = /--primary-grpc-url \S+:(\d+)/.exec(startReplica) ?? [];
      const withGrpc = `${start.trimEnd()} --grpc-listen-addr 127.0.0.1:${grpcPort}`;
      server = await startServer(withGrpc.replace("-d metrics", "-d restored"));
      const replica = spawn(startReplica);
      const [, replicaPort] = /127\.0\.0\.1:(\d+)/.exec(startReplica) ?? [];
      const replicaUrl = `http://entities.localhost:${replicaPort}`;
      const replicated = await openSandbox({
        ...settings,
        ENTITIES_URL: entitiesUrl,
        DATABASE_REPLICA: replicaUrl,
      });
      try {
        await retryWithin(10_000, () => fetch(`http://localhost:${replicaPort}/health`));
        expect(await readFromReplica(replicated, key)).toBe(3);
      } finally {
        replica.kill("SIGKILL");
        await replicated.close();
      }
    } finally {
      server.kill("SIGKILL");
      await sandbox.close();
      await folder.close();
    }
  },
  60_000,
);
