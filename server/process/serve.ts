/**
 * The command `serve`: recovers refunds, warns of unsafe databases, and runs the service with its
 * background work: maintenance, delivery of notices, collecting.
 */
import type { CommandContext } from "../commands/command.ts";
import { formatJson } from "../commands/terminal/output.ts";
import { writeHint } from "../commands/terminal/process-io.ts";
import { redactUrl, type Config } from "../config.ts";
import type { ServiceLogger } from "../log.ts";
import type { Service } from "../service.ts";
import { hasWalResetBug } from "../store/database/file-writer.ts";
import { parseFileUrl } from "../store/database/open-database.ts";
import { answersWithoutToken } from "../store/database/remote/remote-database.ts";
import { runServer } from "./http-server.ts";

export function serve(config: Config, context: CommandContext): Promise<void> {
  return runServer(config, {
    verb: "serve",
    prepare: ({ service }, log) => recoverAndLogRefunds(service, log),
    async start({ url, ownership: { service }, log }) {
      await warnAboutAccess(config, log);
      await announce(context, url, redactUrl(config.databaseUrl));
      await logSqliteVersion(config, service, log);
      const stops = [service.startMaintenance(), service.startNotices()];
      const onFailure = (error: unknown) => log.backgroundFailure?.(error, "Collecting");
      if (config.collect === "on") stops.push(service.collecting.start(onFailure));
      return () => Promise.all(stops.map((stop) => stop()));
    },
  });
}

async function announce(context: CommandContext, url: string, database: string): Promise<void> {
  if (context.isJson) await context.writeOut(formatJson({ url, database, pid: process.pid }));
  context.writeErr(`Serving ${database} at ${url}\n`);
  writeHint(context, [
    `Dashboard: ${url}/`,
    `API reference: ${url}/swagger`,
    "Requests need a key. Make one in another terminal:",
    `  ${context.programName} accounts create acme --credits 1000`,
    `  ${context.programName} keys create acme`,
    "Ctrl-C stops the service",
  ]);
}

async function warnAboutAccess({ databaseUrl }: Config, log: ServiceLogger): Promise<void> {
  if (parseFileUrl(databaseUrl) !== undefined || !(await answersWithoutToken(databaseUrl))) return;
  log.warning?.(
    "The database server {server} answers without a token: anyone who reaches it can read and " +
      "change everything; start it with --auth-jwt-key-file, and set DATABASE_AUTH_TOKEN",
    { server: redactUrl(databaseUrl) },
  );
}

async function logSqliteVersion(
  { databaseUrl }: Config,
  { database }: Service,
  log: ServiceLogger,
): Promise<void> {
  const file = parseFileUrl(databaseUrl);
  if (file === undefined) return;
  const [row] = await database.queryRows("SELECT sqlite_version() AS version");
  const version = String(row?.["version"]);
  if (!hasWalResetBug(version)) return log.info?.("SQLite {version}", { version });
  log.warning?.(
    "SQLite {version} can lose commits if another program checkpoints {file}: let no other program " +
      "open it while the service runs, such as Litestream or sqlite3",
    { version, file },
  );
}

/** Applies refunds of earlier processes. The service starts even when that fails. */
async function recoverAndLogRefunds(service: Service, log: ServiceLogger): Promise<void> {
  try {
    for (const { file, settled, left, problems } of await service.recoverRefunds()) {
      const values = { file, settled, left, problems: problems.join("; ") };
      if (settled > 0) log.info?.("Refunds of {settled} requests in {file} are settled", values);
      if (problems.length > 0) {
        log.warning?.("{file} keeps refunds of {left} requests: {problems}", values);
      }
    }
  } catch (error) {
    log.backgroundFailure?.(error, "Applying saved refunds");
  }
}
